"""What other papers find about the same images, one file for each method.

A method reads a `MethodInput` (biasgraph.methods.base) and returns an `Annotation`: findings about
axes and about the whole graph. It adds no answers.
"""
