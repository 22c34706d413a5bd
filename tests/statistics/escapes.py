"""How often the truth leaves the confidence sets, or breaks a bound that a decision rests on, at any round of a run,
while a policy chooses the pulls."""

from typing import Any

import numpy as np

from surefoot.core.compiler import compiled
from surefoot.core.estimate import column
from surefoot.core.kernel import kernel
from surefoot.core.learn import absorb, begin
from surefoot.core.linear import add_information, cholesky, dot, fill_diagonal, forward_solve
from surefoot.core.parts import ball_of, decide, noise_of, respond
from surefoot.core.types import PULL, ROUND
from surefoot.policies.bound import faced, parts_of


@kernel
def squared_error(inst: Any, truth: Any, inverse: Any, state: Any, work: Any, s: int) -> float:
    """|v|^2 in A for v = estimate - truth of signal s.                                                  (E5, C1)

    |v|_A^2 = v^T Lambda v + sum_k N_k (x_k . v)^2, and v = inverse (x_k . v)_k with the pseudo-inverse of the arms.
    """
    K, d = inst.X.shape
    est, N, v, square = state.estimate.est, state.estimate.N, work.scratch.y, 0.0
    for a in range(d):
        v[a] = 0.0
        for k in range(K):
            v[a] += inverse[a, k] * (est[s, k] - truth.value[s, k])
    for a in range(d):
        for b in range(d):
            square += inst.regularization[inst.gram_of[s], a, b] * v[a] * v[b]
    for k in range(K):
        difference = est[s, k] - truth.value[s, k]
        square += N[k] * difference * difference
    return square


@kernel
def squared_error_by_least_squares(inst: Any, truth: Any, state: Any, work: Any, s: int, prior: float) -> float:
    """|v|^2 in B^-1 = V (V + c I)^-1 V for v = estimate - truth of signal s and the prior c.                (C2)

    It is |V v|^2 in (V + c I)^-1, with V v = sum_k N_k (x_k . v) x_k. V + c I is factored here anew, whatever the sets
    remember of it.
    """
    K, d = inst.X.shape
    est, N, image, A, u = state.estimate.est, state.estimate.N, work.scratch.y, work.scratch.A, work.scratch.u
    for a in range(d):
        image[a] = 0.0
        for k in range(K):
            image[a] += N[k] * (est[s, k] - truth.value[s, k]) * inst.X[k, a]
    fill_diagonal(A, prior)
    add_information(inst.X, N, A)
    cholesky(A, 0.0)
    forward_solve(A, image, u)
    return dot(u, u)


def escape_loop(inst, rules, truth, room, inverse, seed, rounds, state, work, escaped):  # type: ignore[no-untyped-def]
    """Fills escaped[run, signal] with 1 where the truth ever left the ellipsoid of that signal, round 0 included."""
    for run in range(len(escaped)):
        begin(inst, state, work)
        for _ in range(rounds + 1):
            for s in range(len(inst.R)):
                ball = ball_of(inst, state, s)
                if ball.radius == np.inf:
                    continue  # nothing is said yet, so nothing can be false
                if ball.prior > 0.0:
                    square = squared_error_by_least_squares(inst, truth, state, work, s, ball.prior)
                else:
                    square = squared_error(inst, truth, inverse, state, work, s)
                if square > ball.radius * ball.radius * (1.0 + 1e-9):
                    escaped[run, s] = 1
            decision = decide(inst, rules, state, work, seed, run)
            if decision.status != PULL:
                break
            respond(truth, room, seed, run, state.clock[ROUND] + 1, decision.arm, decision.level, work.observed)
            absorb(inst, state, work, decision.arm, decision.level, work.observed)


LOWER, UPPER, UPPER_AT_BEST, LEAD, LEAD_OF_BEST = range(5)  # what can be broken


def broken_bound_loop(inst, rules, truth, room, best, seed, rounds, state, work, broken):  # type: ignore[no-untyped-def]
    """Fills broken[run, which] with 1 where a bound was ever false.

    Which: a safety signal's lower or upper bound at some arm, the upper one at the best arm, the lead of some
    candidate, the lead of the best one (K for the null pull).
    """
    for run in range(len(broken)):
        begin(inst, state, work)
        for _ in range(rounds + 1):
            decision = decide(inst, rules, state, work, seed, run)
            mark_broken(inst, truth, state, work, decision, best, broken[run])
            if decision.status != PULL:
                break
            respond(truth, room, seed, run, state.clock[ROUND] + 1, decision.arm, decision.level, work.observed)
            absorb(inst, state, work, decision.arm, decision.level, work.observed)


