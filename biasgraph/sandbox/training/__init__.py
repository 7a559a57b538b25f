"""Trains the sandbox's models from scratch; ``biasgraph sandbox train`` is its door."""
