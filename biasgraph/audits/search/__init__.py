"""What a search for prompts needs (BGPS): probes of what a model is about to draw."""
