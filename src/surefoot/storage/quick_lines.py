"""The lines of JSON of events like most, put together quickly: a study may have millions, and all are verified at once.

Only for those who compare a hash with one that is stored, and look more closely where it differs. A line from here is
the one of `chain`, or none that could have been hashed: Python writes whole and finite numbers as JSON does, and
everything else (a missing value, nan, bytes) in words that JSON does not have.
"""

import json
import struct
from collections.abc import Sequence
from typing import Any

_text = json.encoder.encode_basestring_ascii
_one = struct.Struct("<d").unpack


def quick_line(row: Sequence[Any]) -> str | None:
    """The line of an event with these values of `COLUMNS`; None for one that holds more than most do."""
    (
        sequence, kind, number, arm, level, reward, safety, worker, reason, by, at, step, phase, margin, leader,
        challenger, gap, writer, key, _,
    ) = row  # fmt: skip
    if reason is not None or by is not None or key is not None:
        return None
    if kind == "ask" and reward is None and safety is None and phase is not None:
        who = "" if worker is None else f'"worker":{_text(worker)},'
        if leader is None and challenger is None and gap is None:
            return (
                f'{{"arm":{arm!r},"at":{at!r},"kind":"ask","level":{level!r},"margin":{margin!r},"number":{number!r},'
                f'"phase":{_text(phase)},"sequence":{sequence!r},"step":{step!r},{who}"writer":{writer!r}}}'
            )
        return (
            f'{{"arm":{arm!r},"at":{at!r},"challenger":{challenger!r},"gap":{gap!r},"kind":"ask","leader":{leader!r},'
            f'"level":{level!r},"margin":{margin!r},"number":{number!r},"phase":{_text(phase)},'
            f'"sequence":{sequence!r},"step":{step!r},{who}"writer":{writer!r}}}'
        )
    if kind == "tell" and arm is worker is phase is margin is leader is challenger is gap is None is not safety:
        return (
            f'{{"at":{at!r},"kind":"tell","level":{level!r},"number":{number!r},"reward":{reward!r},'
            f'"safety":{_listed(safety)},"sequence":{sequence!r},"step":{step!r},"writer":{writer!r}}}'
        )
    return None


def _listed(readings: bytes) -> str:
    """The readings as a list in JSON."""
    if len(readings) == 8:
        return f"[{_one(readings)[0]!r}]"
    return repr([*struct.unpack(f"<{len(readings) // 8}d", readings)]).replace(" ", "")
