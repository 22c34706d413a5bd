"""What a policy may lean on: the stated bounds on the weights, and the coordinates in which they hold.

Norms hold in the coordinates of the stated features, and mix their units. A largest effect has the unit of what is
read, and holds in even coordinates, where units and mixing of the features do not matter.                     (E7)
"""

import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from surefoot.core.columns import are_many
from surefoot.core.coordinates import Even, even_coordinates
from surefoot.core.crew import CROWD
from surefoot.core.types import Matrix, Vector
from surefoot.policies.threads import threads_for_arms
from surefoot.problem import Problem
from surefoot.problem.norms import LARGEST, bounds_of


class Leaning(NamedTuple):
    """The bounds, and the arms in the coordinates in which they hold."""

    features: Matrix  # (K, d)
    bounds: Vector  # (n,) on the length of the weights of each signal there, the reward first
    even: bool  # whether these are even coordinates, and not those of the problem


def leaned_on(problem: Problem) -> Leaning:
    """What policies lean on whose sets hold no weights longer than stated; what is not stated is asked for by name."""
    stated = bounds_of(problem)
    if stated.kind != LARGEST:
        return Leaning(problem.features, stated.sizes, False)
    even = even_arms(problem)
    return Leaning(even.arms, stated.sizes * even.reach, True)


def even_arms(problem: Problem, by_entries: bool = False) -> Even:
    """The arms in even coordinates, or in those of an earlier version.

    Of many that takes a while, and a study asks more than once: those of the problem that was faced last are kept as
    long as it is. Without a lock, which a forked child might find held for ever: two threads at worst compute the same.
    """
    kept = _even.get("last")
    if kept is None or kept[0]() is not problem or kept[2] is not by_entries:
        threads = threads_for_arms() if problem.size >= CROWD else 1
        if threads == 1:
            found = even_coordinates(problem.features, by_entries)
        else:
            with ThreadPoolExecutor(threads) as several:
                found = even_coordinates(problem.features, by_entries, several.map)
        if are_many(problem.size):  # as compiled code reads them, so that there is one copy
            found = found._replace(arms=np.asfortranarray(found.arms))
        kept = _even["last"] = weakref.ref(problem, _forget), found, by_entries
    return kept[1]


_even: dict[str, tuple[weakref.ref[Problem], Even, bool]] = {}


def _forget(gone: weakref.ref[Problem]) -> None:
    """Lets go of the arms of a problem that nobody has any more."""
    kept = _even.get("last")
    if kept is not None and kept[0] is gone:
        _even.pop("last", None)
