"""SafeGap: the whole promise (b) with as few pulls as we know how; the policy for whoever names none.

start     d pulls at known levels that span                                      (S0)
sets      norm-free ellipsoids, cut by mixtures aimed at each question           (C2, C5, C6)
levels    certified for pulling, optimistic for competing; the best ever seen    (S1-S4)
leader    the best certified pull by theta_hat, or doing nothing                 (G1)
rival     whoever might beat it by most at the optimistic level: another arm,
          the null pull, or the leader itself while its own level is unlearned   (G2)
stop      when that is at most epsilon                                           (G3)
pull      what narrows the gap most, by reward and by levels together            (G7)

No bound on the weights is in any of its sets: norms or largest effects, where stated, only tune. delta pays for
the reward and for the optimistic levels, so the promise holds with probability 1 - delta and does not lean on
delta_safety, which pays for the certified levels alone. Without limits no level has to be learned, and all of delta
pays for the reward.                                                                                            (P1)

Noise of unknown size costs no share of its own: it is learned within the event of every ellipsoid and of every aim, so
what pays for the set pays for the size too (C8).
"""

from dataclasses import dataclass
from math import inf
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from surefoot.core.coordinates import information
from surefoot.core.grams import least_squares
from surefoot.core.kernel import kernel, rare
from surefoot.core.levels import DYNAMIC_MAX, certify, reachable
from surefoot.core.parts import ball_of, bound_leads, bound_safety
from surefoot.core.pulls import decisive_pull, spanning_pull
from surefoot.core.race import Race, find_leader, find_race_with_ties, verdict
from surefoot.core.state import State, Work
from surefoot.core.types import BREAKDOWN, DECIDING, EXPLORING, NULL, PULL, Decision, Instance, Matrix, Nothing, Tensor
from surefoot.errors import InvalidInput
from surefoot.policies.guarantee import WITHIN_EPSILON, Guarantee, promise
from surefoot.policies.leaning import even_arms
from surefoot.policies.options import check_choice, option
from surefoot.policies.protocol import Plan
from surefoot.problem import Problem
from surefoot.problem.checks import some_rows
from surefoot.problem.norms import is_nearly_linear, noise_laws, noise_sizes
from surefoot.problem.span import triangle_of
from surefoot.sets import directional, mixtures, norm_free
from surefoot.sets.boundaries import Boundary
from surefoot.sets.unknown_noise import mixture_for

# Shares of delta: (reward ellipsoid) + (optimistic levels) + (the rest, for the aim at the truly best arm).
REWARD_ELLIPSOID, OPTIMISTIC_LEVELS = 0.05, 0.1
FAR_SHARE = 0.1  # of an aim's error, for differences much larger than epsilon
# Share of delta_safety, and of what is set aside for optimistic levels, that goes to the safety ellipsoids.
SAFETY_ELLIPSOID = 0.2
CONTRADICTION = 0.1  # of delta_safety, beside it: how often true statements may be called contradicted
REWARD_PRIOR, SAFETY_PRIOR, FAR_PRIOR = 1.0, 0.3, 0.03  # information of the mixtures, as shares of what is planned (C7)
PLAINLY_KNOWN = 1e-9  # a share that squares show well enough
LEAST_KNOWN = 1e-11  # the least share that a direction has in the known pulls; core.estimate sees 1e-12
START = 1e-6  # the regularisation until the pulls span, beside the squared length of an arm at a known level


Opening = Literal["late", "at-once"]
WITHIN = 10.0  # see directional.is_close: a tenth is a hundredth of the pulls
Coordinates = Literal["rounded", "by-entries"]
OPENINGS, ROUNDINGS = ("late", "at-once"), ("rounded", "by-entries")


class Rules(NamedTuple):
    """Nothing that a decision reads is optional; compiled code cannot take an empty tuple."""

    null_pull: bool


@kernel
def decide(inst: Instance, rules: Rules, state: State, work: Work, seed: int, run: int) -> Decision:
    """The pull of round t + 1, or the decision to stop."""
    status, phase, race = contest(inst, state, work, rules.null_pull)
    if phase == EXPLORING:
        return exploring(inst, state, work)
    k, level = 0, 0.0
    if status == PULL:
        reachable(inst.dial, state.levels, work.reach)  # (S4)
        k = decisive_pull(inst, state, work, race)  # (G7)
        level = work.reach[k]
    return Decision(status, phase, k, level, race.leader, race.leader_level, race.challenger, race.gap)


