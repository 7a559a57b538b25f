"""Pure functions of counts: from coded answers to the graph. Knows no model and no file."""
