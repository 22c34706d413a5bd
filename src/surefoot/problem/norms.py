"""The norms and the noise of a problem, for whoever leans on them: what is not stated is asked for by name."""

from dataclasses import replace
from math import inf

import numpy as np

from surefoot.errors import ABSENT, InvalidInput
from surefoot.problem.checks import Floats
from surefoot.problem.limits import Limit, Reward
from surefoot.problem.noise import UNKNOWN, NoiseLaw, guessed_for
from surefoot.problem.problem import Problem

REMEDY = "State norm = a bound on the length of its weights that is certainly true, or use SafeGap, which needs none."
TUNED = 0.8  # of the guess
EXACT = "Leave `within` out where means are linear, or use SafeGap, which allows for it."
OTHER_POLICY = "State a size that the noise certainly does not exceed, or use SafeGap, which needs none."


def norms_of(problem: Problem) -> Floats:
    """The bound on the weights of the reward and of each limit."""
    stated = [("reward.norm", problem.reward.norm)]
    stated += [(f"safety[{limit.name!r}].norm", limit.norm) for limit in problem.safety]
    found = []
    for field, norm in stated:
        if norm is None:
            raise InvalidInput(field, ABSENT, "is not stated, and what is asked for leans on it", REMEDY)
        found.append(norm)
    return np.array(found)


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
