"""A policy bound into the loops for one problem: compiled, interpreted, or compiled but for its own decision."""

import os
import warnings
from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Any, NamedTuple

import numpy as np

from surefoot.core import loop, plausible
from surefoot.core.columns import are_many, columns_of
from surefoot.core.crew import new_board
from surefoot.core.kernel import Parts, interpreted, is_kernel, plain
from surefoot.core.layout import shapes_of
from surefoot.core.parts import Response, Watch
from surefoot.core.refreshing import lend_a_hand, passes_of
from surefoot.core.state import State, Work, new_state, new_work, state_bytes
from surefoot.core.types import Dial, Instance
from surefoot.errors import InterpretedWarning, InvalidInput, outside
from surefoot.memory import check_memory
from surefoot.policies.protocol import Plan, Policy
from surefoot.problem import Problem
from surefoot.problem.dial_settings import STEP_SLACK, steps_in_levels
from surefoot.problem.norms import noise_sizes, refuse_error, refuse_unknown_noise, signals_of
from surefoot.problem.settings import LEAST_REGULARIZATION

Announce = Callable[[str, int], Any]  # what to show while something is compiled: see `progress.compiling`


TIES = 1e-6  # where effects are stated without units: even coordinates have seven digits or so, and what is equal
# there in truth (as many arms as dimensions are all equally long) is not to be told apart by the units of the features
A_FEW = 12  # arms: up to here loops take one at a time (docs/decisions/0027-small-rounds.md)
HAS_BELLS = os.name == "posix"  # a system whose pipes compiled code can write to by that name
ROUNDING = 1e-9  # of a product that is formed in another order


class Faced(NamedTuple):
    """A policy that faces a problem."""

    name: str
    plan: Plan
    inst: Instance

    def new_state(self) -> State:
        """Room for a state."""
        return new_state(self.inst, self.plan.sets.memory, self.plan.own)

    def new_work(self) -> Work:
        """Buffers for a round."""
        return new_work(self.inst)

    def check_memory(self, states: int = 1) -> None:
        """Refuses a problem of which so many states do not fit into the memory that is left."""
        K = len(self.inst.X)
        try:  # zeros that nobody has touched take up no memory
            needed = state_bytes(self.inst, self.plan.sets.memory, self.plan.own)
        except MemoryError:
            needed = 8 * K * K
        check_memory(K, states * needed)


def faced(policy: Policy, problem: Problem) -> Faced:
    """The policy, ready for the problem."""
    problem.check_unchanged()
    plan = policy.plan(problem)
    if not plan.sets.learns_noise:
        refuse_unknown_noise(problem, policy.name)
    if not plan.sets.bears_error:
        refuse_error(problem, policy.name)
    if not plan.candidates:
        refuse_candidates(problem, policy.name)
    if plan.needs_limits:
        require_limits(problem, policy.name)
    sets = replace(plan.sets, memory=shapes_of(plan.sets.memory))  # every state has a memory of its own
    plan = plan._replace(sets=sets, own=shapes_of(plan.own))
    inst = instance_of(problem, plan)
    check_regularization(plan, inst)
    return Faced(policy.name, plan, inst)


def refuse_candidates(problem: Problem, who: str) -> None:
    """Refuses arms that cannot be tried, on behalf of a policy that would try them."""
    if not problem.pullable.all():
        first = problem.names[int(problem.pullable.argmin())]
        raise InvalidInput(
            f"pullable of arm {first!r}", False, f"is stated, and {who} tries every arm",
            "Leave the arm out, or use SafeGap, which finds the best among arms that cannot be tried too.",
        )  # fmt: skip


def require_limits(problem: Problem, who: str) -> None:
    """Refuses a problem without limits, on behalf of a policy that is made for them."""
    if not problem.safety:
        raise InvalidInput(
            "safety", problem.safety, f"holds no limit, and {who} is made for limits",
            "State the limits, or use SafeGap or LinGapE, which serve such problems.",
        )  # fmt: skip


def check_regularization(plan: Plan, inst: Instance) -> None:
    """Refuses Gram matrices that stay, and are too small for the arms in the coordinates of the policy."""
    kept = plan.grams.least[plan.grams.fades == 0]
    if not len(kept):
        return
    least = LEAST_REGULARIZATION * float(np.einsum("kd,kd->k", inst.X, inst.X).max())
    if kept.min() < least * (1.0 - ROUNDING):
        reason = f"must be at least {least:.3g} for arms this long, or rounding errors swamp the first pulls"
        raise InvalidInput("regularization", float(kept.min()), reason, "Raise it, or scale the features down.")


def instance_of(problem: Problem, plan: Plan) -> Instance:
    """The problem as the core reads it."""
    grid = np.asarray(problem.level_grid, dtype=np.float64)
    step_from, step_to = steps_in_levels(problem.dial, problem.max_setting_step)
    dial = Dial(
        gamma0=np.array(problem.safe_level),
        ceiling=ceiling_of(problem),
        grid=grid,
        step=inf if problem.max_step is None else problem.max_step * (1.0 + STEP_SLACK),
        step_from=step_from,
        step_to=step_to,
        pullable=np.zeros(0) if problem.pullable.all() else problem.pullable.astype(np.float64),
    )
    many = are_many(len(problem.features))
    features = plan.grams.features if plan.features is None else plan.features
    features = problem.features if features is None else features  # the problem's own are read-only: a copy
    return Instance(
        # Compiled code tells writable arrays from read-only ones, and goes along the features of many arms.
        X=np.require(features, np.float64, ["F" if many else "C", "W"]),
        R=noise_sizes(problem),
        eta0=np.array([limit.eta0 for limit in problem.safety]),
        within=np.array([problem.reward.within, *(limit.within for limit in problem.safety)], np.float64),
        dial=dial,
        epsilon=problem.epsilon,
        regularization=plan.grams.matrix,
        log_det=plan.grams.log_det,
        gram_of=plan.grams.of,
        fades=plan.grams.fades,
        few_columns=many,
        sets=plan.sets.params,
        board=new_board(len(problem.features) if HAS_BELLS else 0),
        ties=TIES if any(signal.largest is not None for signal in signals_of(problem)) else 0.0,
    )


