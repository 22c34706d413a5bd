"""The command line: `surefoot run`, `simulate`, `show`, `worlds` and `policies`."""

from surefoot.cli.app import main

__all__ = ["main"]
