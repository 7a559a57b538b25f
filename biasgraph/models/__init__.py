"""Generators, judges, embedders and language models behind four small protocols."""