def ceiling_of(problem: Problem) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The highest setting of each arm's dial."""
    ceiling = np.array(problem.max_level)
    if problem.level_grid:
        grid = np.array(problem.level_grid)
        ceiling = grid[np.searchsorted(grid, ceiling, side="right") - 1]
    return ceiling


def reach_of(problem: Problem) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The highest setting at which each arm can be tried; 0 where it cannot."""
    return ceiling_of(problem) * problem.pullable


def replay_of(found: Faced, announce: Announce | None = None) -> Any:
    """The loop that goes through what happened to an experiment."""
    parts, arms = faced_parts(found), len(found.inst.X)
    return bound(loop.replay, parts, tuples_of(found.plan), found.name, announce, arms)


def is_ready(found: Faced) -> bool:
    """Whether nothing is left to compile before an experiment begins."""
    return interpreted() or bool(getattr(replay_of(found), "stored", False))


def expect_of(found: Faced) -> Any:
    """What says which means the results so far still allow."""
    columns = ("all_held", "place_of", "fill_column")
    asked = ("sets_ball", "sets_bound_safety", "sets_noise", *columns, *found.plan.sets.parts)
    parts = {name: part for name, part in faced_parts(found).items() if name in asked}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InterpretedWarning)  # whoever faces the problem is told once, by the loop
        label, arms = f"{found.name}, what to expect", len(found.inst.X)
        return bound(plausible.expect, parts, tuples_of(found.plan), label, None, arms)


def hand_of(found: Faced) -> Any:
    """What a helper calls when there is something to do; nothing where one thread has to do."""
    parts = faced_parts(found)
    if len(found.inst.board) == 0 or interpreted() or not all(map(is_kernel, parts.values())):
        return None
    return bound(lend_a_hand, parts, tuples_of(found.plan), f"{found.name}, helpers", None, len(found.inst.X))


def play_of(found: Faced, response: Response, watch: Watch, announce: Announce | None = None) -> Any:
    """The loop that plays many runs against a world, with an alarm over them or without."""
    parts, tuples = played_parts(found, response, watch), (*tuples_of(found.plan), response, watch.new())
    return bound(loop.play, parts, tuples, f"{found.name} for simulations", announce, len(found.inst.X))


def faced_parts(found: Faced) -> dict[str, Callable[..., Any]]:
    """What the policy binds into the loops for this problem."""
    return parts_of(found.plan, found.inst.few_columns, len(found.inst.board) > 0)


def played_parts(found: Faced, response: Response, watch: Watch) -> dict[str, Callable[..., Any]]:
    """What is bound into the loop that plays runs: the policy's parts, the world's and the alarm's."""
    return {
        **faced_parts(found), "respond": response.respond, "crosses": response.crosses,
        "begin_watch": watch.begin, "rings": watch.rings,
    }  # fmt: skip


def parts_of(plan: Plan, few_columns: bool = False, shared: bool = False) -> dict[str, Callable[..., Any]]:
    """What a policy binds into the loops, by the names in `core.parts`, how columns are held, and whether several
    threads may go over the arms."""
    sets = plan.sets
    if sets.ball is None:
        raise TypeError(f"the first confidence set must have an ellipsoid (ball), and {sets.name} has none")
    return {
        "decide": plan.decide, "begin_own": plan.begin_own, "sets_begin": sets.begin, "sets_learn": sets.learn,
        "sets_refresh": sets.refresh, "sets_bound_safety": sets.bound_safety, "sets_bound_leads": sets.bound_leads,
        "sets_ball": sets.ball, "sets_noise": sets.noise, **columns_of(few_columns, shared),
        **passes_of(shared), **sets.parts,
    }  # fmt: skip


def tuples_of(plan: Plan) -> tuple[Any, ...]:
    """The tuples that a policy brings into the loops."""
    return plan.rules, plan.own, plan.sets.params, plan.sets.memory


def bound(
    template: Callable[..., Any], parts: Parts, tuples: tuple[Any, ...], label: str, announce: Announce | None,
    arms: int,
) -> Any:  # fmt: skip
    """The loop in the form that its parts, and the number of arms, allow."""
    if interpreted():
        return plain(template, parts)
    from surefoot.core.compiler import compiled, mixed  # numba is loaded when it is needed, and not before

    foreign = [name for name, part in parts.items() if not is_kernel(part)]
    if not foreign:
        return compiled(template, parts, label, announce, tuples, short=arms <= A_FEW)
    warnings.warn(
        f"{label}: {', '.join(foreign)} is plain Python and runs in the interpreter, the rest is compiled; a round "
        "takes about a thousand times as long as a compiled one. Mark it with @surefoot.kernel to compile it.",
        InterpretedWarning,
        stacklevel=outside(),
    )
    return mixed(template, parts, label, announce, tuples)


def unchecked(function: Any) -> Any:
    """The loop, once it was called, for one who always passes the same types; compiled code then skips looking."""
    return function.unchecked() if hasattr(function, "unchecked") else function
