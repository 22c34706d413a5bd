"""The reference of problem files, made from the classes that read them: every key, and what is said of it."""

import dataclasses
import inspect
import re
from collections.abc import Iterable

from words import entries, first_words

import surefoot as sf
from surefoot.problem.problem import _KEYS
from surefoot.problem.required import REQUIRED


def reference() -> str:
    """All tables of a problem file, in Markdown."""
    top = [_row(name, name in REQUIRED, _default(name), words) for name, words in _top_level().items()]
    parts = ["## At the top", _table(top)]
    for title, kind in (
        ("`[dial]`", sf.Dial),
        ("`[reward]`", sf.Reward),
        ("`[[safety]]`, once for each limit", sf.Limit),
    ):
        parts += [f"## {title}", _escaped(first_words(kind)), _table(_fields(kind))]
    return "\n\n".join(parts)


def _top_level() -> dict[str, str]:
    said = entries(sf.Problem)
    missing = [key for key in _KEYS if key not in said]
    if missing:
        raise RuntimeError(f"the docstring of Problem does not say what {missing} are")
    return {key: said[key] for key in _KEYS}


def _default(name: str) -> object:
    return inspect.signature(sf.Problem).parameters[name].default


def _fields(kind: type) -> Iterable[str]:
    said = entries(kind)
    for field in dataclasses.fields(kind):
        if field.name.startswith("_"):
            continue
        if field.name not in said:
            raise RuntimeError(f"the docstring of {kind.__name__} does not say what {field.name} is")
        needed = field.default is dataclasses.MISSING
        yield _row(field.name, needed, field.default, said[field.name])


def _row(name: str, needed: bool, default: object, words: str) -> str:
    # Compared as text: autodoc, once it has seen the class, has put words of its own in place of the defaults.
    without = str(default) == "None" or default is inspect.Parameter.empty
    given = "needed" if needed else "" if without else f"`{_toml(default)}`"
    return f"| `{name}` | {given} | {_escaped(words)} |"


def _toml(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(list(value) if isinstance(value, tuple) else value)


def _table(rows: Iterable[str]) -> str:
    return "\n".join(["| key | if left out | |", "|---|---|---|", *rows])


def _escaped(words: str) -> str:
    """Words of a docstring in Markdown: their code stays, and no other sign is taken for one."""
    parts = re.split(r"(`[^`]*`)", words)
    return "".join(part if part.startswith("`") else re.sub(r"([*_<\[\]|])", r"\\\1", part) for part in parts)
