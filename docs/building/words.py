"""Docstrings as they are written here, read: running text, and entries such as `noise    how large it is`."""

import inspect
import re

ENTRY = re.compile(r"^([A-Za-z_][\w/., ]*?) {2,}(\S.*)$|^(\w+, \w+) (\S.*)$")


def blocks(docstring: str) -> list[str | dict[str, str]]:
    """The paragraphs of a docstring, and its lists of entries as mappings from a name to its words."""
    found: list[str | dict[str, str]] = []
    for part in re.split(r"\n\s*\n", inspect.cleandoc(docstring)):
        lines = part.splitlines()
        if ENTRY.match(lines[0]) and all(line.startswith("  ") or ENTRY.match(line) for line in lines):
            found.append(_entries(lines))
        else:
            found.append(" ".join(line.strip() for line in lines))
    return found


def entries(thing: object) -> dict[str, str]:
    """What the docstring of the thing says of each name."""
    lists = [block for block in blocks(inspect.getdoc(thing) or "") if isinstance(block, dict)]
    return {name: words for each in lists for name, words in each.items()}


def first_words(thing: object) -> str:
    """The first paragraph of the docstring."""
    first = blocks(inspect.getdoc(thing) or "")[0]
    assert isinstance(first, str)
    return first


def _entries(lines: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    name = ""
    for line in lines:
        entry = None if line.startswith("  ") else ENTRY.match(line)
        if entry is not None:
            name = (entry[1] or entry[3]).strip()
            found[name] = entry[2] or entry[4]
        else:
            found[name] += " " + line.strip()
    return {name: re.sub(" {2,}", " ", words) for name, words in found.items()}
