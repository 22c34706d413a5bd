"""Where a command's words go: results to standard output, all else to standard error.

With --json, standard output holds exactly one JSON document, the result or the error; numbers that JSON cannot write
(NaN, infinity) are null. Nothing that is told can act on a terminal: see `surefoot.characters`.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import cached_property
from pathlib import Path
from traceback import extract_tb
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from surefoot.characters import visible
from surefoot.cli import exit_codes, interruption
from surefoot.cli.advice import in_typed_words
from surefoot.errors import ErrorDocument, SurefootError, SurefootWarning, with_notes
from surefoot.plain_data import json_text
from surefoot.progress import silence

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions

TRACEBACKS = "SUREFOOT_TRACEBACK"  # the environment variable that shows developers what `report` hides


class Output:
    """The two streams of one command, and the warnings it met."""

    def __init__(self, *, json: bool = False, quiet: bool = False) -> None:
        self.json = json
        self.quiet = quiet
        self.warnings: list[str] = []

    @property
    def shows_progress(self) -> bool:
        """Whether to talk while working."""
        return not self.json and not self.quiet

    @cached_property
    def out(self) -> Console:
        """Standard output, for results."""
        return _console(stderr=False)

    @cached_property
    def err(self) -> Console:
        """Standard error, for progress, warnings and errors."""
        return _console(stderr=True)

    def json_result(self, table: Mapping[str, Any]) -> None:
        """The result, as the one document on standard output."""
        interruption.done()
        sys.stdout.write(json_text({**table, "warnings": self.warnings}))

    def answer(self, table: Mapping[str, Any], words: str, status: int = exit_codes.OK) -> int:
        """The exit status, once the result is told: the table with --json, otherwise the words."""
        if self.json:
            self.json_result(table)
        elif sys.stdout.isatty():
            self.out.print(words, markup=False)  # wrapped between words
        else:
            sys.stdout.write(visible(words) + "\n")
        return status

    def paragraph(self, message: str, style: str) -> None:
        """The message on standard error; on a terminal wrapped between words, elsewhere one line."""
        from rich.text import Text

        self.err.print(Text(message, style=style), soft_wrap=not self.err.is_terminal)

    def report(self, error: BaseException) -> int:
        """The exit status of the error, once it is told in one paragraph (or one JSON document)."""
        if os.environ.get(TRACEBACKS, "") not in ("", "0"):
            raise error
        status = exit_codes.of_error(error)
        if self.json:
            self.json_result({"error": documented(error), "exit_status": status})
        else:
            self.paragraph(f"error: {told(error)}", "red")
        return status

    @contextmanager
    def heeding_warnings(self) -> Iterator[None]:
        """Inside, surefoot's warnings are one yellow paragraph each, told once; with --json a list in the document."""
        with warnings.catch_warnings():
            warnings.simplefilter("always", SurefootWarning)
            usual = warnings.showwarning

            def show(
                message: Warning | str, category: type[Warning], filename: str, lineno: int,
                file: TextIO | None = None, line: str | None = None,
            ) -> None:  # fmt: skip
                if not issubclass(category, SurefootWarning):
                    usual(message, category, filename, lineno, file, line)
                elif str(message) not in self.warnings:
                    self.warnings.append(str(message))
                    if not self.json:
                        self.paragraph(f"warning: {message}", "yellow")

            warnings.showwarning = show
            yield

    @contextmanager
    def heeding_silence(self) -> Iterator[None]:
        """Inside, nobody is told about compilation where no progress is wanted."""
        with nullcontext() if self.shows_progress else silence():
            yield


def told(error: BaseException) -> str:
    """The error in one paragraph."""
    if isinstance(error, KeyboardInterrupt):
        return str(error) or interruption.LINE
    if isinstance(error, SurefootError):
        return in_typed_words(error)["message"]
    text = str(error)
    if isinstance(error, OSError):
        text = f"{error.strerror or text}: {error.filename}" if error.filename else text
    elif isinstance(error, MemoryError):
        said = f" ({text})" if text else ""
        text = f"There is not enough memory for this{said}. Ask for fewer arms, features, runs or workers."
    else:
        said, place = f"{type(error).__name__}: {text}", strangers_place(error)
        text = f"surefoot itself failed ({said}). Please report it, with what {TRACEBACKS}=1 in the environment shows."
        if place is not None:
            text = f"{place} failed ({said}). {TRACEBACKS}=1 in the environment shows how it came to that."
    return with_notes(error, text)


def strangers_place(error: BaseException) -> str | None:
    """File and line in the user's own code that the error came from; None if it came from ours."""
    ours = str(Path(__file__).parent.parent)
    for frame in reversed(extract_tb(error.__traceback__)):
        if frame.filename.startswith(ours):
            return None
        if not frame.filename.startswith((sys.prefix, sys.base_prefix, "<")):  # who calls a library answers for it
            return f"{frame.filename}, line {frame.lineno},"
    return None


def documented(error: BaseException) -> ErrorDocument:
    """The error as plain data; one that is not surefoot's own has no facts."""
    return in_typed_words(error) if isinstance(error, SurefootError) else stranger(type(error).__name__, told(error))


def stranger(kind: str, message: str) -> ErrorDocument:
    """The document of what is no error of surefoot."""
    return ErrorDocument(kind=kind, message=message, field=None, value=None, remedy=None, facts={})


def _console(*, stderr: bool) -> Console:
    """A console that leaves a closed pipe to `main`, numbers uncoloured, and a terminal to us: characters in what is
    shown that would act on it are spelled out, whether they come from a name, a reason, a path or an error."""
    from rich.console import Console
    from rich.segment import Segment

    class Plain(Console):
        def on_broken_pipe(self) -> NoReturn:
            raise BrokenPipeError

        def render(self, renderable: Any, options: ConsoleOptions | None = None) -> Iterable[Segment]:
            for part in super().render(renderable, options):
                yield part if part.control else Segment(visible(part.text), part.style)

    return Plain(stderr=stderr, highlight=False, markup=False, emoji=False)  # "[link=...]" in a name is no link
