"""How many pulls Safe-LinGapE needs at most, and the level confidence that this allows.                (T4, T5, T6)"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import inf, log

import numpy as np

from surefoot.errors import InvalidInput
from surefoot.problem.checks import Flags, Floats
from surefoot.theory.allocation import shortest_combination

Solver = Callable[[Floats, Floats], Floats]


def gaps(worth: Floats) -> Floats:
    """How far each pull is behind the best one (K,), and for the best how far it is ahead of the second.      (T4)

    `worth` holds z_k.theta*. A pull alone has nothing to be told apart from: its gap is infinite.
    """
    best = int(np.argmax(worth))
    behind: Floats = worth[best] - worth
    behind[best] = np.delete(behind, best).min(initial=inf)
    return behind


def complexity(
    pulls: Floats, epsilon: float, *, worth: Floats | None = None, solve: Solver | None = None,
    pullable: Flags | None = None,
) -> float:  # fmt: skip
    """The complexity H(epsilon) of telling the pulls z_k (rows) apart, a number of pulls per squared noise.   (T4)

    `worth` holds z_k.theta*; without it every gap is taken as 0, which bounds H from above. Of those that are not
    `pullable` combinations are made of the others alone. H depends on *which*
    shortest combination the algorithm uses where several are shortest: pass its own as `solve(pulls, y) -> w`.
    Solves one linear program per pair of arms.
    """
    K = len(pulls)
    made_of = pulls if pullable is None else pulls * pullable[:, None]
    solve = solve or (lambda Z, y: shortest_combination(Z, y).weights)
    gap = np.zeros(K) if worth is None else gaps(worth)
    _refuse_undecidable(epsilon, gap, worth)
    largest = np.zeros(K)
    for i, j in combinations(range(K), 2):  # (j, i) has the same weights with the other sign
        w = np.abs(solve(made_of, pulls[i] - pulls[j]))
        accuracy = max(epsilon, (epsilon + gap[i]) / 3.0, (epsilon + gap[j]) / 3.0)
        largest = np.maximum(largest, w * w.sum() / accuracy**2)
    return float(largest.sum())


def _refuse_undecidable(epsilon: float, gap: Floats, worth: Floats | None) -> None:
    if epsilon > 0.0 or len(gap) == 1:
        return
    if worth is None:
        reason = "leaves the complexity infinite as long as the gaps are unknown"
        raise InvalidInput("epsilon", epsilon, reason, "Choose epsilon above 0, or supply the truth.")
    if np.sort(gap)[:2].max() == 0.0:
        reason = "cannot be reached: two pulls share the best value"
        raise InvalidInput("epsilon", epsilon, reason, "Choose epsilon above 0: then either is a right answer.")


def stopping_bound(
    hardness: float,
    *,
    arms: int,
    dimension: int,
    noise: float,
    norm: float,
    longest: float,
    delta: float,
    regularization: float,
    explored: float = 0.0,
) -> float:
    """K + C(delta): pulls after forced exploration that suffice with probability 1 - delta.                   (T5)

    For static levels, the rounding pull (G5) and the determinant radius (E4); unproved for greedy pulls and dynamic
    levels. `longest` is L, the greatest length of a pull. `explored` is the sum of gamma^2 over forced exploration:
    those pulls stay in the Gram matrix and enlarge the radius through its determinant, which the formula without them
    forgets. Refused when lambda is above 2 R^2 log(1/delta) / D^2, where the proof's radius bound ends.
    """
    highest = 2.0 * noise**2 * log(1.0 / delta) / norm**2
    if regularization > highest:
        reason = f"must be at most 2 R^2 log(1/delta) / D^2 = {highest:.6g} for the bound on pulls to hold"
        raise InvalidInput("regularization", regularization, reason, f"Choose at most {highest:.6g}.")
    linear = 8.0 * hardness * noise**2 * log(arms**2 / delta)
    slope = 4.0 * hardness * noise**2 * dimension
    scale = longest**2 / regularization
    most = 64.0 * hardness**2 * noise**4 * dimension * scale + 4.0 * (linear + arms + explored) ** 2  # M
    return arms + linear + slope * log(1.0 + most * scale / dimension)


def level_confidence(delta_safety: float, delta: float, bound: float, *, signals: int = 1) -> float:
    """delta_s' per signal when levels are certified round by round: (delta_s - delta_r) / (K + C) / m.        (T6)

    `bound` is the `stopping_bound`. The union over rounds needs delta_s > delta_r, because the number of rounds is
    itself known only with probability 1 - delta_r. Sets that hold for all rounds at once need none of this:
    see `uniform_level_confidence`.
    """
    if not delta_safety > delta:
        reason = f"must be above delta = {delta:g} for a union over rounds"
        raise InvalidInput("delta_safety", delta_safety, reason, "Lower delta, or use sets that hold for all rounds.")
    return (delta_safety - delta) / bound / signals


def uniform_level_confidence(delta_safety: float, *, signals: int = 1) -> float:
    """delta_s' = delta_s / m per signal, enough for sets that are valid for all rounds at once.           (T6, E5)"""
    return delta_safety / signals
