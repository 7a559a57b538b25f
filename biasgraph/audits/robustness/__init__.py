"""How stable a run's graph is (BiasConnect sec. 5.4)."""
