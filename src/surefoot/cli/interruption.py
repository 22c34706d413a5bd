"""Ctrl-C at any instant: one line and the status 130, also while a program starts, imports or compiles.

Only work that a command has begun is unwound, so that it can keep what is finished and say how far it came. Elsewhere
there is nothing to keep, and Python would show the inside of whatever it was at: there the process ends at once.
Storages and files lose nothing by that, as they lose nothing by a crash. Nothing heavy is imported here.
"""

import os
import signal
import sys
from types import FrameType, TracebackType
from typing import Any

STATUS = 130
LINE = "Interrupted: what was not finished is lost."
DOCUMENT = (
    '{"error": {"kind": "KeyboardInterrupt", "message": "%s", "field": null, "value": null, "remedy": null, '
    '"facts": {}}, "exit_status": %d, "warnings": []}\n'
)
NOT_TO_UNWIND = ("<frozen importlib", f"{os.sep}numba{os.sep}", f"{os.sep}llvmlite{os.sep}")

_line = LINE  # what is said where nothing is unwound
_heeded = False  # whether this process is a command of ours
_working = False  # whether there is work to unwind


def heed() -> None:
    """From now on Ctrl-C is heeded here; for the process of a command, at its very start."""
    global _heeded
    _heeded = True
    signal.signal(signal.SIGINT, _interrupted)
    usual = sys.unraisablehook

    def unraisable(found: Any) -> None:
        """Python drops what is raised in a destructor or a callback; Ctrl-C is not to be dropped."""
        if issubclass(found.exc_type, KeyboardInterrupt):
            leave()
        usual(found)

    sys.unraisablehook = unraisable


class telling:
    """Inside, this is what Ctrl-C says also where nothing is unwound: of work that is kept step by step."""

    def __init__(self, line: str) -> None:
        self._said = line

    def __enter__(self) -> None:
        global _line
        _line = self._said

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        global _line
        _line = LINE


class at_work:
    """Inside, Ctrl-C is an exception that unwinds; afterwards all is told, and it changes nothing any more."""

    def __enter__(self) -> None:
        global _working
        _working = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        done()


def done() -> None:
    """From now on Ctrl-C comes too late: what there is to say is being said."""
    global _working
    _working = False
    if _heeded:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def leave() -> None:
    """Says it in one line, or in one document, and ends the process."""
    if "--json" in sys.argv:
        os.write(1, (DOCUMENT % (_line, STATUS)).encode())
    else:
        cursor = "\n\x1b[?25h" if os.isatty(2) else ""  # a picture that was being drawn has hidden it
        os.write(2, f"{cursor}error: {_line}\n".encode())
    os._exit(STATUS)


def _interrupted(number: int, frame: FrameType | None) -> None:
    """What Ctrl-C does."""
    global _working
    if not _working or _not_to_unwind(frame):
        leave()
    _working = False  # who presses it again does not wait
    raise KeyboardInterrupt


def _not_to_unwind(frame: FrameType | None) -> bool:
    """Whether an import or the compiler is at work: half of a module is worse than none, and nothing is kept there."""
    while frame is not None:
        if any(part in frame.f_code.co_filename for part in NOT_TO_UNWIND):
            return True
        frame = frame.f_back
    return False
