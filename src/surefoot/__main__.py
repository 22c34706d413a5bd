"""`python -m surefoot`: the same as `surefoot`, wherever that lies."""

import sys

from surefoot.cli import main

if __name__ == "__main__":
    sys.exit(main())
