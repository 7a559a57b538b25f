"""A run directory: settings, ledger and images of one audit."""
