"""SafeGap's aims that open late: how delta_safety is shared out in the order of opening, and how few are opened."""

from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.core.kernel import interpreting
from surefoot.policies.bound import faced
from surefoot.policies.safe_gap import SAFETY_ELLIPSOID, safety_boundaries
from surefoot.sets import directional, mixtures
from surefoot.simulation import run_session
from surefoot.worlds import Linear


def crowd(K: int, d: int = 4) -> tuple[Linear, sf.Problem]:
    """A world with two limits."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((K, d))
    X *= rng.uniform(0.5, 1.0, (K, 1)) / np.linalg.norm(X, axis=1)[:, None]
    theta, one, two = rng.standard_normal((3, d))
    world = Linear(X, theta_star=theta, mu_star=[one, two], noise=0.5, safety_noise=[0.2, 0.3], limit=[-0.5, -0.7])
    return world, world.problem(epsilon=0.2, delta=0.05, delta_safety=0.04, safe_level=0.1)


def error_of(row: Any, noise: float, rho: float) -> float:
    """The error of a half-normal boundary, found back from its row by bisection."""
    low, high = 1e-300, mixtures.LARGEST_ALPHA
    for _ in range(2000):
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if mixtures.half_normal(middle, noise, rho).constant > row[1] else (low, middle)
        if high / low < 1.0 + 1e-12:
            break
    return low


@pytest.mark.parametrize("at_once", [False, True], ids=["late", "at once"])
def test_the_errors_of_all_lower_ends_sum_to_what_is_set_aside(at_once: bool) -> None:
    """With that of the ellipsoids they are delta_safety."""
    _, problem = crowd(30)
    _, low = safety_boundaries(problem, at_once)
    assert low.shape == (2, 30, 3)
    information, total = mixtures.planned_information(problem), 0.0
    for s, limit in enumerate(problem.safety):
        errors = [error_of(row, limit.noise, information[1 + s]) for row in low[s]]
        total += sum(errors)
        shares = np.array(errors) / errors[0]
        np.testing.assert_allclose(shares, np.ones(30) if at_once else 1.0 / np.arange(1.0, 31.0), rtol=1e-6)
        assert (low[s, :, 0] == low[s, 0, 0]).all()  # one rho, whoever is opened when
    assert total == pytest.approx(problem.delta_safety * (1.0 - SAFETY_ELLIPSOID), rel=1e-6)
    assert total <= problem.delta_safety


def test_room_is_made_for_some_thousands_of_aims_and_not_for_all_arms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(directional, "MOST_OPEN", 7)
    _, problem = crowd(40)
    late, at_once = (faced(sf.SafeGap(opening=opening), problem).new_state().sets for opening in ("late", "at-once"))
    assert (late.reward.target.shape, late.safety.target.shape, len(late.safety.sums.q)) == ((1, 7), (2, 7), 14)
    assert (at_once.reward.target.shape, at_once.safety.target.shape) == ((1, 41), (2, 40))
    _, low = safety_boundaries(problem, False)
    assert low.shape == (2, 7, 3)


def session(problem: sf.Problem, policy: Any, world: Linear, rounds: int) -> sf.Session:
    with interpreting():
        found = sf.Session(problem, policy, seed=3, max_pulls=rounds, alarm_level=None)
        run_session(world, found, seed=3)
    return found


def test_only_the_arms_that_come_into_question_are_asked_about() -> None:
    world, problem = crowd(40)
    state = session(problem, sf.SafeGap(), world, 250).ledger.learner.state
    opened = set(np.flatnonzero(state.sets.safety.order).tolist())
    again = {k for k in range(40) if state.estimate.pulls[k] > 4}
    assert again
    assert again <= opened  # pulled at least once after its first time and after the pulls spanned
    assert 1 <= state.sets.reward.opened[0] < 41
    assert len(opened) < 40


def test_pulls_that_are_only_anticipated_open_nothing_for_good() -> None:
    """Asking for several pulls at once looks ahead in a copy: what it opens there is not open here."""
    world, problem = crowd(12)
    with interpreting():
        found = sf.Session(problem, sf.SafeGap(), seed=3, alarm_level=None)
        for _ in range(40):
            found.tell(pull := found.ask(), **world.measure(pull, 3))
        state = found.ledger.learner.state
        before = state.whole.copy()
        pulls = found.ask(9)
        assert (state.whole == before).all()
        opened = int(state.sets.safety.opened[0])
        for pull in pulls:
            found.tell(pull, **world.measure(pull, 3))
        assert state.estimate.pulls.sum() == 49
        assert state.sets.safety.opened[0] >= opened


def test_with_no_room_at_all_but_one_the_session_goes_on_safely(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ellipsoids bound the rest: levels are lower, and none is above what is truly safe."""
    world, problem = crowd(12)
    whole = session(problem, sf.SafeGap(), world, 150)
    monkeypatch.setattr(directional, "MOST_OPEN", 1)
    tight = session(problem, sf.SafeGap(), world, 150)
    state = tight.ledger.learner.state.sets
    assert (state.reward.opened[0], state.safety.opened[0]) == (1, 1)
    for each in (whole, tight):
        assert all(world.is_safe(k, level) for k, level in enumerate(each.levels))


def test_without_an_epsilon_a_race_is_close_by_the_finest_difference_that_is_planned_for() -> None:
    world = sf.worlds.hard()
    exact = sf.SafeGap().plan(world.paper_problem().with_(epsilon=0.0)).sets.params
    coarse = sf.SafeGap().plan(world.paper_problem().with_(epsilon=0.1)).sets.params

    assert 0.0 < exact.finest < 0.1
    assert coarse.finest == 0.1
