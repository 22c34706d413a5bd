"""What is bound into a loop: the decision and the memory of a policy, its confidence sets, and the world's response.

The functions marked `bound_in` are names only. The others ask the confidence sets, whatever they are: levels,
exploration, the checks of possibility and the policies reach them through here and nowhere else.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from surefoot.core.kernel import bound_in, thin
from surefoot.core.state import Bounds, Scratch, State, Work
from surefoot.core.types import Ball, Decision, Instance, Vector

UNBOUND = (
    "a part is missing: loops run only with a policy's parts bound in (core.loop), wherever they name one directly; a "
    "function that is reached through a dot, such as building.certify, is not found: import it by its name"
)


class Watch(NamedTuple):
    """An alarm over simulated runs, or none: two kernels and what they read and write."""

    begin: Callable[..., Any]  # (watch)
    rings: Callable[..., Any]  # (watch, arm, level, observed) -> bool
    new: Callable[[], Any]  # a NamedTuple of what is read and of a memory, for one thread


class Response(NamedTuple):
    """How a world answers pulls: two kernels (or plain functions) and what they read and write."""

    respond: Callable[..., Any]  # (truth, room, seed, run, number, arm, level, observed)
    crosses: Callable[..., Any]  # (truth, arm, level) -> bool: whether the pull truly crosses a limit
    truth: Any  # a NamedTuple of numbers and arrays
    room: Any  # a NamedTuple of arrays to write into, one for each thread
    signals: int  # how many numbers an answer has: the reward and each limit's


# -- names ------------------------------------------------------------------------------------------------------------


@bound_in
def decide(inst: Instance, rules: Any, state: State, work: Work, seed: int, run: int) -> Decision:
    """The decision of the policy."""
    raise TypeError(UNBOUND)


@bound_in
def begin_own(inst: Instance, own: Any) -> None:
    """The policy's own memory before the first pull; it comes filled with zeros."""
    raise TypeError(UNBOUND)


@bound_in
def respond(truth: Any, room: Any, seed: int, run: int, number: int, arm: int, level: float, observed: Vector) -> None:
    """What the world answers to pull `number`, into `observed`."""
    raise TypeError(UNBOUND)


@bound_in
def crosses(truth: Any, arm: int, level: float) -> bool:
    """Whether the pull truly crosses a limit."""
    raise TypeError(UNBOUND)


@bound_in
def begin_watch(watch: Any) -> None:
    """The alarm before the first pull, if one watches."""
    raise TypeError(UNBOUND)


@bound_in
def rings(watch: Any, k: int, level: float, observed: Vector) -> bool:
    """Whether the result of this pull, which was asked for, makes the alarm ring."""
    raise TypeError(UNBOUND)


@bound_in
def sets_begin(inst: Instance, params: Any, memory: Any) -> None:
    """The memory of the sets before the first pull; it comes filled with zeros."""
    raise TypeError(UNBOUND)


@bound_in
def sets_learn(inst: Instance, params: Any, memory: Any, state: State, k: int, gamma: float, observed: Vector) -> None:
    """The memory of the sets after a pull; the estimate is still the one before it."""
    raise TypeError(UNBOUND)


@bound_in
def sets_refresh(inst: Instance, params: Any, memory: Any, state: State, scratch: Scratch, g: int) -> None:
    """The memory of the sets after Gram matrix g was computed anew."""
    raise TypeError(UNBOUND)


@bound_in
def sets_bound_safety(inst: Instance, params: Any, memory: Any, state: State, bounds: Bounds) -> None:
    """Bounds of every safety signal at every arm."""
    raise TypeError(UNBOUND)


@bound_in
def sets_bound_leads(
    inst: Instance, params: Any, memory: Any, state: State, bounds: Bounds, i: int, level_i: float, optimistic: bool
) -> None:
    """Bounds of the lead of every arm over arm i at its level."""
    raise TypeError(UNBOUND)


@bound_in
def sets_ball(inst: Instance, params: Any, memory: Any, state: State, s: int) -> Ball:
    """The ellipsoid of signal s."""
    raise TypeError(UNBOUND)


@bound_in
def sets_noise(inst: Instance, params: Any, memory: Any, state: State, s: int) -> float:
    """The largest size of the noise of signal s that is possible; infinite while nothing is known."""
    raise TypeError(UNBOUND)


# -- questions to the sets --------------------------------------------------------------------------------------------


@thin
def bound_safety(inst: Instance, state: State, work: Work) -> None:
    """The bounds of every safety signal at every arm, into work.bounds.                                (S1, C1-C6)"""
    sets_bound_safety(inst, inst.sets, state.sets, state, work.bounds)


@thin
def bound_leads(inst: Instance, state: State, work: Work, i: int, level_i: float, optimistic: bool) -> None:
    """The most by which each arm might beat the leader, into work.bounds; the null pull comes last.    (G2, C1-C6)"""
    sets_bound_leads(inst, inst.sets, state.sets, state, work.bounds, i, level_i, optimistic)


@thin
def ball_of(inst: Instance, state: State, s: int) -> Ball:
    """The ellipsoid of signal s in this round.                                                      (E3, E4, C1)"""
    return sets_ball(inst, inst.sets, state.sets, state, s)


@thin
def noise_of(inst: Instance, state: State, s: int) -> float:
    """The largest size of the noise of signal s that is possible in this round.                              (C9)"""
    return sets_noise(inst, inst.sets, state.sets, state, s)
