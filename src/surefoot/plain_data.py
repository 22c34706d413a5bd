"""Plain data: numbers, texts, lists and dicts, as JSON can write them, made of whatever the package holds."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from pathlib import PurePath
from typing import Any


def plain(value: Any) -> Any:
    """The value as plain data: arrays as lists, records as dicts, NaN and infinity as None.

    A record is a mapping, a named tuple, a dataclass, or what has `to_dict`. Anything else that JSON does not know is
    a TypeError. Finite numbers stay as they are, bit for bit.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, int | str):
        return value
    if hasattr(value, "tolist"):  # numpy's arrays and numbers alike
        return plain(value.tolist())
    if isinstance(value, PurePath | datetime):
        return str(value) if isinstance(value, PurePath) else value.isoformat()
    if (record := _record(value)) is not None:
        return {str(key): plain(held) for key, held in record.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    raise TypeError(f"{type(value).__name__} is not plain data")


def json_text(value: Any, *, ascii_only: bool = True) -> str:
    """The value as JSON that people can read: one key a line, lists of numbers on one line.

    The text of a number is the shortest that reads back as the same number.
    """
    return _laid_out(plain(value), ascii_only, "\n") + "\n"


def _record(value: Any) -> Mapping[Any, Any] | None:
    """The names and values of a record; None for what is no record."""
    if isinstance(value, Mapping):
        return value
    for method in ("to_dict", "_asdict"):  # of many classes, and of named tuples
        if hasattr(value, method):
            found: Mapping[Any, Any] = getattr(value, method)()
            return found
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return None


def _laid_out(value: Any, ascii_only: bool, newline: str) -> str:
    """The plain value as JSON, whose further lines begin as `newline` says."""
    deeper = newline + "  "
    if isinstance(value, dict) and value:
        lines = [
            f"{json.dumps(key, ensure_ascii=ascii_only)}: {_laid_out(held, ascii_only, deeper)}"
            for key, held in value.items()
        ]
        return "{" + deeper + f",{deeper}".join(lines) + newline + "}"
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        return "[" + deeper + f",{deeper}".join(_laid_out(item, ascii_only, deeper) for item in value) + newline + "]"
    return json.dumps(value, ensure_ascii=ascii_only, allow_nan=False)
