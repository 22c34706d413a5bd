"""Everything that a run carries along: what each part remembers, and the room that a round writes into.

The loop knows the parts of a state and not what is in them. All arrays of a state lie in one block of memory, so a
state is copied, and begun anew, without knowing its parts.
"""

from typing import Any, NamedTuple

import numpy as np

from surefoot.core.estimate import Estimate, Scratch, new_estimate, new_scratch
from surefoot.core.kernel import rare, thin
from surefoot.core.layout import as_words, leaves, shapes_of, side_by_side
from surefoot.core.levels import Bounds, Levels, new_bounds, new_levels
from surefoot.core.types import CHALLENGER, LEADER, NULL, Indices, Instance, Vector, Words

__all__ = [
    "Bounds",
    "Scratch",
    "State",
    "Work",
    "copy_words",
    "empty_state",
    "new_state",
    "new_work",
    "remember_race",
    "state_bytes",
]


class State(NamedTuple):
    """All that has been learned."""

    estimate: Estimate
    levels: Levels
    sets: Any  # the memory of the confidence sets
    own: Any  # the policy's own
    clock: Indices  # (6,) round, rounds since refresh, phase, whether the data contradict, leader and challenger
    whole: Indices  # all of the above, as one row of words


class Work(NamedTuple):
    """Buffers that a round writes into, so that nothing is allocated."""

    bounds: Bounds
    reach: Vector  # (K,) levels that may be applied now
    score: Vector  # (K,) what a choice among the arms goes by
    observed: Vector  # (n,)
    scratch: Scratch
    draw: Words  # (4,) random words of exploration


def new_state(inst: Instance, sets: Any, own: Any) -> State:
    """A state of zeros, which `begin` fills in; `sets` and `own` show the shapes of what those parts remember."""
    block, placed = side_by_side(shapes_of((new_estimate(inst), new_levels(inst), sets, own, np.zeros(6, np.int64))))
    estimate, levels, sets, own, clock = placed
    return State(estimate, levels, sets, own, clock, as_words(block))


def state_bytes(inst: Instance, sets: Any, own: Any) -> int:
    """The memory that a state takes up; nothing is filled in to find it out."""
    parts = leaves((new_estimate(inst), new_levels(inst), sets, own))
    return sum(each.nbytes for each in parts if isinstance(each, np.ndarray))


def new_work(inst: Instance) -> Work:
    """Buffers of the right sizes."""
    K, n = len(inst.X), len(inst.R)
    buffers = (new_bounds(inst), np.zeros(K), np.zeros(K), np.zeros(n), new_scratch(inst), np.zeros(4, np.uint64))
    return Work(*side_by_side(shapes_of(buffers))[1])


@rare
def empty_state(state: State) -> None:
    """Zeros everywhere."""
    for i in range(len(state.whole)):
        state.whole[i] = 0


@rare
def copy_words(words: Indices, copy: Indices) -> None:
    """The words of a whole state, kept elsewhere or put back."""
    for i in range(len(words)):
        copy[i] = words[i]


@thin
def remember_race(state: State, leader: int, challenger: int) -> None:
    """Whom the last decision was about, until the next one; a leader that races itself has no challenger."""
    state.clock[LEADER] = leader
    state.clock[CHALLENGER] = challenger if challenger != leader else NULL
