"""OpenBias on its own (Moreno D'Inca et al., secs. 3.1-3.3): from captions to a ranking of biases.

captions -> proposals of a language model -> a knowledge base -> images -> answers -> scores.
"""
