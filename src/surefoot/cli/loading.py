"""The policy that a word on the command line names: one of ours, or one of the user's own.

A policy of the user's own is MODULE:NAME, installed or in the working folder, or FILE.py:NAME. Only words that a person
typed are imported: what a problem file or a storage names is data.
"""

from __future__ import annotations

import importlib
import os
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from traceback import extract_tb
from types import ModuleType
from typing import Any

from surefoot.errors import InvalidInput
from surefoot.policies import POLICIES

FIELD = "--policy"
FORMS = "Write MODULE:NAME, such as mine:Mine, or FILE.py:NAME, such as ./mine.py:Mine."


def is_a_place(word: str) -> bool:
    """Whether the word says where a policy of the user's own is."""
    return ":" in word


def policy_named(word: str) -> Any:
    """The policy that the word names: a class, or an object of one."""
    if not is_a_place(word):
        if word not in POLICIES:
            reason = f"must be one of {', '.join(POLICIES)}, or say where a policy of your own is"
            raise InvalidInput(FIELD, word, reason, FORMS)
        return POLICIES[word]
    home, _, name = word.rpartition(":")
    if not home or not name:
        raise InvalidInput(FIELD, word, "names no module or nothing in it", FORMS)
    in_file = home.endswith(".py") or os.sep in home
    return checked(word, named_in(file_module(word, Path(home)) if in_file else module(word, home), name, word))


# -- modules ----------------------------------------------------------------------------------------------------------


def module(word: str, home: str) -> ModuleType:
    """The module of this name, installed or in the working folder."""
    make_importable(Path.cwd())
    try:
        return importlib.import_module(home)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{home}.".startswith(f"{error.name}."):
            raise failed(word, error) from error  # it is there, and imports another one that is not
        reason = f"there is no module {error.name}, neither installed nor in {Path.cwd()}"
        raise InvalidInput(FIELD, word, reason, FORMS) from error
    except (Exception, SystemExit) as error:
        raise failed(word, error) from error


def file_module(word: str, path: Path) -> ModuleType:
    """The file as a module that is called as it was typed; what lies beside it can be imported."""
    place = path.expanduser().absolute()
    known = sys.modules.get(str(path))
    if known is not None and known.__file__ == str(place):
        return known
    if not place.is_file():
        raise InvalidInput(FIELD, word, f"there is no file {place}", FORMS)
    spec = spec_from_file_location(str(path), place)
    if spec is None or spec.loader is None:
        raise InvalidInput(FIELD, word, f"{place.name} is not a file of Python", FORMS)
    make_importable(place.parent)
    made = sys.modules[spec.name] = module_from_spec(spec)  # before it runs: its dataclasses look themselves up there
    try:
        spec.loader.exec_module(made)
    except BaseException as error:
        del sys.modules[spec.name]
        if isinstance(error, Exception | SystemExit):
            raise failed(word, error) from error
        raise
    return made


def make_importable(folder: Path) -> None:
    """What lies in the folder can be imported; what is installed goes first, so a file `random.py` breaks nothing."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def failed(word: str, error: BaseException) -> InvalidInput:
    """The refusal of code that fails while it is imported: what it said, and where."""
    said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    frames = [frame for frame in extract_tb(error.__traceback__) if "importlib" not in frame.filename]
    where = f" ({frames[-1].filename}, line {frames[-1].lineno})" if len(frames) > 1 else ""
    reason = f"its import fails with {' '.join(said.split())}{where}"
    return InvalidInput(FIELD, word, reason, "Mend it, and try it first with python -c 'import ...'.")


# -- what is in them --------------------------------------------------------------------------------------------------


def named_in(found: Any, name: str, word: str) -> Any:
    """What has this name in the module; a dot goes into a class."""
    for part in name.split("."):
        if not hasattr(found, part):
            holds = [each for each, value in vars(found).items() if isinstance(value, type) and lacks(value) == []]
            known = f"The policies there are {', '.join(holds)}." if holds else FORMS
            raise InvalidInput(FIELD, word, f"there is no {part} in {getattr(found, '__name__', found)}", known)
        found = getattr(found, part)
    return found


def checked(word: str, found: Any) -> Any:
    """The policy, or a refusal that says what it lacks."""
    if missing := lacks(found):
        reason = f"is not a policy: it has no {', '.join(missing)}"
        raise InvalidInput(FIELD, word, reason, "See docs/own_policy.md for what a policy has.")
    return found


def lacks(found: Any) -> list[str]:
    """What is missing for a policy; an object may get its name and its version when it is made."""
    missing = [each for each in ("guarantee", "plan") if not callable(getattr(found, each, None))]
    if missing or not isinstance(found, type):
        missing = [each for each in ("name", "version") if not hasattr(found, each)] + missing
    return missing
