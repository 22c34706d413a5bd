"""Mixtures fixed in advance: the numbers behind the boundaries (C3) and the prior of the bias-free set (C2).

All follow from the problem by one rule, (C7): how much information the deciding question may need. Nothing is tuned
to an instance; a wrong guess costs a logarithm, never the guarantee.
"""

from math import erf, exp, inf, log, log1p, sqrt

import numpy as np

from surefoot.problem import Problem
from surefoot.problem.norms import noise_sizes
from surefoot.sets.boundaries import Boundary, height_at

LARGEST_ALPHA = 0.25  # a boundary for a larger error is this one, which is stricter
LARGEST = 30.0  # the largest reward to plan for, in multiples of epsilon, where none is stated and no norm
FINEST = 1e-3  # differences below this share of the largest possible value are not planned for


def boundary(alpha: float, R: float, centre: float, spread: float) -> Boundary:
    """The boundary of a normal mixture over effects, cut off at zero, that is crossed with probability alpha. (C3)

    An effect is the mean of a unit of weighted noise under the alternative, divided by R^2.
    """
    alpha = min(alpha, LARGEST_ALPHA)
    above_zero = 0.5 * (1.0 + erf(centre / spread / sqrt(2.0)))
    plain = log(above_zero / alpha)
    threshold = plain - log1p(-0.5 * exp(-plain))
    return Boundary(
        rho=1.0 / (spread * R) ** 2,
        constant=2.0 * threshold + (centre / spread) ** 2,
        offset=centre / spread**2,
    )


def half_normal(alpha: float, R: float, rho: float) -> Boundary:
    """The boundary of a half-normal mixture with that rho."""
    return boundary(alpha, R, 0.0, 1.0 / (R * sqrt(rho)))


def largest_value(problem: Problem) -> float:
    """S, about the largest reward that a pull can have: as it is stated, by the norm, or a fixed multiple of epsilon.

    It is planned with and never leaned on. Without all three, the noise is the only scale there is.
    """
    if problem.reward.largest is not None:
        return problem.reward.largest
    if problem.reward.norm is None:
        return LARGEST * problem.epsilon or float(noise_sizes(problem)[0])
    longest = float(np.abs(problem.features).max())
    return problem.reward.norm * longest * float(np.sqrt(((problem.features / longest) ** 2).sum(axis=1).max()))


def finest_difference(problem: Problem) -> float:
    """epsilon, or where it is smaller than can be planned for, a small share of S."""
    return max(problem.epsilon, FINEST * largest_value(problem))


def planned_information(problem: Problem) -> list[float]:
    """For each signal the information, in sums of squared levels, at which a question is likely to be decided.  (C7)

    Reward: differences half way, by ratio, between epsilon and S. Safety: slopes half way between |eta0| and the
    error of |eta0| epsilon/S that moves the best value by epsilon.
    """
    S, epsilon = largest_value(problem), finest_difference(problem)
    R, *sizes = noise_sizes(problem).tolist()
    if not S > 0.0:
        return [1.0] * (1 + len(sizes))
    limits = zip(sizes, problem.safety, strict=True)
    return [R**2 / (S * epsilon), *(size**2 * S / (limit.eta0**2 * epsilon) for size, limit in limits)]


def crossing(near: Boundary, far: Boundary, R: float) -> float:
    """The information above which the first boundary is the lower one; infinite if it never is."""
    low, high = -60.0, 60.0  # in powers of e, relative to rho

    def near_is_lower(power: float) -> bool:
        information = near.rho * exp(power)
        return height_at(near, R, information) <= height_at(far, R, information)

    if not near_is_lower(high):
        return inf
    if near_is_lower(low):
        return 0.0
    while high - low > 1e-9:
        middle = 0.5 * (low + high)
        if near_is_lower(middle):
            high = middle
        else:
            low = middle
    return near.rho * exp(high)
