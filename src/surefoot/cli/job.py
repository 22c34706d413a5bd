"""What a command line asks for: read by typer, done by `main`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from surefoot.cli.output import Output


@dataclass(frozen=True)
class Job:
    """What a command line asks for, ready to be done."""

    work: Callable[[Output], int]  # returns the exit status
    json: bool
    quiet: bool = False


class Which(NamedTuple):
    """Which study is meant."""

    name: str
    storage: str | None
    policy: str | None = None  # where its policy is, if it is one of the user's own
    key: str | None = None  # of the step
