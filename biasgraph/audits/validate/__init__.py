"""`biasgraph validate`: what was predicted of mitigations against what they did (sec. 5.3)."""
