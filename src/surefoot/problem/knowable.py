"""What stays open however many trials are made, where means are linear only within a stated error.           (W6)

An error of the law that nobody can see leaves levels and values uncertain by a width that more trials do not shrink.
All here are estimates by an arm's own pulls at its certified level; other arms can make them smaller, and earlier pulls
at lower levels larger.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import numpy as np

from surefoot.problem.checks import Floats
from surefoot.problem.units import with_unit

if TYPE_CHECKING:
    from surefoot.problem.limits import Limit
    from surefoot.problem.problem import Problem


def open_share(limit: Limit) -> float:
    """The share of the value of an arm that this limit holds below full level, which stays open; infinite where its
    error leaves open all levels up to the full one."""
    share = limit.within / -limit.eta0
    return inf if 3.0 * share >= 1.0 else (1.0 - 2.0 * share) * 4.0 * share / (1.0 - 3.0 * share)


def least_epsilon(problem: Problem) -> float:
    """The epsilon below which nothing is ever certain: two means may both be beside the law."""
    return 2.0 * problem.reward.within


def last_levels(problem: Problem, signals: Floats) -> tuple[Floats, Floats]:
    """The levels up to which arms with these signals (m, K) at full level can be certified in the end, and those that
    stay possible.                                                                                       (W3, W6)"""
    certified, possible = np.array(problem.max_level), np.array(problem.max_level)
    for limit, effects in zip(problem.safety, signals, strict=True):
        surely = limit.eta0 + 2.0 * limit.within
        certified = np.minimum(certified, np.where(effects < surely, surely / np.minimum(effects, -1e-300), 1.0))
    certified = np.maximum(certified, problem.safe_level)
    for limit, effects in zip(problem.safety, signals, strict=True):
        high, error = effects + limit.within / certified, limit.within
        beyond = high < limit.eta0 - error
        possible = np.minimum(possible, np.where(beyond, (limit.eta0 - error) / np.where(beyond, high, -1.0), 1.0))
    return certified, np.maximum(possible, certified)


def last_gap(problem: Problem, values: Floats, signals: Floats) -> float:
    """The gap that is left in the end, where these are the values (K,) and signals (m, K) of arms at full level. (W6)

    A question is decided only if epsilon is not below it.
    """
    certified, possible = last_levels(problem, signals)
    error, worth = problem.reward.within, certified * values
    leader = int(worth.argmax())
    if worth[leader] < 0.0:
        wide = possible * values + error * possible / certified
        return max(float(wide.max()), 0.0) + error
    drift = possible / certified + 1.0
    drift[leader] -= 2.0
    leads = possible * values - worth[leader] + error * drift
    return max(float(leads.max()), error - float(worth[leader]), 0.0) + 2.0 * error


def said_of_error(problem: Problem) -> list[str]:
    """What the stated errors leave open: a sentence or two for each signal that has one, with the epsilon that is
    possible."""
    said, reward, least = [], problem.reward, least_epsilon(problem)
    if least > 0.0:
        words = (
            f"The reward is linear within {with_unit(f'{reward.within:g}', reward.unit)}: no epsilon below {least:.3g} "
        )
        words += f"can be decided, and where other options come close none below about {2.0 * least:.3g}."
        if problem.epsilon < least:
            words += f" Epsilon {problem.epsilon:g} is below that: the experiment can only end undecided."
        said.append(words)
    for limit in problem.safety:
        if limit.within > 0.0:
            error = with_unit(f"{limit.within:g}", limit.unit)
            said.append(f"{limit.name} is linear within {error}: {left_open(problem, limit)}")
    return said


def left_open(problem: Problem, limit: Limit) -> str:
    """What the error of this limit leaves open, in words."""
    share = open_share(limit)
    if share == inf:
        return (
            f"that is a third of the {-limit.eta0:.3g} between baseline and limit or more. Where it holds the best "
            "option below full level, the level stays open however many trials are made, and they end undecided."
        )
    said = (
        f"of an option that it holds below full level, about {100.0 * share:.2g} % of its value stays open however "
        f"many trials are made, so epsilon must be at least {share:.2g} times what the best option is worth."
    )
    room = problem.epsilon - least_epsilon(problem)
    if room > 0.0:
        worth = with_unit(f"{room / share:.3g}", problem.reward.unit)
        said += f" Epsilon {problem.epsilon:g} can be decided up to a worth of about {worth}."
    return said
