"""biasgraph from a bare checkout: python cli.py build ..."""

import sys

from biasgraph.commands import main

if __name__ == "__main__":
    sys.exit(main())
