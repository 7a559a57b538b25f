"""The built-in models: tiny, real pipelines whose biases are known because we planted them.

Everything here describes a toy.  Occupations, axes and links are invented data with the shape of
the real problem; no number of the sandbox says anything about people or about any other model.
"""

PARTS = ("tokenizer", "clip", "vae", "judge2", "stereotyped", "debiased", "writer", "reader")
"""What the sandbox's models consist of, in the order of their training."""
