"""The fingerprint of a problem: one hash over all that it states, the same on every machine and in every version."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import numpy as np

from surefoot.problem.checks import ROWS, some_rows

if TYPE_CHECKING:
    from surefoot.problem.problem import Problem


def digest_of(problem: Problem) -> str:
    """SHA-256 over the content: a line of JSON, then the numbers of the arms and levels, little-endian."""
    settings = {key: value for key, value in problem.plain_settings().items() if not key.endswith("_level")}
    before = json.dumps(
        ["surefoot problem 1", settings, problem.plain_signals()], sort_keys=True
    )  # shortest exact text
    digest = hashlib.sha256(f"{before[:-1]}, [".encode())
    for first in range(0, problem.size, ROWS):
        separator = ", " if first else ""
        digest.update(f"{separator}{json.dumps(problem.names[first : first + ROWS])[1:-1]}".encode())
    digest.update(f"], {json.dumps(problem.arms.shape)}]\n".encode())
    for numbers in (problem.arms, problem.safe_level, problem.max_level):
        for part in some_rows(numbers):
            digest.update(np.ascontiguousarray(part + 0.0, "<f8").data)  # minus zero is zero
    return digest.hexdigest()
