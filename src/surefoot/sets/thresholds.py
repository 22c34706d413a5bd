"""Thresholds of the field's stopping rules, as sets: a rule that stops when Z_t >= beta(t) is one with a radius.  (F5)

Z_t = min over rivals j of gap_j^2 / (2 R^2 |x_i - x_j|^2) in V^-1 passes beta exactly when no rival's lead over i,
bounded with the radius R sqrt(2 beta), is above zero. So a threshold bounds leads as every other set does, with an
epsilon-version for nothing. Whether one holds the truth is another question: see `policies.stopping`.

Limits are bounded by the norm-free ellipsoid (C2), whatever the threshold: it is what margins are told by.
"""

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from surefoot.core.estimate import arm_width
from surefoot.core.kernel import kernel, rare, thin
from surefoot.core.levels import can_be_tried
from surefoot.core.linear import add_information, cholesky, fill_diagonal
from surefoot.core.logarithm import log
from surefoot.core.state import Bounds, Scratch, State
from surefoot.core.types import ROUND, Ball, Instance, Vector
from surefoot.sets import norm_free
from surefoot.sets.deviations import LINEAR
from surefoot.sets.ellipsoid import leads_by
from surefoot.sets.norm_free import ball as uncut
from surefoot.sets.norm_free import learn as learn_uncut
from surefoot.sets.norm_free import refresh as refresh_uncut
from surefoot.sets.protocol import ConfidenceSet
from surefoot.sets.sizes import KNOWN_NOISE

NAME, VERSION = "threshold", 1


class Threshold(NamedTuple):
    """beta(t) = constant + by_loglog log(1 + log t) + by_log log t + by_det log det(I + V/prior)/2
    + by_counts sum_k 2 log(4 + log n_k).                                                                    (F5)"""

    constant: float
    by_loglog: float = 0.0
    by_log: float = 0.0
    by_det: float = 0.0
    by_counts: float = 0.0
    least: float = 0.0  # it holds once V >= least I


class Params(NamedTuple):
    """The threshold of the reward, and the ellipsoids of all signals."""

    ball: norm_free.Params
    threshold: Threshold


class Memory(NamedTuple):
    """What grows with the pulls."""

    ball: norm_free.Memory
    holds: Vector  # (1,) whether V >= least I


def threshold(found: Threshold, prior: Vector, delta: Vector, d: int) -> ConfidenceSet:
    """The set with this threshold for the reward; a prior and an error for the ellipsoid of each signal."""
    log_inv_delta = -np.log(delta)
    params = Params(norm_free.Params(prior, log_inv_delta, log_inv_delta, log_inv_delta), found)
    return ConfidenceSet(
        NAME, VERSION, params, Memory(norm_free.memory_for(len(prior), d), np.zeros(1)), bound_safety=bound_safety,
        bound_leads=bound_leads, learn=learn, refresh=refresh, ball=ball, parts={**KNOWN_NOISE, **LINEAR},
    )  # fmt: skip


# -- kernels ----------------------------------------------------------------------------------------------------------


@kernel
def ball(inst: Instance, params: Params, memory: Memory, state: State, s: int) -> Ball:
    """What the threshold makes of the reward; the ellipsoid of a limit.                                 (F5, C2)"""
    found = uncut(inst, params.ball, memory.ball, state, s)
    if s > 0 or not found.radius < inf:
        return found
    R: float = inst.R[0]
    return Ball(0, found.g, R * sqrt(2.0 * beta(inst, params.threshold, memory, state)), inf, 0.0, 0.0)


@kernel
def beta(inst: Instance, found: Threshold, memory: Memory, state: State) -> float:
    """The threshold in this round; infinite while it does not hold yet.                                     (F5)"""
    t = max(float(state.clock[ROUND]), 1.0)
    total = found.constant
    if found.least > 0.0 and memory.holds[0] == 0.0:
        return inf
    if found.by_loglog > 0.0:
        total += found.by_loglog * log(1.0 + log(t))
    if found.by_log > 0.0:
        total += found.by_log * log(t)
    if found.by_det > 0.0:
        total += found.by_det * 0.5 * max(memory.ball.log_det[0], 0.0)
    if found.by_counts > 0.0:
        for k in range(len(state.estimate.N)):
            full = inst.dial.ceiling[k] * inst.dial.ceiling[k]
            counts = found.by_counts if can_be_tried(inst.dial, k) else 0.0
            total += counts * 2.0 * log(4.0 + max(log(max(state.estimate.N[k] / full, 1.0)), 0.0))
    return max(total, 0.0)


@kernel
def bound_safety(inst: Instance, params: Params, memory: Memory, state: State, bounds: Bounds) -> None:
    """The bounds of every safety signal at every arm.                                                   (S1, C2)"""
    for s in range(1, len(inst.R)):
        found, est = uncut(inst, params.ball, memory.ball, state, s), state.estimate.est[s]
        for k in range(len(est)):
            width = arm_width(state.estimate, found, k)
            bounds.lower[s - 1, k], bounds.upper[s - 1, k] = est[k] - width, est[k] + width
            bounds.most[s - 1, k] = est[k] + width


@thin
def bound_leads(
    inst: Instance, params: Params, memory: Memory, state: State, bounds: Bounds, i: int, level_i: float,
    optimistic: bool,
) -> None:  # fmt: skip
    """The most by which each arm might beat the leader, if the threshold held.                          (G2, F5)"""
    leads_by(inst, state, ball(inst, params, memory, state, 0), bounds, i, level_i, optimistic)


@thin
def learn(inst: Instance, params: Params, memory: Memory, state: State, k: int, gamma: float, observed: Vector) -> None:
    """One pull more."""
    learn_uncut(inst, memory.ball, k, gamma)


@rare
def refresh(inst: Instance, params: Params, memory: Memory, state: State, scratch: Scratch, g: int) -> None:
    """The same anew, and whether enough is known for the threshold to hold."""
    refresh_uncut(inst, params.ball, memory.ball, state)
    if params.threshold.least > 0.0 and memory.holds[0] == 0.0:
        fill_diagonal(memory.ball.A, -params.threshold.least)
        add_information(inst.X, state.estimate.N, memory.ball.A)
        memory.holds[0] = 1.0 if cholesky(memory.ball.A, 0.0) else 0.0
