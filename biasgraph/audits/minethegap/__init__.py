"""MineTheGap on its own (sec. 4): many prompts of one generator, ranked by how biased they are.

prompts -> variations -> images -> embeddings -> scores -> a ranking, held against a reference.
"""
