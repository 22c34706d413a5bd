"""The race by hand: leader, challenger, B(t), ties and what is no number."""

from math import exp, inf, nan

import numpy as np
import pytest

from surefoot.core.parts import bound_leads
from surefoot.core.race import CONSERVATIVE, OPTIMISTIC, Race, find_leader, find_race, verdict
from surefoot.core.types import BREAKDOWN, CERTIFIED, CONTRADICTED, CONTRADICTION, NULL, PULL
from workbench import bench


def race(values, low, high=None, selection=CONSERVATIVE, null_pull=False, X=None):  # type: ignore[no-untyped-def]
    """The race on orthogonal arms (or X) with these estimates and levels, and a radius of 1."""
    K = len(values)
    here = bench(np.eye(K) if X is None else X, R=[1.0, 0.1], delta=[exp(-0.5), exp(-1.0)], D=[0.0, 1.0])
    state, work = here.fresh()
    state.estimate.est[0] = values
    state.levels.low[:], state.levels.high[:] = low, low if high is None else high
    optimistic = selection == OPTIMISTIC
    i, level_i = find_leader(state, work, null_pull)
    here.plain(bound_leads)(here.inst, state, work, i, level_i, optimistic)
    return find_race(state, work, i, level_i, optimistic, null_pull)


def test_the_leader_is_best_at_its_certified_level() -> None:
    found = race([1.0, 2.0, 0.5], [1.0, 0.4, 1.0])
    assert (found.leader, found.leader_level) == (0, 1.0)


def test_the_challenger_might_be_better_by_the_gap() -> None:
    found = race([1.0, 2.0, 0.5], [1.0, 0.4, 1.0])
    leads = {1: 0.8 - 1.0 + np.hypot(1.0, 0.4), 2: 0.5 - 1.0 + np.hypot(1.0, 1.0)}
    assert found.challenger == max(leads, key=leads.get)  # type: ignore[arg-type]
    assert found.gap == pytest.approx(max(leads.values()), rel=1e-14)


def test_an_optimistic_challenger_competes_at_its_highest_possible_level() -> None:
    found = race([1.0, 2.0], [1.0, 0.4], [1.0, 0.9], OPTIMISTIC)
    assert (found.challenger, found.challenger_level) == (1, 0.9)
    assert found.gap == pytest.approx(1.8 - 1.0 + np.hypot(1.0, 0.9))


def test_an_optimistic_leader_races_itself_while_its_level_is_unlearned() -> None:
    alone = race([1.0], [0.4], [0.9], OPTIMISTIC)
    assert (alone.leader, alone.challenger) == (0, 0)
    assert alone.gap == pytest.approx(0.5 * 1.0 + 0.5)
    learned = race([1.0], [0.9], [0.9], OPTIMISTIC)
    assert learned.gap == 0.0
    assert race([1.0], [0.4], [0.9], CONSERVATIVE).gap == 0.0


def test_ties_go_to_the_lowest_index() -> None:
    found = race([1.0, 1.0, 1.0], [0.5, 0.5, 0.5])
    assert (found.leader, found.challenger) == (0, 1)
    nothing_known = race([0.0, 0.0, 0.0], [0.2, 0.2, 0.2], null_pull=True)
    assert (nothing_known.leader, nothing_known.challenger) == (0, 1)


def test_exact_duplicates_have_no_gap() -> None:
    found = race([0.7, 0.7], [0.3, 0.3], X=[[0.6, 0.8], [0.6, 0.8]])
    assert found.gap == 0.0


def test_doing_nothing_may_lead() -> None:
    found = race([-1.0, -3.0], [0.5, 0.5], null_pull=True)
    assert (found.leader, found.leader_level) == (NULL, 0.0)
    assert found.challenger == 0
    assert found.gap == pytest.approx(-0.5 + 0.5)


def test_doing_nothing_may_challenge() -> None:
    found = race([0.1, -9.0], [0.5, 0.5], null_pull=True)
    assert (found.leader, found.challenger, found.challenger_level) == (0, NULL, 0.0)
    assert found.gap == pytest.approx(-0.05 + 0.5)
    assert race([0.1, -9.0], [0.5, 0.5]).challenger == 1


def test_one_arm_against_doing_nothing_is_a_race() -> None:
    found = race([2.0], [0.5], null_pull=True)
    assert (found.leader, found.challenger) == (0, NULL)
    assert found.gap == pytest.approx(-1.0 + 0.5)


@pytest.mark.parametrize(
    "values", [[nan, nan], [nan, 1.0], [1.0, nan], [1.0, nan, -9.0], [1.0, -9.0, nan], [nan, 1.0, -9.0]]
)
def test_what_is_no_number_never_ends_in_certainty(values: list[float]) -> None:
    found = race(values, [0.5] * len(values))
    here = bench(np.eye(2), epsilon=1e9)
    assert verdict(here.inst, here.fresh()[0], found, True) != CERTIFIED


def test_the_verdict_stops_at_epsilon_and_not_before() -> None:
    here = bench(np.eye(2), epsilon=0.1)
    inst, (state, _) = here.inst, here.fresh()

    def with_gap(gap: float) -> Race:
        return Race(0, 1.0, 1, 1.0, gap)

    assert verdict(inst, state, with_gap(0.1), True) == CERTIFIED
    assert verdict(inst, state, with_gap(0.1 + 1e-12), True) == PULL
    assert verdict(inst, state, with_gap(-5.0), True) == CERTIFIED
    assert verdict(inst, state, with_gap(-5.0), False) == CONTRADICTION
    assert verdict(inst, state, with_gap(inf), True) == BREAKDOWN
    assert verdict(inst, state, with_gap(nan), True) == BREAKDOWN
    state.clock[CONTRADICTED] = 1
    assert verdict(inst, state, with_gap(-5.0), True) == CONTRADICTION