@kernel
def contest(inst: Instance, state: State, work: Work, null_pull: bool) -> tuple[int, int, Race]:
    """Whether to go on, whether anything can be said of the race yet (DECIDING) or not (EXPLORING), and the race.

    What it certifies does not depend on which certified pulls were made: whoever chooses them otherwise may stop by it.
    """
    bound_safety(inst, state, work)  # (S1)
    sets_agree = certify(inst, state.levels, work.bounds, DYNAMIC_MAX, True)  # (S2, S3)
    if state.estimate.spanned[inst.gram_of[0]] == 0:  # only the known levels are certified
        return PULL, EXPLORING, Race(NULL, 0.0, NULL, 0.0, inf)
    i, level_i = find_leader(state, work, null_pull)  # (G1)
    bound_leads(inst, state, work, i, level_i, True)
    race = find_race_with_ties(state, work, i, level_i, True, null_pull, inst.ties)  # (G2)
    status = verdict(inst, state, race, sets_agree)  # (G3)
    if status == BREAKDOWN and ball_of(inst, state, 0).radius == inf:  # no digits are lost: the noise is not known yet
        return PULL, EXPLORING, race
    return status, DECIDING, race


@rare
def exploring(inst: Instance, state: State, work: Work) -> Decision:
    """The pull that makes most known of where the least is, while nothing can be said of the race.              (S0)"""
    reachable(inst.dial, state.levels, work.reach)
    k = spanning_pull(inst, state, work)
    return Decision(PULL, EXPLORING, k, work.reach[k], NULL, 0.0, NULL, inf)


@dataclass(frozen=True)
class SafeGap:
    """No pull above the certified level; stops when the answer is within epsilon of the best safe option."""

    name: ClassVar[str] = "safe-gap"
    options_of: ClassVar[dict[int, dict[str, str]]] = {  # what earlier versions decided by
        2: {"opening": "at-once"}, 3: {"coordinates": "by-entries"},
    }  # fmt: skip
    opening: Opening = option(
        "late", "When a question gets its own set: late, when it comes up, or at-once, as in version 2.", OPENINGS,
        quiet=True,
    )  # fmt: skip

    coordinates: Coordinates = option(
        "rounded", "How coordinates are rounded: as one map, or by-entries, as in version 3 and before.", ROUNDINGS,
        quiet=True,
    )  # fmt: skip

    def __post_init__(self) -> None:
        check_choice("opening", self.opening, OPENINGS)
        check_choice("coordinates", self.coordinates, ROUNDINGS)

    @property
    def version(self) -> int:
        """The rules that decide: those of versions 2 and 3 are kept, for studies that began with them."""
        if self.opening != "late":
            return 2
        return 4 if self.coordinates == "rounded" else 3

    def guarantee(self, problem: Problem) -> Guarantee:
        """The whole promise (b), out of delta alone."""
        return promise(problem, WITHIN_EPSILON, confidence=1.0 - problem.delta, leans_on_norms=False, learns_noise=True,
                       bears_error=True)  # fmt: skip

    def plan(self, problem: Problem) -> Plan:
        """Directional sets, with SafeGap's split of delta and delta_safety."""
        (K, d), m = problem.features.shape, len(problem.safety)
        features = even_arms(problem, by_entries=self.version < 4).arms
        check_known_levels(problem, features)
        reward = spent_on(problem) * REWARD_ELLIPSOID
        limits = [] if m == 0 else [problem.delta_safety / m]
        levels = [] if m == 0 else [problem.delta * OPTIMISTIC_LEVELS / m]
        low = np.array([reward, *(each * SAFETY_ELLIPSOID for each in limits * m)])
        high = np.array([reward, *(each * SAFETY_ELLIPSOID for each in levels * m)])
        most = np.array([reward, *(each * CONTRADICTION for each in limits * m)])
        prior = np.array([REWARD_PRIOR] + [SAFETY_PRIOR] * m) * np.array(mixtures.planned_information(problem))
        unknown = any(law.unknown for law in noise_laws(problem))
        mixture = mixture_for(problem) if unknown else Nothing()
        ball = norm_free.Params(prior, -np.log(low), -np.log(high), -np.log(most), mixture)
        near, far = reward_boundaries(problem)
        switch = mixtures.crossing(near, far, float(noise_sizes(problem)[0]))
        at_once = self.opening == "at-once"
        params = directional.Params(
            ball,
            np.array([near, far]),
            *safety_boundaries(problem, at_once),
            switch,
            WITHIN,
            mixtures.finest_difference(problem),
            at_once,
        )
        grams = least_squares(1 + m, d, START * float(problem.safe_level.min()) ** 2)
        sets = directional.directional(params, K, d, m, nearly=is_nearly_linear(problem))
        return Plan(decide, Rules(null_pull=True), grams, sets, features=features, candidates=True)


