"""Estimation in arm space: what an observation changes.                                                  (E1, E2)

All that a round needs are numbers per arm and G = X A^-1 X^T, of which only the diagonal and single columns are read.
"""

from surefoot.core.confidence import is_possible
from surefoot.core.kernel import kernel, rare
from surefoot.core.linear import cholesky, forward_solve, gram_matrix
from surefoot.core.logarithm import log, log1p
from surefoot.core.types import (
    CHALLENGER,
    CONTRADICTED,
    EXPLORING,
    FROZEN,
    LEADER,
    NULL,
    PHASE,
    ROUND,
    SINCE_REFRESH,
    Instance,
    State,
    Vector,
    Work,
)
from surefoot.sets.directional import begin_aims, refresh_aims, update_aims, weigh_pull

REFRESH_EVERY = 10_000


@rare
def begin(inst: Instance, state: State, work: Work) -> None:
    """The state before the first pull."""
    for k in range(len(state.N)):
        state.N[k] = 0.0
        state.pulls[k] = 0
        state.last[k] = state.low[k] = inst.gamma0[k]
        state.high[k] = inst.ceiling[k]
        for s in range(len(inst.R)):
            state.M[s, k] = 0.0
        for s in range(len(inst.eta0)):
            state.low_of[s, k] = 0.0
            state.high_of[s, k] = 1.0
    state.basis[0] = -1
    state.clock[ROUND] = 0
    state.clock[PHASE] = EXPLORING
    state.clock[FROZEN] = 0
    state.clock[CONTRADICTED] = 0
    state.clock[LEADER] = state.clock[CHALLENGER] = NULL
    begin_aims(state)
    refresh(inst, state, work)


@kernel
def absorb(inst: Instance, state: State, work: Work, k: int, gamma: float, observed: Vector) -> bool:
    """The state after pulling arm k at level gamma; False if the numbers broke down.                    (E1, E2)"""
    t = state.clock[ROUND] + 1
    for g in range(len(inst.lam) if inst.any_norm else 0):  # first, since it waits for nothing
        state.growth[g] += log1p(inst.rate[g] / (1.0 + (t - 1) * inst.rate[g]))
    healthy = True
    K, n = len(state.N), len(inst.R)
    u = work.column
    if inst.aims > 0:  # with what was known before this result
        weigh_pull(inst, state, work, k, gamma)
        update_aims(inst, state, work, k, gamma, observed)
    for g in range(len(inst.lam)):
        gain = gamma * gamma * state.v[g, k]
        weight = gamma / (1.0 + gain)
        for a in range(K):
            u[a] = state.G[g, k, a]
        for s in range(n):
            if inst.gram_of[s] == g:
                change = weight * (observed[s] - gamma * state.est[s, k])
                healthy = healthy and abs(change) < 1e300
                for a in range(K):
                    state.est[s, a] += change * u[a]
        for a in range(K):
            factor = weight * gamma * u[a]
            row = state.G[g, a]
            for b in range(K):
                row[b] -= factor * u[b]
            state.v[g, a] = row[a]
            healthy = healthy and state.v[g, a] >= 0.0
        state.log_det[g] += log1p(gain)
    state.N[k] += gamma * gamma
    for s in range(n):
        state.M[s, k] += gamma * observed[s]
    state.pulls[k] += 1
    state.last[k] = gamma
    state.clock[ROUND] = t
    state.clock[SINCE_REFRESH] += 1
    if state.clock[SINCE_REFRESH] >= REFRESH_EVERY or t & (t - 1) == 0:  # early rounds cancel most: 1, 2, 4, 8, ...
        healthy = refresh(inst, state, work) and healthy
        if not is_possible(inst, state):
            state.clock[CONTRADICTED] = 1
    return healthy


@rare
def refresh(inst: Instance, state: State, work: Work) -> bool:
    """G, the estimates and the aims, anew from the sufficient statistics; False if they broke down.     (E1, E2)"""
    K, d = inst.X.shape
    healthy = True
    for g in range(len(inst.lam)):
        gram_matrix(inst, state, inst.lam[g], work.A)
        healthy = cholesky(work.A, 0.0) and healthy
        state.growth[g] = log(1.0 + state.clock[ROUND] * inst.rate[g])
        state.log_det[g] = -d * log(inst.lam[g])
        for a in range(d):
            state.log_det[g] += 2.0 * log(work.A[a, a])
        for k in range(K):
            forward_solve(work.A, inst.X[k], work.W[k])
        for k in range(K):
            for j in range(k + 1):
                total = 0.0
                for a in range(d):
                    total += work.W[k, a] * work.W[j, a]
                state.G[g, k, j] = total
                state.G[g, j, k] = total
            state.v[g, k] = state.G[g, k, k]
        for s in range(len(inst.R)):
            if inst.gram_of[s] == g:
                for a in range(d):
                    total = 0.0
                    for k in range(K):
                        total += state.M[s, k] * inst.X[k, a]
                    work.y[a] = total
                forward_solve(work.A, work.y, work.u)
                for k in range(K):
                    total = 0.0
                    for a in range(d):
                        total += work.W[k, a] * work.u[a]
                    state.est[s, k] = total
        if inst.aims > 0:
            refresh_aims(inst, state, work, g)
    state.clock[SINCE_REFRESH] = 0
    return healthy
