"""The command line: `surefoot run`, `simulate`, `show`, `theory`, `reproduce`, `worlds` and `policies`."""

from surefoot.cli.app import main

__all__ = ["main"]
