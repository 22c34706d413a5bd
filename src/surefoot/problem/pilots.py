"""Marks of the pilot rows by which a problem was calibrated: what was stated by them is not counted again as data.

A mark knows its rows again, in their order, wherever they stand in a longer table. It is a guard against a mistake and
no lock: whoever picks some of the rows, or changes one, is not stopped by it.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from typing import TypeAlias

from surefoot.errors import InvalidInput, counted

Reading: TypeAlias = tuple[str, float, float, Sequence[float]]  # the arm's name, level, reward, what its limits read

MARK = re.compile(r"(\d{1,9}) rows? ([0-9a-f]{16}) ([0-9a-f]{64})")
REMEDY = "Leave it as `surefoot calibrate` wrote it, a list of texts, or leave it out where no pilot row was used."


def mark_of(rows: Sequence[Reading]) -> str:
    """The mark of these rows: how many they are, and hashes of the first and of all."""
    digests = [digest_of(row) for row in rows]
    return f"{counted(len(rows), 'row').replace(',', '')} {digests[0].hex()[:16]} {joined(digests)}"


def marked_rows(marks: Sequence[str], rows: Sequence[Reading]) -> range | None:
    """Where in the table the rows of one of the marks stand, by their places from 0; None where they do not."""
    digests = [digest_of(row) for row in rows] if marks else []
    for mark in marks:
        found = MARK.fullmatch(mark)
        count, first, all_of_them = (int(found[1]), found[2], found[3]) if found else (0, "", "")
        for at in range(len(rows) - count + 1):
            if digests[at].hex().startswith(first) and joined(digests[at : at + count]) == all_of_them:
                return range(at, at + count)
    return None


def digest_of(row: Reading) -> bytes:
    """The hash of one row; numbers count by their value."""
    name, level, reward, readings = row
    return hashlib.sha256(json.dumps([name, *(float(x) + 0.0 for x in (level, reward, *readings))]).encode()).digest()


def joined(digests: Sequence[bytes]) -> str:
    """One hash of many, in their order."""
    return hashlib.sha256(b"".join(digests)).hexdigest()


def checked_marks(value: object) -> tuple[str, ...]:
    """The marks as a problem holds them."""
    if value is None:
        return ()
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise InvalidInput("calibrated_by", value, "must be a list of marks", REMEDY)
    for place, mark in enumerate(value):
        found = MARK.fullmatch(mark) if isinstance(mark, str) else None
        if found is None or int(found[1]) < 1:
            raise InvalidInput(f"calibrated_by[{place}]", mark, "is no mark of pilot rows", REMEDY)
    return tuple(dict.fromkeys(value))
