"""When methods of the field stop: each by the threshold printed with it, and by our own sets.           (F5-F9)

A threshold is a confidence set (`sets.thresholds`), so a stopping rule is a part of a plan and no line of a decision.
One that nobody has proved is measured, and never gives a certificate.
"""

from collections.abc import Callable, Mapping
from math import log, pi, sqrt
from typing import ClassVar, NamedTuple

import numpy as np

from surefoot.core.grams import Grams, least_squares
from surefoot.core.types import Indices, Matrix, Vector
from surefoot.errors import InvalidInput
from surefoot.policies import radii
from surefoot.policies.bound import ceiling_of, reach_of
from surefoot.policies.guarantee import WITHOUT_LIMITS, Guarantee, no_promise, promise
from surefoot.policies.leaning import even_arms
from surefoot.policies.options import check_choice
from surefoot.policies.safe_gap import START, SafeGap
from surefoot.problem import Problem
from surefoot.problem.norms import refuse_inexact
from surefoot.sets import mixtures
from surefoot.sets.protocol import ConfidenceSet
from surefoot.sets.thresholds import Threshold, threshold

SLACK = 0.1  # u of the lazy threshold: its authors' choice
NEARLY = 0.999  # of the least eigenvalue of the spanning pulls, so that rounding does not hold it back
MOST_ARMS = 4096  # of a method that looks at all pairs
PROVED, UNPROVED = True, False


IN_ADVANCE = (
    "the pulls were fixed in advance: exactly those that were asked for, at the level asked for, and no result of "
    "one's own"
)
BY_PHASE = (
    "in a phase no pull was chosen by results of the same phase: exactly those that were asked for, at the level asked "
    "for, one at a time or in batches that end with the phase, and no result of one's own"
)


class Stop(NamedTuple):
    """A stopping rule: whether somebody has proved it, whether by a norm, how its sets are made, and what the proof
    needs of the pulls, where it is not for any."""

    proved: bool
    norms: bool
    sets: Callable[[Problem], "Stopping"]
    needs: tuple[str, ...] = ()


class Stopping(NamedTuple):
    """What a plan takes from its stopping rule."""

    grams: Grams  # with the arms in the coordinates of these
    sets: ConfidenceSet

    def arms(self, problem: Problem) -> Matrix:
        """The arms at the top of their dials, in these coordinates."""
        X = problem.features if self.grams.features is None else self.grams.features
        return X * ceiling_of(problem)[:, None]

    def pulls(self, problem: Problem) -> Matrix:
        """The same, with zeros in place of arms that cannot be tried."""
        return self.arms(problem) * problem.pullable[:, None]


def stated(stop: Stop, problem: Problem) -> Guarantee:
    """What the stopping rule lets a policy promise."""
    if not stop.proved:
        return no_promise(problem)
    return promise(
        problem, WITHOUT_LIMITS, confidence=1.0 - problem.delta, keeps_limits=False, leans_on_norms=stop.norms,
        needs=stop.needs,
    )  # fmt: skip


def refuse_epsilon(problem: Problem, name: str) -> None:
    """Refuses a tolerance, for a method that has no version with one."""
    if problem.epsilon > 0.0:
        raise InvalidInput(
            "epsilon", problem.epsilon, f"must be 0 for {name}, which looks for the best arm itself",
            "State epsilon = 0, or take lingape or safe-gap, which stop within epsilon of the best.",
        )  # fmt: skip


class OfTheField:
    """What all methods of the field share: they stop by one of several rules, and most know no tolerance."""

    name: ClassVar[str]
    stops: ClassVar[Mapping[str, Stop]]  # by the words of the option
    tolerates: ClassVar[bool] = False  # whether there is a version with an epsilon
    all_pairs: ClassVar[bool] = False  # whether its design looks at all pairs of arms
    stop: str

    def __post_init__(self) -> None:
        check_choice("stop", self.stop, self.stops)

    def guarantee(self, problem: Problem) -> Guarantee:
        """The best arm at full level, or one within epsilon where the method has a tolerance, safe or not, if the
        stopping rule is proved."""
        if not self.tolerates:
            refuse_epsilon(problem, self.name)
        return stated(self.stops[self.stop], problem)

    def stopping(self, problem: Problem) -> Stopping:
        """The sets of the stopping rule."""
        if not self.tolerates:
            refuse_epsilon(problem, self.name)
        if self.all_pairs and problem.size > MOST_ARMS:
            raise InvalidInput(
                "arms", problem.size, f"must be at most {MOST_ARMS:,} for {self.name}, whose design looks at all pairs",
                "Leave arms out, or take lingape or safe-gap.",
            )  # fmt: skip
        return self.stops[self.stop].sets(problem)


# -- ours -------------------------------------------------------------------------------------------------------------


def our_sets(problem: Problem) -> Stopping:
    """SafeGap's sets: the norm-free ellipsoid, cut by aims at whoever might beat the leader.        (C2, C5, C6)"""
    refuse_inexact(problem, "this policy")
    plan = SafeGap().plan(problem)
    return Stopping(plan.grams._replace(features=plan.features), plan.sets)


def by_determinant(problem: Problem) -> Stopping:
    """The ellipsoid (E4), of which the threshold in LinGame's theorem is a bound from above.                 (F7)"""
    grams, sets = radii.sets_for(problem, "determinant", "determinant")
    return Stopping(grams, sets)


# -- as printed -------------------------------------------------------------------------------------------------------


