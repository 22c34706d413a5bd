"""What a run begins with and when it is computed anew; what no model of the stated size can have measured."""

from typing import Any

import numpy as np
import pytest

from surefoot.core import learn
from surefoot.core.learn import begin, is_possible
from surefoot.core.types import CHALLENGER, CONTRADICTED, LEADER, NULL, ROUND, SINCE_REFRESH
from workbench import bench


def test_a_run_begins_the_same_whatever_was_before() -> None:
    here = bench(np.eye(3), gamma0=[0.1, 0.2, 0.3])
    state, work = here.fresh()
    first = state.whole.copy()
    for k in (0, 2, 2, 1):
        here.absorb(state, work, k, 0.5, [1.0, -0.1])
    state.levels.low[:] = 0.9
    here.plain(begin)(here.inst, state, work)
    assert (state.whole == first).all()
    assert (state.clock[LEADER], state.clock[CHALLENGER]) == (NULL, NULL)
    assert state.levels.low.tolist() == [0.1, 0.2, 0.3]


def test_everything_is_computed_anew_at_powers_of_two_and_after_so_many_rounds(monkeypatch: Any) -> None:
    monkeypatch.setattr(learn, "REFRESH_EVERY", 20)
    here = bench(np.eye(2))
    state, work = here.fresh()
    since = []
    for _ in range(100):
        here.absorb(state, work, 0, 0.5, [0.1, 0.1])
        since.append(int(state.clock[SINCE_REFRESH]))
    refreshed = [t for t, rounds in enumerate(since, start=1) if rounds == 0]
    assert refreshed == [1, 2, 4, 8, 16, 32, 52, 64, 84]
    assert state.clock[ROUND] == 100


@pytest.mark.parametrize(("size", "possible"), [(5.0, True), (9.9, True), (40.0, False), (1e6, False)])
def test_estimates_far_beyond_the_norm_bound_are_a_contradiction(size: float, possible: bool) -> None:
    """A reading in the wrong unit ends the run; a norm bound that is a few times too small is left to its owner."""
    here = bench(np.eye(2), D=[1.0, 1.0])
    state, work = here.fresh()
    for _ in range(64):
        here.absorb(state, work, 0, 1.0, [size, 0.0])
    assert here.plain(is_possible)(here.inst, state) == possible
    assert state.clock[CONTRADICTED] == (not possible)


@pytest.mark.parametrize("s", [0, 1, 2])
def test_every_signal_must_be_possible(s: int) -> None:
    here = bench([[1.0, 0.0], [0.0, 3.0]], eta0=[-0.5, -0.5], D=1.0, R=0.1)
    state, _ = here.fresh()
    assert here.plain(is_possible)(here.inst, state)
    state.estimate.est[s, 1] = -50.0
    assert not here.plain(is_possible)(here.inst, state)
