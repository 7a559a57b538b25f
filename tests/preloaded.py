"""What builds read once in a process, read already in the one that the others are forked off."""

from biasgraph.methods.wordnet import best_synonyms

best_synonyms()  # WordNet takes longer to read than a small build takes
