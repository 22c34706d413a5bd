"""What is stated about the size of effects: the most by which an option changes a signal, in place of a norm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot.errors import InvalidInput
from surefoot.problem.checks import positive
from surefoot.problem.units import with_unit

if TYPE_CHECKING:
    from surefoot.problem.limits import Limit, Reward

SIZE = "Give what no option changes it by more than at full strength, in the units that are read, or leave it out."
ONE_BOUND = "State largest, in the units that are read, or norm, the length of its weights, and leave out the other."


def checked_largest(owner: str, value: float | None, norm: float | None) -> float | None:
    """The most by which an option changes the signal, where it is stated, and not beside a norm."""
    if value is None:
        return None
    if norm is not None:
        raise InvalidInput(f"{owner}.largest", value, f"is stated beside {owner}.norm = {norm!r}", ONE_BOUND)
    return positive(f"{owner}.largest", value, SIZE)


def size_in_words(signal: Reward | Limit) -> str:
    """What is stated about the size of its effects or weights, if anything is."""
    if signal.largest is not None:
        return f", changed by at most {with_unit(f'{signal.largest:g}', signal.unit)} at full strength"
    return "" if signal.norm is None else f", weights of length at most {signal.norm:g}"
