"""Results as users tell them, as they are stored, and as the core sees them."""

import struct
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from surefoot.errors import InvalidInput
from surefoot.problem import Problem
from surefoot.problem.checks import Floats, number
from surefoot.problem.dial_settings import in_levels

Safety: TypeAlias = float | Floats | list[float] | tuple[float, ...] | Mapping[str, float]
MEASURED = "Tell what was measured; a failed measurement is no result, so repeat the pull."
APPLIED = "Tell the level that was really applied."
STORED = np.dtype("<f8")
PLAIN = (float, int, list, tuple)


def measured(problem: Problem, reward: object, safety: Safety = ()) -> tuple[float, list[float]]:
    """The reward and the readings in the order of the limits, in the user's units; what cannot be is refused."""
    return measured_reward(problem, reward), measured_readings(problem, safety)


def measured_reward(problem: Problem, reward: object) -> float:
    """The reward as it was told."""
    told = number("reward", reward, MEASURED)
    if not isinstance(problem.reward.noise, float):
        problem.reward.law.check_reading("reward", told)
    return told


def measured_readings(problem: Problem, safety: Safety) -> list[float]:
    """The readings in the order of the limits; none where there are none."""
    names = [limit.name for limit in problem.safety]
    if type(safety) in PLAIN:  # by far the most, and to look further costs as much as all the rest
        readings: list[Any] = list(safety) if isinstance(safety, list | tuple) else [safety]
    elif isinstance(safety, Mapping):
        if set(safety) != set(names):
            raise InvalidInput(
                "safety", dict(safety), f"must have one value for each of {', '.join(names)}",
                "Tell every limit by its name, and no other.",
            )  # fmt: skip
        readings = [safety[name] for name in names]
    else:
        readings = [] if safety is None else list(np.atleast_1d(np.asarray(safety, dtype=object)))
    if readings and not names:
        remedy = "Leave safety out, or pass an empty list."
        raise InvalidInput("safety", safety, "is told, and the problem states no limits", remedy)
    if len(readings) != len(names):
        raise InvalidInput(
            "safety", safety, f"must have {len(names)} value(s), one for each of {', '.join(names)}",
            "Pass one number for one limit, or a list or mapping for several.",
        )  # fmt: skip
    found = [number(f"safety[{name!r}]", each, MEASURED) for name, each in zip(names, readings, strict=True)]
    for limit, reading in zip(problem.safety, found, strict=True):
        if not isinstance(limit.noise, float):
            limit.law.check_reading(f"safety[{limit.name!r}]", reading)
    return found


def safety_columns(problem: Problem) -> list[str]:
    """The column of each limit in a table: "safety", or "safety_" and its name when there are several."""
    names = [limit.name for limit in problem.safety]
    return ["safety"] if len(names) == 1 else [f"safety_{name}" for name in names]


def applied_level(problem: Problem, level: object) -> float:
    """The level that was really applied, from a level or from a setting with its unit, "18 mg"."""
    return number("level", in_levels(problem.dial, "level", level), APPLIED, at_least=0.0, at_most=1.0)


def packed(readings: list[float]) -> bytes:
    """The readings, one for each limit, as they are stored."""
    return struct.pack(f"<{len(readings)}d", *readings)


def unpacked(content: bytes) -> Floats:
    """The readings that were stored."""
    return np.frombuffer(content, STORED).astype(np.float64)


def in_rows(problem: Problem, content: bytes, count: int) -> Floats:
    """The stored readings of so many pulls, one row each, as they were told."""
    return unpacked(content).reshape(count, len(problem.safety))


def internal(problem: Problem, content: bytes, count: int) -> Floats:
    """The stored readings of so many pulls, one row each, as the core sees them."""
    readings = in_rows(problem, content, count)
    for s, limit in enumerate(problem.safety):
        readings[:, s] = limit.internal(readings[:, s])
    return readings


def is_result(level: object, reward: object, readings: object, limits: int) -> bool:
    """Whether what is stored is of the kind that can be told."""
    numbers = isinstance(level, float) and isinstance(reward, float)
    return numbers and isinstance(readings, bytes) and len(readings) == 8 * limits
