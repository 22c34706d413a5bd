"""Completion on the command line: what may follow, names of studies among them.

It is asked for at every press of a key, so it says nothing where something is wrong, and does not wait for a storage
that is away. A name is offered only if the shell takes it as it is: a study whose name holds "$(...)", quotes or
control characters must not get onto the line of somebody who only pressed the tabulator.
"""

from __future__ import annotations

import os
import re
import sys
import warnings
from contextlib import suppress
from threading import Thread
from typing import Any

import typer

VARIABLE = "_SUREFOOT_COMPLETE"
SHELLS = ("bash", "zsh", "fish")
PATIENCE = 2.0  # seconds
MOST = 200  # names
_PLAIN = re.compile(r"[^\W_](?:[\w.,:@%+-]| (?! ))*")  # a space is written "\ " where the shell takes that


def study_names(context: typer.Context, incomplete: str) -> list[str]:
    """The names of studies that may be meant."""
    storage, found = context.params.get("storage"), list[str]()

    def look() -> None:
        with suppress(Exception), warnings.catch_warnings():  # a shell that completes has no place for an error
            warnings.simplefilter("ignore")
            from surefoot.studies.listing import list_studies

            found.extend(row["name"] for row in list_studies(storage) if not row["unreadable"])

    looking = Thread(target=look, daemon=True)
    looking.start()
    looking.join(PATIENCE)
    return [offered(name) for name in list(found) if is_plain(name) and name.startswith(incomplete)][:MOST]


def is_plain(name: str) -> bool:
    """Whether a shell takes the name as it is, but for spaces that can be written so that it does."""
    return _PLAIN.fullmatch(name) is not None and (" " not in name or _takes_spaces())


def offered(name: str) -> str:
    """The name as it is put on the line."""
    return name.replace(" ", "\\ ")


def _takes_spaces() -> bool:
    return os.environ.get(VARIABLE, "").endswith("bash")


def one_of(*words: str) -> Any:
    """A completion that offers these words."""

    def offer(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return offer


def is_asked_for() -> bool:
    """Whether this process was started by a shell that wants to know what may follow."""
    return bool(os.environ.get(VARIABLE))


def complete(app: typer.Typer) -> int:
    """Tells the shell what may follow; silently nothing, where that cannot be found out."""
    from typer._completion_classes import completion_init

    completion_init()
    with open(os.devnull, "w") as nowhere:
        told, sys.stderr = sys.stderr, nowhere
        try:
            app([], prog_name="surefoot", standalone_mode=False)
        except (Exception, SystemExit):
            return 0
        finally:
            sys.stderr = told
    return 0


def script_for(shell: str) -> str:
    """What the shell is to be told, once."""
    from typer._completion_shared import get_completion_script

    return str(get_completion_script(prog_name="surefoot", complete_var=VARIABLE, shell=shell))
