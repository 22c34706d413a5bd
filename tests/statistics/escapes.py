"""How often the truth leaves the confidence sets while a policy chooses the pulls, at any round of a run."""

from functools import cache
from typing import Any

import numpy as np

from surefoot.core.confidence import open_set
from surefoot.core.gram import absorb, begin
from surefoot.core.kernel import specialise
from surefoot.core.nature import observe
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


@cache
def compiled_for(policy: str) -> Any:
    """The loop with that policy's decision bound in."""
    from surefoot.policies import lingape, safe_lingape

    modules = {"lingape": lingape, "safe-lingape": safe_lingape, "uniform": safe_lingape}  # it shares the decision
    return specialise(escape_loop, policy.replace("-", "_"), decide=modules[policy].decide)


def escapes(world: Any, problem: Any, policy: Any, *, runs: int, rounds: int, seed: int) -> Any:
    """(runs, 1 + m) flags: whether the truth of each signal ever left its set within so many rounds."""
    inst = policy.instance(problem)
    rules = policy.rules(problem, inst)
    escaped = np.zeros((runs, len(inst.R)), np.int64)
    compiled_for(policy.name)(
        inst, rules, world.truth(), np.linalg.pinv(inst.X), seed, rounds, new_state(inst), new_work(inst), escaped
    )
    return escaped.astype(bool)
