"""Lets the tests of this folder import the newcomers: files outside the package, as anybody may write them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "outside"))