@kernel
def mark_broken(inst: Any, truth: Any, state: Any, work: Any, decision: Any, best: int, broken: Any) -> None:
    """Marks the bounds of this round that are false; means may be off the law by what is stated, each to its side."""
    K, high, bounds = len(inst.X), state.levels.high, work.bounds
    for s in range(len(inst.eta0)):
        for k in range(K):
            true = truth.value[s + 1, k]
            if bounds.lower[s, k] > true + 1e-9:
                broken[LOWER] = 1
            if bounds.upper[s, k] < true - 1e-9:
                broken[UPPER] = 1
                if k == best:
                    broken[UPPER_AT_BEST] = 1
    i = decision.leader
    value = decision.leader_level * truth.value[0, i] - inst.within[0] if i >= 0 else 0.0
    for j in range(K + 1):
        if (j == K and i < 0) or decision.gap == np.inf:
            continue
        if j == i and not high[j] > decision.leader_level:
            continue  # it takes no part in the race: there is nothing of its own left to gain
        lead = (high[j] * truth.value[0, j] if j < K else 0.0) + inst.within[0] - value
        if bounds.lead[j] < lead - 1e-9:
            broken[LEAD] = 1
            if j == best:
                broken[LEAD_OF_BEST] = 1


def astray_loop(inst, rules, truth, room, how, seed, rounds, state, work, broken):  # type: ignore[no-untyped-def]
    """The same, in a world whose means are off the law by all that is stated, to the side that misleads most.

    how[0] is the best arm. The error of a pull moves the estimate of arm how[1 + s] in signal s up in even runs and
    down in odd ones, as far as it can by what was pulled so far: it depends on arm, level, time and all that was seen.
    """
    for run in range(len(broken)):
        begin(inst, state, work)
        for _ in range(rounds + 1):
            decision = decide(inst, rules, state, work, seed, run)
            mark_broken(inst, truth, state, work, decision, how[0], broken[run])
            if decision.status != PULL:
                break
            respond(truth, room, seed, run, state.clock[ROUND] + 1, decision.arm, decision.level, work.observed)
            for s in range(len(inst.R)):
                overlap = column(inst, state.estimate, inst.gram_of[s], decision.arm)[how[1 + s]]
                up = (overlap >= 0.0) == (run % 2 == 0)
                work.observed[s] += inst.within[s] if up else -inst.within[s]
            absorb(inst, state, work, decision.arm, decision.level, work.observed)


def small_noise_loop(inst, rules, truth, room, extra, seed, rounds, state, work, small):  # type: ignore[no-untyped-def]
    """Fills small[run, signal] with 1 where what is said to be the largest size of the noise was ever too small."""
    for run in range(len(small)):
        begin(inst, state, work)
        for _ in range(rounds + 1):
            for s in range(len(inst.R)):
                if noise_of(inst, state, s) < truth.scale[s] * (1.0 - 1e-9):
                    small[run, s] = 1
            decision = decide(inst, rules, state, work, seed, run)
            if decision.status != PULL:
                break
            respond(truth, room, seed, run, state.clock[ROUND] + 1, decision.arm, decision.level, work.observed)
            absorb(inst, state, work, decision.arm, decision.level, work.observed)


def watched(loop: Any, world: Any, problem: Any, policy: Any, extra: Any, seed: int, rounds: int, flags: Any) -> Any:
    """The flags after the loop, with the policy and the world bound in."""
    found, response = faced(policy, problem), world.response()
    parts = {**parts_of(found.plan, found.inst.few_columns), "respond": response.respond, "crosses": response.crosses}
    compiled(loop, parts, policy.name, short=True)(  # whatever the arms: one form of it is quicker to make than two
        found.inst, found.plan.rules, response.truth, response.room, extra, seed, rounds, found.new_state(),
        found.new_work(), flags,
    )  # fmt: skip
    return flags.astype(bool)


def escapes(world: Any, problem: Any, policy: Any, *, runs: int, rounds: int, seed: int) -> Any:
    """(runs, 1 + m) flags: whether the truth of each signal ever left its ellipsoid within so many rounds."""
    flags = np.zeros((runs, 1 + len(problem.safety)), np.int64)
    inverse = np.linalg.pinv(faced(policy, problem).inst.X)
    return watched(escape_loop, world, problem, policy, inverse, seed, rounds, flags)


def broken_bounds(world: Any, problem: Any, policy: Any, *, runs: int, rounds: int, seed: int) -> Any:
    """(runs, 5) flags: which bounds were ever false within so many rounds."""
    best = world.best_arm(problem)
    best = best if best >= 0 else problem.size
    return watched(broken_bound_loop, world, problem, policy, best, seed, rounds, np.zeros((runs, 5), np.int64))


def astray(world: Any, problem: Any, policy: Any, pushed: Any, *, runs: int, rounds: int, seed: int) -> Any:
    """(runs, 5) flags: which bounds were ever false where means stray against the arm pushed[s] of each signal."""
    best = world.best_arm(problem)
    how = np.array([best if best >= 0 else problem.size, *pushed], np.int64)
    return watched(astray_loop, world, problem, policy, how, seed, rounds, np.zeros((runs, 5), np.int64))


def small_noises(world: Any, problem: Any, policy: Any, *, runs: int, rounds: int, seed: int) -> Any:
    """(runs, 1 + m) flags: whether the largest size of each signal's noise was ever given too small."""
    flags = np.zeros((runs, 1 + len(problem.safety)), np.int64)
    return watched(small_noise_loop, world, problem, policy, 0, seed, rounds, flags)
