"""The command line: `app`, `study_commands` and `storage_commands` say what can be typed, the other files do it."""

from surefoot.cli.app import main

__all__ = ["main"]
