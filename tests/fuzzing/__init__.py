"""Sound inputs of every kind that the tool reads, broken in seeded ways, and what it makes of them.

`python -m tests.fuzzing --cases 10000 --seed 1` prints the counts by kind.
"""