def spent_on(problem: Problem) -> float:
    """That of which the reward gets its shares: delta, and without limits so much that they add up to delta.  (P1)"""
    return problem.delta if problem.safety else problem.delta / (1.0 - OPTIMISTIC_LEVELS)


def check_known_levels(problem: Problem, features: Matrix) -> None:
    """Refuses known levels at which the arms cannot make all directions known, in the digits that numbers have."""
    at = problem.safe_level * problem.pullable  # where pulls begin
    least, *_ = known = np.linalg.eigvalsh(information(features, at**2))
    if least > PLAINLY_KNOWN * known.sum():
        return
    pulls = zip(some_rows(features), some_rows(at), strict=True)
    sizes = np.linalg.svd(triangle_of(rows * levels[:, None] for rows, levels in pulls), compute_uv=False)
    if sizes[-1] ** 2 <= LEAST_KNOWN * (sizes**2).sum():
        k = int(np.where(problem.pullable, problem.safe_level, inf).argmin())
        reason = "is so small, or so far below the others, that pulls at the known levels teach too little"
        remedy = f"Raise it to more than about {1e-5 * float(problem.safe_level.max()):.0e}, or leave the arm out."
        raise InvalidInput(f"safe_level of arm {problem.names[k]!r}", problem.safe_level[k], reason, remedy)


def safety_boundaries(problem: Problem, at_once: bool) -> tuple[Matrix, Tensor]:
    """The boundaries of the aims at safety from above, (m, 3), and from below, (m, room, 3), in the order of opening.

    Only the best arm's optimistic level must hold, but any arm may be pulled too high. So from below the error is split
    over the arms: evenly, or the n-th to be opened gets the share 1/(n H), H the sum of 1/n.
    """
    m, information = len(problem.safety), mixtures.planned_information(problem)
    levels, certified = problem.delta * OPTIMISTIC_LEVELS / max(m, 1), problem.delta_safety / max(m, 1)
    room = problem.size if at_once else min(problem.size, directional.MOST_OPEN)
    order = np.full(room, float(room)) if at_once else np.arange(1.0, room + 1.0)
    shares = 1.0 / (order * (1.0 / order).sum())
    high, low = np.ones((m, 3)), np.ones((m, room, 3))
    for s, R in enumerate(noise_sizes(problem)[1:].tolist()):
        high[s] = mixtures.half_normal(levels * (1.0 - SAFETY_ELLIPSOID), R, information[1 + s])
        for n in range(room):
            too_high = certified * (1.0 - SAFETY_ELLIPSOID) * shares[n]
            low[s, n] = mixtures.half_normal(too_high, R, information[1 + s])
    return high, low


def reward_boundaries(problem: Problem) -> tuple[Boundary, Boundary]:
    """NEAR, for differences of a few epsilon, and FAR, for larger ones.                                     (C7)"""
    alpha = spent_on(problem) * (1.0 - REWARD_ELLIPSOID - OPTIMISTIC_LEVELS)
    R, epsilon = float(noise_sizes(problem)[0]), mixtures.finest_difference(problem)
    near = mixtures.boundary(alpha * (1.0 - FAR_SHARE), R, centre=2.0 * epsilon / R**2, spread=epsilon / R**2)
    planned = mixtures.planned_information(problem)[0]
    return near, mixtures.half_normal(alpha * FAR_SHARE, R, FAR_PRIOR * planned)
