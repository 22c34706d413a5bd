"""How often the truth leaves the confidence sets, or breaks a bound that a decision rests on, at any round of a run,
while a policy chooses the pulls."""

from functools import cache
from typing import Any

import numpy as np
from surefoot.core.confidence import open_set
from surefoot.core.nature import observe

from surefoot.core.estimate import absorb, begin
from surefoot.core.kernel import specialise
from surefoot.core.types import PULL, new_state, new_work


def decide(inst, rules, state, work, seed, run):  # type: ignore[no-untyped-def]
    """The decision of a policy, bound in by `specialise`."""
    raise TypeError


def escape_loop(inst, rules, truth, inverse, seed, rounds, state, work, escaped):  # type: ignore[no-untyped-def]
    """Fills escaped[run, signal] with 1 where |estimate - truth|_A ever exceeded the radius, round 0 included.

    |v|_A^2 = lambda |v|^2 + sum_k N_k (x_k . v)^2, and v = inverse (x_k . v)_k with the pseudo-inverse of the arms.
    """
    K, d = inst.X.shape
    for run in range(len(escaped)):
        begin(inst, state, work)
        work.block[0] = -1
        for _ in range(rounds + 1):
            for s in range(len(inst.R)):
                square = 0.0
                for a in range(d):
                    entry = 0.0
                    for k in range(K):
                        entry += inverse[a, k] * (state.est[s, k] - truth.value[s, k])
                    square += inst.lam[inst.gram_of[s]] * entry * entry
                for k in range(K):
                    difference = state.est[s, k] - truth.value[s, k]
                    square += state.N[k] * difference * difference
                radius = open_set(inst, state, s).radius
                if square > radius * radius * (1.0 + 1e-9):
                    escaped[run, s] = 1
            decision = decide(inst, rules, state, work, seed, run)
            if decision.status != PULL:
                break
            number = state.pulls.sum() + 1
            observe(truth, seed, run, number, decision.arm, decision.level, work.words, work.block, work.observed)
            absorb(inst, state, work, decision.arm, decision.level, work.observed)


LOWER, UPPER, UPPER_AT_BEST, LEAD, LEAD_OF_BEST = range(5)  # what can be broken


def broken_bound_loop(inst, rules, truth, best, seed, rounds, state, work, broken):  # type: ignore[no-untyped-def]
    """Fills broken[run, which] with 1 where a bound was ever false.

    Which: a safety signal's lower or upper bound at some arm, the upper one at the best arm, the lead of some
    candidate, the lead of the best one (K for the null pull).
    """
    K = len(inst.X)
    for run in range(len(broken)):
        begin(inst, state, work)
        work.block[0] = -1
        for _ in range(rounds + 1):
            decision = decide(inst, rules, state, work, seed, run)
            for s in range(len(inst.eta0)):
                for k in range(K):
                    true = truth.value[s + 1, k]
                    if work.lower[s, k] > true + 1e-9:
                        broken[run, LOWER] = 1
                    if work.upper[s, k] < true - 1e-9:
                        broken[run, UPPER] = 1
                        if k == best:
                            broken[run, UPPER_AT_BEST] = 1
            i = decision.leader
            value = decision.leader_level * truth.value[0, i] if i >= 0 else 0.0
            for j in range(K + 1):
                if (j == K and i < 0) or decision.gap == np.inf:
                    continue
                if j == i and not state.high[j] > decision.leader_level:
                    continue  # it takes no part in the race: there is nothing of its own left to gain
                lead = (state.high[j] * truth.value[0, j] if j < K else 0.0) - value
                if work.lead[j] < lead - 1e-9:
                    broken[run, LEAD] = 1
                    if j == best:
                        broken[run, LEAD_OF_BEST] = 1
            if decision.status != PULL:
                break
            number = state.pulls.sum() + 1
            observe(truth, seed, run, number, decision.arm, decision.level, work.words, work.block, work.observed)
            absorb(inst, state, work, decision.arm, decision.level, work.observed)


@cache
def compiled_for(loop: Any, policy: str) -> Any:
    """The loop with that policy's decision bound in."""
    from surefoot.policies import lingape, safe_gap, safe_lingape

    module = {"lingape": lingape, "safe-gap": safe_gap}.get(policy, safe_lingape)  # whose decision Uniform shares
    return specialised(loop, module)


@cache
def specialised(loop: Any, module: Any) -> Any:
    """Compiled once for all policies that share a decision."""
    return specialise(loop, module.__name__.rpartition(".")[2], decide=module.decide)


def escapes(world: Any, problem: Any, policy: Any, *, runs: int, rounds: int, seed: int) -> Any:
    """(runs, 1 + m) flags: whether the truth of each signal ever left its ellipsoid within so many rounds."""
    inst = policy.instance(problem)
    rules = policy.rules(problem, inst)
    escaped = np.zeros((runs, len(inst.R)), np.int64)
    compiled_for(escape_loop, policy.name)(
        inst, rules, world.truth(), np.linalg.pinv(inst.X), seed, rounds, new_state(inst), new_work(inst), escaped
    )
    return escaped.astype(bool)


def broken_bounds(world: Any, problem: Any, policy: Any, *, runs: int, rounds: int, seed: int) -> Any:
    """(runs, 5) flags: which bounds were ever false within so many rounds."""
    inst = policy.instance(problem)
    rules = policy.rules(problem, inst)
    broken = np.zeros((runs, 5), np.int64)
    best = world.best_arm(problem)
    compiled_for(broken_bound_loop, policy.name)(
        inst, rules, world.truth(), best if best >= 0 else len(inst.X), seed, rounds, new_state(inst), new_work(inst),
        broken,
    )  # fmt: skip
    return broken.astype(bool)
