"""Mining (MineTheGap, sec. 3): a search for prompts for which a model goes wrong."""
