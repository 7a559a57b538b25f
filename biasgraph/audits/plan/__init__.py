"""Which interventions bring the axes closer to their ideals, and checking what was predicted."""
