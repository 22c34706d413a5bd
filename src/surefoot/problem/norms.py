"""The bounds and the noise of a problem, for whoever leans on them: what is not stated is asked for by name."""

from dataclasses import replace
from math import inf
from typing import NamedTuple

import numpy as np

from surefoot.errors import ABSENT, InvalidInput
from surefoot.problem.checks import Floats
from surefoot.problem.limits import Limit, Reward
from surefoot.problem.noise import UNKNOWN, NoiseLaw, guessed_for
from surefoot.problem.problem import Problem

NORM, LARGEST = "norm", "largest"
REMEDY = (
    "State largest, by which no option certainly changes it at full strength, or norm, a bound on the length of its "
    "weights that is certainly true, for every signal the same. Or use SafeGap, which needs neither."
)
ONE_KIND = "State largest for every signal, or norm for every signal, or use SafeGap, which needs neither."
ELSEWHERE = "surefoot.building.leaned_on(problem) gives the bounds and the arms in the coordinates in which they hold."
TUNED = 0.8  # of the guess
EXACT = "Leave `within` out where means are linear, or use SafeGap, which allows for it."
OTHER_POLICY = "State a size that the noise certainly does not exceed, or use SafeGap, which needs none."


class Bounds(NamedTuple):
    """What is stated about the size of the weights, of the reward and of each limit in the same way."""

    kind: str  # NORM, the length of the weights; or LARGEST, what an arm changes at full level at most
    sizes: Floats  # (n,)


def bounds_of(problem: Problem) -> Bounds:
    """The bound on the weights of the reward and of each limit; where one is missing, or is of another kind than that
    of the reward, it is named."""
    kind = NORM if problem.reward.largest is None else LARGEST
    owners = ["reward", *(f"safety[{limit.name!r}]" for limit in problem.safety)]
    found = []
    for owner, signal in zip(owners, signals_of(problem), strict=True):
        size, other = (signal.norm, signal.largest) if kind == NORM else (signal.largest, signal.norm)
        if size is None and other is not None and owner != "reward":
            reason = f"is stated where reward.{kind} is, and what is asked for leans on bounds of one kind"
            raise InvalidInput(f"{owner}.{LARGEST if kind == NORM else NORM}", other, reason, ONE_KIND)
        if size is None:
            raise InvalidInput(f"{owner}.{kind}", ABSENT, "what is asked for leans on it", REMEDY)
        found.append(size)
    return Bounds(kind, np.array(found))


def states_bounds(problem: Problem) -> bool:
    """Whether a norm is stated for every signal, or a largest effect for every one."""
    signals = signals_of(problem)
    return all(x.norm is not None for x in signals) or all(x.largest is not None for x in signals)


def norms_of(problem: Problem) -> Floats:
    """The norms of the reward and of each limit, for whoever works in the coordinates of the stated features."""
    found = bounds_of(problem)
    if found.kind == LARGEST:
        reason = "is stated in place of reward.norm, and holds in other coordinates than those of the features"
        raise InvalidInput("reward.largest", problem.reward.largest, reason, ELSEWHERE)
    return found.sizes


def noise_laws(problem: Problem) -> tuple[NoiseLaw, ...]:
    """What is stated about the noise of the reward and of each limit."""
    return guessed_for(problem.reward.law, problem.epsilon), *(limit.law for limit in problem.safety)


def noise_sizes(problem: Problem) -> Floats:
    """The number that stands for the noise of each signal, the reward first: a bound, or what it is tuned by.

    That is a little less than what is guessed: a guess that is too large costs more than one as much too small.
    """
    laws = noise_laws(problem)
    return np.array([TUNED * law.size if law.unknown else law.size for law in laws], dtype=np.float64)  # type: ignore[operator]


def without_ends(problem: Problem) -> Problem:
    """The same problem, with the size that yes/no and bounded readings give in place of their ends."""
    reward, limits = problem.reward, problem.safety
    if reward.law.high < inf:
        reward = replace(reward, noise=reward.law.bound)
    with_sizes = [replace(limit, noise=limit.law.bound) if limit.law.high < inf else limit for limit in limits]
    return problem.with_(reward=reward, safety=with_sizes)


def refuse_unknown_noise(problem: Problem, who: str) -> None:
    """Refuses a problem with noise of unknown size, by the name of the signal, on behalf of who has to know it."""
    fields = ["reward.noise", *(f"safety[{limit.name!r}].noise" for limit in problem.safety)]
    for field, law in zip(fields, noise_laws(problem), strict=True):
        if law.unknown:
            raise InvalidInput(field, UNKNOWN, f"is not stated, and {who} leans on it", OTHER_POLICY)


def signals_of(problem: Problem) -> tuple[Reward | Limit, ...]:
    """The reward and each limit."""
    return problem.reward, *problem.safety


def is_nearly_linear(problem: Problem) -> bool:
    """Whether the mean of a signal follows the linear law only within a stated error."""
    return any(signal.within > 0.0 for signal in signals_of(problem))


def refuse_error(problem: Problem, who: str) -> None:
    """Refuses a problem whose means are only nearly linear, by the name of the signal, on behalf of who takes them for
    exactly linear."""
    fields = ["reward.within", *(f"safety[{limit.name!r}].within" for limit in problem.safety)]
    for field, signal in zip(fields, signals_of(problem), strict=True):
        if signal.within > 0.0:
            raise InvalidInput(field, signal.within, f"is stated, and {who} takes means for exactly linear", EXACT)


def refuse_inexact(problem: Problem, who: str) -> None:
    """Refuses both: noise of unknown size, and means that are only nearly linear."""
    refuse_unknown_noise(problem, who)
    refuse_error(problem, who)
