"""``python -m biasgraph``."""

import sys

from biasgraph.commands import main

if __name__ == "__main__":
    sys.exit(main())
