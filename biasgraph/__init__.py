"""biasgraph audits text-to-image models for bias and shows how the biases pull on each other."""
