"""Axis sets, prompt lists and word lists that ship with biasgraph; read through resources.py."""
