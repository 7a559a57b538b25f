"""Which words of a prompt carry a bias (GradBias, secs. 3.4 and 4.2), on their own.

prompts -> their words -> images -> answers -> influences -> which words matter, and over all.
"""
