"""Phases: pulls that are fixed when a phase begins, and arms that drop out when it ends.                    (F10)

What was known before a phase plays no part in it: the sums of the estimate are kept as they were when it began, and
the phase is judged by plain least squares on what came since. A decision may be asked for more than once in a round. A
phase turns when its pulls are there, and then its successor lacks some, so asking again changes nothing.
"""

from math import inf, sqrt
from typing import Any, NamedTuple

import numpy as np

from surefoot.core.estimate import Estimate
from surefoot.core.kernel import kernel, rare, thin
from surefoot.core.linear import add_information, cholesky, dot, fill_diagonal, forward_solve, transposed_solve
from surefoot.core.match import LEAST_SHARE
from surefoot.core.parts import ball_of, bound_leads
from surefoot.core.phase_design import FEWEST
from surefoot.core.race import find_leader, find_race, verdict
from surefoot.core.state import State, Work
from surefoot.core.tracking import ONCE
from surefoot.core.types import CERTIFIED, DECIDING, EXPLORING, NULL, PULL, Decision, Indices, Instance, Matrix, Vector

LONGEST = 1e15  # pulls of a phase: more than anybody waits for, and still a whole number


class Phases(NamedTuple):
    """The phase that runs, who is still in, and how the last one ended."""

    number: Indices  # (1,) of the phase that runs; 0 before the first
    alive: Indices  # (K,) 1 until somebody has beaten the arm
    planned: Vector  # (K,) pulls of the phase
    N: Vector  # (K,) information before it
    M: Vector  # (K,) sums of the reward before it
    values: Vector  # (K,) of the arms at full level, by the phase that ended last
    images: Matrix  # (K, d) of the arms, whose distances are those in the inverse information of that phase
    leader: Indices  # (1,) the best of it
    challenger: Indices  # (1,) who might beat the leader by most
    gap: Vector  # (1,) by how much at most
    information: Vector  # (K,) room
    C: Matrix  # (d, d) room
    b: Vector  # (d,) room
    weights: Vector  # (d,) room


def new_phases(K: int, d: int) -> Phases:
    """Memory for K arms in d dimensions."""
    return Phases(
        np.zeros(1, np.int64), np.zeros(K, np.int64), np.zeros(K), np.zeros(K), np.zeros(K), np.zeros(K),
        np.zeros((K, d)), np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(1), np.zeros(K), np.zeros((d, d)),
        np.zeros(d), np.zeros(d),
    )  # fmt: skip


@kernel
def begin_phases(inst: Instance, own: Any) -> None:
    """Everybody is in, and nothing is known, for a policy whose own memory has phases."""
    for k in range(len(own.phases.alive)):
        own.phases.alive[k] = 1
    own.phases.leader[0], own.phases.challenger[0], own.phases.gap[0] = NULL, NULL, inf


# -- who is left ------------------------------------------------------------------------------------------------------


@kernel
def left(phases: Phases) -> int:
    """How many arms are still in."""
    total = 0
    for k in range(len(phases.alive)):
        total += int(phases.alive[k])
    return total


@rare
def settle(inst: Instance, estimate: Estimate, phases: Phases, reach: Vector) -> bool:
    """The values of the arms by this phase's pulls alone, and their images; False if the numbers broke down.  (F10)"""
    K, d = inst.X.shape
    total = 0.0
    for k in range(K):
        phases.information[k] = max(estimate.N[k] - phases.N[k], 0.0)
        total += phases.information[k] / (reach[k] * reach[k]) if reach[k] > 0.0 else 0.0
    for k in range(K):  # directions that the phase left out stay unknown, and nothing is divided by zero
        phases.information[k] += LEAST_SHARE / K * total * reach[k] * reach[k]
    fill_diagonal(phases.C, 0.0)
    add_information(inst.X, phases.information, phases.C)
    if not cholesky(phases.C, 0.0):
        return False
    for a in range(d):
        phases.b[a] = 0.0
        for k in range(K):
            phases.b[a] += (estimate.M[0, k] - phases.M[k]) * inst.X[k, a]
    forward_solve(phases.C, phases.b, phases.weights)
    transposed_solve(phases.C, phases.weights, phases.b)
    for k in range(K):
        phases.values[k] = inst.dial.ceiling[k] * dot(inst.X[k], phases.b)
        forward_solve(phases.C, inst.X[k], phases.images[k])
        for a in range(d):
            phases.images[k, a] *= inst.dial.ceiling[k]
    return True


@kernel
def distance(images: Matrix, i: int, j: int) -> float:
    """|z_i - z_j|^2 where the images are those of the arms."""
    total = 0.0
    for a in range(images.shape[1]):
        total += (images[i, a] - images[j, a]) ** 2
    return total


@kernel
def widest(phases: Phases) -> float:
    """The largest |z_i - z_j|^2 between two arms that are still in, by the phase that ended last."""
    most = 0.0
    for i in range(len(phases.alive)):
        for j in range(i):
            if phases.alive[i] == 1 and phases.alive[j] == 1:
                most = max(most, distance(phases.images, i, j))
    return most


