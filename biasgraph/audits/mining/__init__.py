"""MineTheGap's genetic search (sec. 3): which prompts does a model go wrong for?

prompts by a language model -> images -> scores -> the worst, mutated, and random ones -> ... ; the
worst of all are scored again on fresh images.
"""