def with_threshold(
    problem: Problem, found: Threshold, prior: float | None = None, even: bool = True
) -> Stopping:  # fmt: skip
    """Plain least squares with this threshold; the prior is that of its determinant, if it has one. Even coordinates
    change no statistic, but a method that looks at eigenvalues is printed in those of the problem."""
    m, d = len(problem.safety), problem.features.shape[1]
    priors = np.array(mixtures.planned_information(problem))
    priors[0] = priors[0] if prior is None else prior
    delta = np.array([problem.delta, *(problem.delta_safety / m for _ in range(m))])
    X = even_arms(problem).arms if even else np.array(problem.features)
    start = START * float(np.square(X).sum(axis=1).max()) / d
    grams = least_squares(1 + m, d, start)._replace(features=X)
    return Stopping(grams, threshold(found, priors, delta, d))


def log_log(problem: Problem) -> Stopping:
    """beta = log((1 + log t) / delta): what the field's experiments stop by. Nobody has proved it.          (F6)"""
    return with_threshold(problem, Threshold(constant=-log(problem.delta), by_loglog=1.0))


def lazy(problem: Problem) -> Stopping:
    """(1 + u) (log(1/delta) + log det(I + V/(u c))/2), once V >= c I.                                       (F8)"""
    Z = problem.features * reach_of(problem)[:, None]
    least = NEARLY * least_eigenvalue(Z[spanning_arms(Z)])
    found = Threshold(constant=-(1.0 + SLACK) * log(problem.delta), by_det=1.0 + SLACK, least=least)
    return with_threshold(problem, found, prior=SLACK * least, even=False)


def lazy_heuristic(problem: Problem) -> Stopping:
    """(1 + u) (log(1/delta) + log(t)/2 + d log(1/u + 1)/2): nobody has proved it.                           (F8)"""
    d, rate = problem.features.shape[1], 1.0 + SLACK
    constant = rate * (-log(problem.delta) + 0.5 * d * log(1.0 / SLACK + 1.0))
    return with_threshold(problem, Threshold(constant=constant, by_log=0.5 * rate), even=False)


def by_counts(problem: Problem) -> Stopping:
    """sum_k 2 log(4 + log n_k) + K C(log(1/delta)/K), by Kaufmann and Koolen.                               (F7)"""
    K = int(problem.pullable.sum())
    constant = K * gaussian_calibration(-log(problem.delta) / K)
    return with_threshold(problem, Threshold(constant=constant, by_counts=1.0))


def fixed_design(problem: Problem) -> Stopping:
    """The radius 2 sqrt(2) R sqrt(log(6 t^2 K^2 / (pi^2 delta))) of pulls that were fixed in advance.       (F9)"""
    constant = max(4.0 * log(6.0 * max(problem.size, 2) ** 2 / (pi**2 * problem.delta)), 0.0)
    return with_threshold(problem, Threshold(constant=constant, by_log=8.0))


def fixed_design_plain(problem: Problem) -> Stopping:
    """The same with the constant that noise of size R needs: R sqrt(2 log(pi^2 t^2 K^2 / (6 delta))).       (F9)"""
    constant = log(pi**2 * problem.size**2 / (6.0 * problem.delta))
    return with_threshold(problem, Threshold(constant=constant, by_log=2.0))


def fixed_design_of_rivals(problem: Problem) -> Stopping:
    """The same for one who knows which arm is best, and asks about its K rivals alone.                     (F16)"""
    return with_threshold(problem, Threshold(constant=log_of_rivals(problem), by_log=2.0))


def log_of_rivals(problem: Problem) -> float:
    """log(pi^2 K/(6 delta)).                                                                               (F16)"""
    return log(pi**2 * problem.size / (6.0 * problem.delta))


LOG_LOG, OURS = Stop(UNPROVED, False, log_log), Stop(PROVED, False, our_sets)
BY_DETERMINANT, BY_COUNTS = Stop(PROVED, True, by_determinant), Stop(PROVED, False, by_counts)
LAZY, LAZY_HEURISTIC = Stop(PROVED, False, lazy), Stop(UNPROVED, False, lazy_heuristic)
FIXED_DESIGN = Stop(PROVED, False, fixed_design, (IN_ADVANCE,))
FIXED_DESIGN_PLAIN = Stop(PROVED, False, fixed_design_plain, (IN_ADVANCE,))
# Where phases alone decide, the sets only tell what is known; Lazy Track-and-Stop's hold for any pulls.        (F10)
BY_PHASES, BY_PHASES_UNPROVED = Stop(PROVED, False, lazy, (BY_PHASE,)), Stop(UNPROVED, False, lazy)


def gaussian_calibration(x: float) -> float:
    """C(x) = min over 1/2 < l <= 1 of (g(l) + x)/l, g(l) = 2 l - 2 l log(4 l) + log zeta(2 l) - log(1 - l)/2.  (F7)"""
    from scipy.optimize import minimize_scalar
    from scipy.special import zeta

    def at(share: float) -> float:
        g = 2 * share - 2 * share * log(4 * share) + log(zeta(2 * share)) - 0.5 * log(1 - share)
        return float((g + x) / share)

    return at(float(minimize_scalar(at, bounds=(0.5 + 1e-9, 1.0 - 1e-12), method="bounded").x))


# -- pulls that span --------------------------------------------------------------------------------------------------


def spanning_arms(Z: Matrix) -> Indices:
    """d arms that span: in turn the one with the largest part outside the span of those before."""
    rest: Matrix = Z.astype(np.float64)
    chosen = np.zeros(Z.shape[1], np.int64)
    for a in range(Z.shape[1]):
        chosen[a] = int(np.argmax((rest * rest).sum(axis=1)))
        axis: Vector = rest[chosen[a]] / sqrt(float(rest[chosen[a]] @ rest[chosen[a]]))
        rest = rest - np.outer(rest @ axis, axis)
    return chosen


def least_eigenvalue(Z: Matrix) -> float:
    """The least eigenvalue of sum z z^T."""
    return float(np.linalg.eigvalsh(Z.T @ Z)[0])
