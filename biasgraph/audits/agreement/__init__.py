"""How far a judge can be trusted: its answers beside those of people or of another judge."""
