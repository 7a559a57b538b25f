"""What is written and shown of a graph: JSON, GraphML, CSV and the terminal."""
