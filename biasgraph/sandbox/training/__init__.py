"""Trains the sandbox's models from scratch; ``biasgraph sandbox train`` is its door."""

PARTS = ("tokenizer", "clip", "vae", "judge2", "stereotyped", "debiased")
"""The parts in the order they are trained."""
