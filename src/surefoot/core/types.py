"""What the core computes with: plain tuples of numbers and arrays, readable by interpreter and compiler alike.

Letters are the paper's: K arms, d dimensions, n = 1 + m signals of which signal 0 is the reward and 1..m are safety.
A Gram matrix is kept for each different regularisation; with one lambda for all signals there is one.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Tensor = NDArray[np.float64]
Indices = NDArray[np.int64]
Words = NDArray[np.uint64]

DETERMINANT, NORM, SQUARED_SUM, MIXTURE, OWN_PULLS = 0, 1, 2, 3, 4  # confidence sets (E4), (E3), (C1), (C2), (C4)
PULL, CERTIFIED, UNDECIDED, CONTRADICTION, BREAKDOWN = 0, 1, 2, 3, 4  # what a decision says
EXPLORING, DECIDING = 0, 1  # phases
NULL = -1  # "do nothing": the arm of the null pull
ROUND, SINCE_REFRESH, PHASE, FROZEN, CONTRADICTED, LEADER, CHALLENGER = 0, 1, 2, 3, 4, 5, 6  # entries of State.clock
NEAR, FAR = 0, 1  # boundaries of the reward's aims; signal s has LOW at 2 s and HIGH at 2 s + 1


class Instance(NamedTuple):
    """A problem as numbers, together with the confidence that a policy asks for."""

    X: Matrix  # (K, d) arms
    L: float  # largest norm of an arm
    lam: Vector  # (g,) regularisation of each Gram matrix
    rate: Vector  # (g,) L^2 / lambda, by which (E3) grows
    gram_of: Indices  # (n,) the Gram matrix that signal s is estimated with
    R: Vector  # (n,) sub-Gaussian size of the noise
    D: Vector  # (n,) bound on the norm of the unknown weights
    bias: Vector  # (n,) sqrt(lambda) D, what regularisation can hide
    log_inv_delta: Vector  # (n,) log(1/delta) of each signal's confidence set, as far as it bounds from below
    log_inv_delta_high: Vector  # (n,) the same as far as it bounds from above; equal where one set does both
    radius: Indices  # (n,) which confidence set: DETERMINANT, NORM, ...
    any_norm: bool  # whether one of them is NORM
    eta0: Vector  # (m,) safety limits, all negative
    gamma0: Vector  # (K,) levels known to be safe
    ceiling: Vector  # (K,) highest level the dial allows
    grid: Vector  # the levels of a discrete dial, ascending; empty for a continuous one
    step: float  # largest increase of an arm's level between its pulls; infinite when free
    epsilon: float
    prior: Vector  # (n,) information c of the prior in the bias-free set (C2)
    boundary: Matrix  # (2 n, 3) rho, constant and offset of each boundary (C3)
    switch: float  # information above which the reward's aims use NEAR and not FAR
    aims: int  # number of aims (C5): 1 + K + m K, or 0 for a policy that has none


class State(NamedTuple):
    """All that has been learned. The first three are sufficient: the rest can be rebuilt from them (`refresh`)."""

    N: Vector  # (K,) sum of gamma^2 over the arm's pulls
    M: Matrix  # (n, K) sum of gamma * observation over the arm's pulls
    pulls: Indices  # (K,) number of pulls
    last: Vector  # (K,) level last applied to the arm, gamma0 before its first pull
    G: Tensor  # (g, K, K) X A^-1 X^T
    v: Matrix  # (g, K) its diagonal
    est: Matrix  # (n, K) estimates x_k . theta_hat and x_k . mu_hat
    log_det: Vector  # (g,) log det(A) - d log(lambda), for (E4)
    growth: Vector  # (g,) log(1 + t L^2 / lambda), for (E3)
    low: Vector  # (K,) certified level g-
    high: Vector  # (K,) optimistic level g+, where the selection asks for it
    low_of: Matrix  # (m, K) pessimistic level by each limit (its running maximum, where asked for); 0 before
    high_of: Matrix  # (m, K) running minimum of the optimistic level by each limit, where asked for
    basis: Indices  # (d,) arms of the last optimal basis of (G5)
    inverse: Matrix  # (d, d) inverse of that basis
    aim: Matrix  # (aims, K) x_k . A^-1 q of each aim, its weights regressed on the pulls (C5)
    aim_sum: Matrix  # (K, aims) sum of gamma * weight over the arm's pulls, from which q follows
    aim_information: Vector  # (aims,) sum of squared weights
    aim_fit: Vector  # (aims,) |q|^2 in A^-1
    aim_value: Vector  # (aims,) sum of weight * observation
    aim_rest: Vector  # (aims,) that sum less q . estimate: what the estimate does not explain
    clock: Indices  # (7,) round, rounds since refresh, phase, whether levels are frozen, whether the data contradict,
    # leader and challenger of the last decision


class Work(NamedTuple):
    """Buffers that a round writes into, so that nothing is allocated."""

    lower: Matrix  # (m, K) lower bounds of the safety signals at full level, this round
    upper: Matrix  # (m, K) upper bounds
    lead: Vector  # (K + 1,) the most by which each arm, and last the null pull, might beat the leader
    reach: Vector  # (K,) levels that may be applied now
    column: Vector  # (K,)
    weights: Vector  # (K,)
    A: Matrix  # (d, d)
    W: Matrix  # (K, d)
    y: Vector  # (d,)
    u: Vector  # (d,)
    h: Vector  # (d,)
    signs: Vector  # (d,)
    cut: Indices  # (K + 1,) whether the lead was cut by its aim
    least: Matrix  # (n, K) least-squares estimates without regularisation, where a set asks for them
    P: Matrix  # (K, d) X V^-1, for them
    weight: Vector  # (aims,) weights of the aims in the pull that is being absorbed
    observed: Vector  # (n,)
    words: Words  # (4,) random words of nature's noise
    block: Indices  # (1,) which block of the stream they are
    draw: Words  # (4,) random words of exploration


class Decision(NamedTuple):
    """The next pull or the end, with its reasons."""

    status: int
    phase: int
    arm: int  # to pull
    level: float
    leader: int  # NULL for the null pull
    leader_level: float
    challenger: int
    gap: float  # B(t)


class Truth(NamedTuple):
    """What only nature knows; the policies never see it."""

    value: Matrix  # (n, K) x_k . theta* in row 0, x_k . mu* of each limit below
    scale: Vector  # (n,) size of the noise
    noise: int  # 0 Gaussian, 1 uniform, 2 Rademacher
    eta0: Vector  # (m,)


class Records(NamedTuple):
    """What is kept of each simulated run; one row a run."""

    status: Indices  # (runs,) CERTIFIED, UNDECIDED, ...; PULL for a run that was not finished
    pulls: Indices  # (runs,)
    arm: Indices  # (runs,) recommended, NULL for none
    level: Vector  # (runs,)
    gap: Vector  # (runs,) B(t) at the end
    unsafe: Indices  # (runs,) pulls that truly crossed a limit
    first_unsafe: Indices  # (runs,) number of the first of them, 0 for none
    pulls_per_arm: Indices  # (runs, K)
    levels: Matrix  # (runs, K) certified levels at the end


def new_records(runs: int, K: int) -> Records:
    """Empty records for so many runs."""

    def whole(*shape: int) -> Indices:
        return np.zeros(shape, np.int64)

    def real(*shape: int) -> Vector:
        return np.zeros(shape)

    return Records(
        status=whole(runs),
        pulls=whole(runs),
        arm=whole(runs),
        level=real(runs),
        gap=real(runs),
        unsafe=whole(runs),
        first_unsafe=whole(runs),
        pulls_per_arm=whole(runs, K),
        levels=real(runs, K),
    )


def new_state(inst: Instance) -> State:
    """An empty State; `begin` fills it in."""
    (K, d), n, m, g = inst.X.shape, len(inst.R), len(inst.eta0), len(inst.lam)
    return State(
        N=np.zeros(K),
        M=np.zeros((n, K)),
        pulls=np.zeros(K, np.int64),
        last=np.zeros(K),
        G=np.zeros((g, K, K)),
        v=np.zeros((g, K)),
        est=np.zeros((n, K)),
        log_det=np.zeros(g),
        growth=np.zeros(g),
        low=np.zeros(K),
        high=np.zeros(K),
        low_of=np.zeros((m, K)),
        high_of=np.zeros((m, K)),
        basis=np.zeros(d, np.int64),
        inverse=np.zeros((d, d)),
        aim=np.zeros((inst.aims, K)),
        aim_sum=np.zeros((K, inst.aims)),
        aim_information=np.zeros(inst.aims),
        aim_fit=np.zeros(inst.aims),
        aim_value=np.zeros(inst.aims),
        aim_rest=np.zeros(inst.aims),
        clock=np.zeros(7, np.int64),
    )


def new_work(inst: Instance) -> Work:
    """Buffers of the right sizes."""
    (K, d), n, m = inst.X.shape, len(inst.R), len(inst.eta0)
    return Work(
        lower=np.zeros((m, K)),
        upper=np.zeros((m, K)),
        lead=np.zeros(K + 1),
        reach=np.zeros(K),
        column=np.zeros(K),
        weights=np.zeros(K),
        A=np.zeros((d, d)),
        W=np.zeros((K, d)),
        y=np.zeros(d),
        u=np.zeros(d),
        h=np.zeros(d),
        signs=np.zeros(d),
        cut=np.zeros(K + 1, np.int64),
        least=np.zeros((n, K)),
        P=np.zeros((K, d)),
        weight=np.zeros(inst.aims),
        observed=np.zeros(n),
        words=np.zeros(4, np.uint64),
        block=np.full(1, -1, np.int64),
        draw=np.zeros(4, np.uint64),
    )
