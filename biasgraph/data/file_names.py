"""What the files and folders in the directory of a result are called."""

RECORD = "run.json"
"""What a run was made with; where there is one there are pictures."""
GRAPH = "graph.json"
REPORT = "report.html"
AGREEMENT = "agreement.json"
MINED = "mined.json"
"""What a search for prompts found, scored by their images (`mine`)."""
FOUND = "found.json"
"""What a search for prompts found that a language model wrote (`search`)."""
DOCUMENTS = {
    GRAPH: "build",
    MINED: "mine",
    FOUND: "search",
    "openbias.json": "openbias",
    "scores.json": "minethegap",
    "words.json": "words",
    "evaluation.json": "words",
}
"""What a command that is done has written, and the command."""
ANSWERS = "answers.csv"
PAIRS = "pairs.csv"
TABLES = "tables.csv"
PROMPTS = "prompts"
"""The folder in which each of several prompts has a folder of its own."""
BY_PROMPT = "prompts.csv"
"""What every one of several prompts shows of each axis."""
