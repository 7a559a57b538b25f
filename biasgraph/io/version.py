"""The version of biasgraph."""

__version__ = "0.1.0"
