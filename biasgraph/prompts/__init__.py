"""Prompts: their grammar, their subject, and what they say otherwise when an axis is set."""
