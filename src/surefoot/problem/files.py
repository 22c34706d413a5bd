"""Problem files: a plain table read from TOML or JSON, and written so that every number comes back bit for bit."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path

import tomli_w

from surefoot.errors import InvalidInput
from surefoot.files import as_path, read_text, write_bytes
from surefoot.plain_data import json_text

_FORMATS = "Use a path that ends in .toml or .json."


def read_table(path: object) -> dict[str, object]:
    """The table that the file holds."""
    place = as_path("path", path)
    kind = _format(place)
    content = read_text("path", place)
    try:
        table = tomllib.loads(content) if kind == ".toml" else json.loads(content, object_pairs_hook=_without_repeats)
    except InvalidInput:
        raise
    except (ValueError, RecursionError) as error:  # syntax, endless integers, nesting without end
        detail = str(error) or type(error).__name__
        remedy = "Mend the file at that place, or save a problem with Problem.save to see the form."
        raise InvalidInput("path", str(place), f"is not valid {kind[1:].upper()}: {detail}", remedy) from error
    if not isinstance(table, dict):
        reason = f"holds a {type(table).__name__} where an object with keys is needed"
        raise InvalidInput("path", str(place), reason, 'Begin the file with "{" and name each value.')
    return table


def write_table(path: object, table: Mapping[str, object]) -> None:
    """The file holds the table and nothing else: it is replaced at once or left as it was."""
    place = as_path("path", path)
    content = tomli_w.dumps(table) if _format(place) == ".toml" else json_text(table, ascii_only=False)
    write_bytes("path", place, content.encode("utf-8"))


def _format(path: Path) -> str:
    """The file's format by its ending, ".toml" or ".json"."""
    suffix = path.suffix.lower()
    if suffix not in (".toml", ".json"):
        raise InvalidInput("path", str(path), "is of no known format", _FORMATS)
    return suffix


def _without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """The JSON object as a dict; a repeated key is refused, where JSON itself would silently keep the last."""
    table = dict(pairs)
    if len(table) < len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for i, key in enumerate(keys) if key in keys[:i])
        raise InvalidInput(repr(repeated), table[repeated], "appears twice in the same object", "Keep one of the two.")
    return table