@rare
def drop(phases: Phases, radius: float, wide: float) -> None:
    """Takes out every arm that another one beats by radius |z_i - z_j| + wide, and finds the best of the rest. (F10)"""
    K, values = len(phases.alive), phases.values
    for j in range(K):
        for i in range(K):
            if i != j and phases.alive[i] == 1 and phases.alive[j] == 1:
                lead = values[i] - values[j] - radius * sqrt(distance(phases.images, i, j)) - wide
                if lead >= 0.0 and (values[i] > values[j] or i < j):  # of equal arms the first stays
                    phases.alive[j] = 0
    best = NULL
    for k in range(K):
        if phases.alive[k] == 1 and (best == NULL or values[k] > values[best]):
            best = k
    phases.leader[0], phases.challenger[0], phases.gap[0] = best, NULL, 0.0
    for k in range(K):
        if k != best and phases.alive[k] == 1:
            lead = values[k] - values[best] + radius * sqrt(distance(phases.images, k, best)) + wide
            if phases.challenger[0] == NULL or lead > phases.gap[0]:
                phases.challenger[0], phases.gap[0] = k, lead


@kernel
def is_last(phases: Phases, alone: bool) -> bool:
    """Whether no phase is to come: one arm is left, and phases alone decide. It then leads."""
    if left(phases) > 1:
        return False
    for k in range(len(phases.alive)):
        if phases.alive[k] == 1:
            phases.leader[0], phases.challenger[0], phases.gap[0] = k, NULL, 0.0
    return alone


# -- pulls ------------------------------------------------------------------------------------------------------------


@rare
def open_phase(estimate: Estimate, phases: Phases, shares: Vector, pulls: float) -> None:
    """The next phase, with so many pulls, rounded to the shares by Pukelsheim's efficient apportionment.      (F10)"""
    phases.number[0] += 1
    K, support, whole = len(shares), 0, 0.0
    for k in range(K):
        support += 1 if shares[k] > FEWEST else 0
        whole += shares[k] if shares[k] > FEWEST else 0.0
    pulls, total = max(pulls, float(support)), 0.0
    for k in range(K):
        phases.N[k], phases.M[k] = estimate.N[k], estimate.M[0, k]
        due = (pulls - 0.5 * support) * shares[k] / whole
        phases.planned[k] = upwards(due) if shares[k] > FEWEST else 0.0
        total += phases.planned[k]
    while total != pulls:
        best = NULL
        for k in range(K):
            if shares[k] > FEWEST and (best == NULL or fits_better(phases, shares, k, best, total < pulls)):
                best = k
        step = 1.0 if total < pulls else -1.0
        phases.planned[best] += step
        total += step


@thin
def upwards(x: float) -> float:
    """The least whole number that is not below, 1 at least and no more than anybody waits for."""
    whole = float(int(min(x, LONGEST)))
    return max(whole if whole >= min(x, LONGEST) else whole + 1.0, 1.0)


@thin
def fits_better(phases: Phases, shares: Vector, k: int, best: int, more: bool) -> bool:
    """Whether a pull more, or one less, suits arm k better than the other."""
    if more:
        return bool(phases.planned[k] * shares[best] < phases.planned[best] * shares[k])
    return bool((phases.planned[k] - 1.0) * shares[best] > (phases.planned[best] - 1.0) * shares[k])


@kernel
def planned_pulls(phases: Phases) -> float:
    """How many pulls the phase has."""
    total = 0.0
    for k in range(len(phases.planned)):
        total += phases.planned[k]
    return total


@kernel
def next_arm(estimate: Estimate, phases: Phases, reach: Vector) -> int:
    """The arm with the smallest part of its planned pulls; NULL when all are there."""
    best, least = NULL, inf
    for k in range(len(reach)):
        if phases.planned[k] > 0.0:
            done = (estimate.N[k] - phases.N[k]) / (reach[k] * reach[k] * phases.planned[k])
            if done < ONCE and done < least:
                best, least = k, done
    return best


@kernel
def turns(estimate: Estimate, phases: Phases, reach: Vector, alone: bool) -> bool:
    """Whether a phase is over, and another is to come. Where phases alone decide, none comes after the last."""
    if alone and phases.leader[0] != NULL and phases.challenger[0] == NULL:
        return False
    return next_arm(estimate, phases, reach) == NULL


@kernel
def in_phase(inst: Instance, state: State, work: Work, phases: Phases, alone: bool) -> Decision:
    """The pull of this phase; the end when one arm is left or, where phases do not decide, by the sets.  (F10, G3)"""
    k = max(next_arm(state.estimate, phases, work.reach), 0)
    level, i = work.reach[k], phases.leader[0]
    if alone:
        if i == NULL:
            return Decision(PULL, EXPLORING, k, level, NULL, 0.0, NULL, inf)
        status = CERTIFIED if phases.challenger[0] == NULL else PULL
        return Decision(status, DECIDING, k, level, i, inst.dial.ceiling[i], phases.challenger[0], phases.gap[0])
    if not ball_of(inst, state, 0).radius < inf:  # the pulls do not span yet
        return Decision(PULL, EXPLORING, k, level, NULL, 0.0, NULL, inf)
    first, level_i = find_leader(state, work, False)  # (G1)
    bound_leads(inst, state, work, first, level_i, False)
    race = find_race(state, work, first, level_i, False, False)  # (G2)
    status = verdict(inst, state, race, True)  # (G3)
    return Decision(status, DECIDING, k, level, race.leader, race.leader_level, race.challenger, race.gap)
