"""Several sets as one: each keeps its own memory, the first fills the bounds in and the others cut."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from surefoot.core.compiler import compiled
from surefoot.core.kernel import thin
from surefoot.core.learn import refresh
from surefoot.core.parts import ball_of, bound_leads, bound_safety
from surefoot.policies.bound import parts_of
from surefoot.policies.protocol import Plan
from surefoot.sets import ConfidenceSet, linked
from surefoot.sets.ellipsoid import ellipsoid
from surefoot.sets.linked import begin as begin_link
from surefoot.sets.protocol import no_lead_bounds
from workbench import bench, nobody_decides


class Share(NamedTuple):
    """How much of a bound is left."""

    share: float


class Count(NamedTuple):
    """How often each kernel was called."""

    begun: Any
    learned: Any
    refreshed: Any


@thin
def begin(inst: Any, params: Any, memory: Any) -> None:
    memory.begun[0] += 1


@thin
def learn(inst: Any, params: Any, memory: Any, state: Any, k: int, gamma: float, observed: Any) -> None:
    memory.learned[0] += 1


@thin
def anew(inst: Any, params: Any, memory: Any, state: Any, scratch: Any, g: int) -> None:
    memory.refreshed[0] += 1


@thin
def narrow(inst: Any, params: Any, memory: Any, state: Any, bounds: Any) -> None:
    for k in range(bounds.lower.shape[1]):
        bounds.lower[0, k] *= params.share


@thin
def shorten(inst: Any, params: Any, memory: Any, state: Any, bounds: Any, i: int, level_i: float, high: bool) -> None:
    for k in range(len(bounds.lead)):
        bounds.lead[k] *= params.share


def counting(name: str, share: float) -> ConfidenceSet:
    """A set that leaves a share of every bound, and counts."""
    memory = Count(*(np.zeros(1, np.int64) for _ in range(3)))
    return ConfidenceSet(
        name, 3, Share(share), memory, bound_safety=narrow, bound_leads=shorten, begin=begin, learn=learn, refresh=anew
    )


def linked_bench() -> Any:
    return bench(np.eye(2), sets=lambda ball: linked(ellipsoid(ball), counting("half", 0.5), counting("tenth", 0.1)))


def test_one_set_stays_what_it_is() -> None:
    alone = counting("alone", 0.5)
    assert linked(alone) is alone


def test_every_set_has_its_turn_with_its_own_numbers() -> None:
    here, plain = linked_bench(), bench(np.eye(2))
    (state, work), (plain_state, plain_work) = here.fresh(), plain.fresh()
    for one, other in ((here, (state, work)), (plain, (plain_state, plain_work))):
        for k in (0, 1, 0):
            one.absorb(*other, k, 0.5, [0.3, -0.1])
        one.plain(bound_safety)(one.inst, *other)
        one.plain(bound_leads)(one.inst, *other, 0, 0.2, False)
    np.testing.assert_allclose(work.bounds.lower, 0.05 * plain_work.bounds.lower)
    np.testing.assert_allclose(work.bounds.lead, 0.05 * plain_work.bounds.lead)
    assert (work.bounds.upper == plain_work.bounds.upper).all()
    for memory in (state.sets.rest.first, state.sets.rest.rest):
        assert (memory.begun[0], memory.learned[0], memory.refreshed[0]) == (1, 3, 3)  # anew at first, 1 and 2


def test_the_ellipsoid_is_that_of_the_first() -> None:
    here, plain = linked_bench(), bench(np.eye(2))
    (state, _), (plain_state, _) = here.fresh(), plain.fresh()
    assert here.plain(ball_of)(here.inst, state, 1) == plain.plain(ball_of)(plain.inst, plain_state, 1)


def test_a_refresh_goes_through_all() -> None:
    here = linked_bench()
    state, work = here.fresh()
    before = state.sets.rest.rest.refreshed[0]
    assert here.plain(refresh)(here.inst, state, work)
    assert state.sets.rest.rest.refreshed[0] == before + 1


def test_linked_sets_say_the_same_compiled() -> None:
    here = linked_bench()
    state, work = here.fresh()
    here.absorb(state, work, 1, 0.5, [0.3, -0.1])
    here.plain(bound_safety)(here.inst, state, work)
    before = work.bounds.lower.copy()
    work.bounds.lower[:] = np.nan
    compiled(bound_safety, here.parts, "linked")(here.inst, state, work)
    assert (work.bounds.lower == before).all()


def test_versions_are_named_set_by_set() -> None:
    here = linked_bench()
    assert here.sets.name == "ellipsoid + half + tenth"
    assert here.sets.versions == {"ellipsoid": 1, "half": 3, "tenth": 3}
    assert counting("alone", 0.5).versions == {"alone": 3}


def test_the_same_sets_make_the_same_kernels() -> None:
    """So that one compiled loop serves every problem."""
    assert linked_bench().sets.bound_safety is linked_bench().sets.bound_safety


def test_a_first_set_without_an_ellipsoid_is_refused_by_name() -> None:
    here = bench(np.eye(2))
    for sets in (counting("blind", 0.5), linked(counting("blind", 0.5), here.sets)):
        with pytest.raises(TypeError, match="blind"):
            parts_of(Plan(nobody_decides, None, here.grams, sets))


def test_a_set_that_says_nothing_changes_nothing() -> None:
    here = bench(np.eye(2))
    state, work = here.fresh()
    work.bounds.lead[:] = 3.0
    no_lead_bounds(here.inst, None, None, state, work.bounds, 0, 0.2, True)
    assert (work.bounds.lead == 3.0).all()


def test_a_link_by_itself_refuses_to_run() -> None:
    pair = linked_bench().inst.sets
    with pytest.raises(TypeError, match="linked"):
        begin_link(None, pair, pair)  # type: ignore[arg-type]
