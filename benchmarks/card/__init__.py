"""The measurements behind docs/sandbox.md; ``benchmarks/sandbox_card.py`` is their door."""
