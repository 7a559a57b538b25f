"""What travels through the house: axes, answers, counts, rows, findings, the result."""
