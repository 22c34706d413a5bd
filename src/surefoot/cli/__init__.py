"""The command line: `app`, `study_commands` and `storage_commands` say what can be typed, the other files do it."""

from surefoot.cli import interruption

__all__ = ["main"]


def main(arguments: "list[str] | None" = None) -> int:
    """The exit status, once everything asked for is done and told; without arguments, what the process was given."""
    if arguments is None:
        interruption.heed()  # before anything that takes time is imported
    from surefoot.cli.app import main as typed

    return typed(arguments)
