"""What the files and folders in the directory of a result are called."""

RECORD = "run.json"
"""What a run was made with; where there is one there are pictures."""
GRAPH = "graph.json"
REPORT = "report.html"
AGREEMENT = "agreement.json"
PROMPTS = "prompts"
"""The folder in which each of several prompts has a folder of its own."""
