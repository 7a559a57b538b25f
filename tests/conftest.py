"""What holds for every test."""

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as the command line does
