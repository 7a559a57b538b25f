"""What holds for every test."""

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as the command line does

if int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")) > 1:
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # workers share the cores
