"""Trains the sandbox's models from scratch: `biasgraph sandbox train`, in a checkout only."""
