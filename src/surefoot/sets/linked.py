"""Several confidence sets as one: the first fills the bounds in, the others cut them in turn."""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from surefoot.core.kernel import bound_in, thin, with_globals
from surefoot.core.state import Bounds, Scratch, State
from surefoot.core.types import Ball, Instance, Vector
from surefoot.sets.protocol import ConfidenceSet

UNBOUND = "a link is missing: make sets with surefoot.sets.linked"


class Pair(NamedTuple):
    """What two sets read, or what they remember."""

    first: Any
    rest: Any


def linked(*sets: ConfidenceSet) -> ConfidenceSet:
    """The sets as one, in this order."""
    first, *others = sets
    if not others:
        return first
    rest = linked(*others)
    kernels = {name: link(name, getattr(first, name), getattr(rest, name)) for name in LINKS}
    return ConfidenceSet(
        name=f"{first.name} + {rest.name}", version=0, params=Pair(first.params, rest.params),
        memory=Pair(first.memory, rest.memory), ball=ball_of_first(first.ball), links=tuple(sets),
        parts={**rest.parts, **first.parts}, **kernels,
    )  # fmt: skip


@cache
def link(name: str, first: Callable[..., Any], rest: Callable[..., Any]) -> Any:
    """The kernel that calls one set's and then the other's; the same one for the same two, so it is compiled once."""
    return with_globals(LINKS[name], {"of_first": first, "of_rest": rest})


@cache
def ball_of_first(first: Callable[..., Any] | None) -> Any:
    """The ellipsoid of the first set."""
    return None if first is None else with_globals(ball, {"of_first": first})


@bound_in
def of_first(*arguments: Any) -> Any:
    """The first set's kernel."""
    raise TypeError(UNBOUND)


@bound_in
def of_rest(*arguments: Any) -> Any:
    """The other sets' kernel."""
    raise TypeError(UNBOUND)


@thin
def begin(inst: Instance, params: Pair, memory: Pair) -> None:
    """The memory of all before the first pull."""
    of_first(inst, params.first, memory.first)
    of_rest(inst, params.rest, memory.rest)


@thin
def learn(inst: Instance, params: Pair, memory: Pair, state: State, k: int, gamma: float, observed: Vector) -> None:
    """The memory of all after a pull."""
    of_first(inst, params.first, memory.first, state, k, gamma, observed)
    of_rest(inst, params.rest, memory.rest, state, k, gamma, observed)


@thin
def refresh(inst: Instance, params: Pair, memory: Pair, state: State, scratch: Scratch, g: int) -> None:
    """The memory of all after Gram matrix g was computed anew."""
    of_first(inst, params.first, memory.first, state, scratch, g)
    of_rest(inst, params.rest, memory.rest, state, scratch, g)


@thin
def bound_safety(inst: Instance, params: Pair, memory: Pair, state: State, bounds: Bounds) -> None:
    """The bounds that all agree on."""
    of_first(inst, params.first, memory.first, state, bounds)
    of_rest(inst, params.rest, memory.rest, state, bounds)


@thin
def bound_leads(
    inst: Instance, params: Pair, memory: Pair, state: State, bounds: Bounds, i: int, level_i: float, optimistic: bool
) -> None:
    """The leads that all agree on."""
    of_first(inst, params.first, memory.first, state, bounds, i, level_i, optimistic)
    of_rest(inst, params.rest, memory.rest, state, bounds, i, level_i, optimistic)


@thin
def ball(inst: Instance, params: Pair, memory: Pair, state: State, s: int) -> Ball:
    """The ellipsoid of signal s."""
    found: Ball = of_first(inst, params.first, memory.first, state, s)
    return found


LINKS = {
    "begin": begin, "learn": learn, "refresh": refresh, "bound_safety": bound_safety, "bound_leads": bound_leads,
}  # fmt: skip
