"""Many runs: the same for any number of workers, addressed, refused when ill-posed, kept on Ctrl-C."""

import json
import os
import signal
import subprocess
import sys
import time
import warnings
from dataclasses import fields
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import InvalidInput, NeverStopsWarning
from surefoot.simulation import run_session

ARRAYS = (
    "run", "pulls", "stopped", "outcome", "arm", "level", "suboptimality", "wrong", "broken_promise", "answer_unsafe",
    "unsafe_pulls", "first_unsafe", "gap", "pulls_per_arm", "levels",
)  # fmt: skip


@pytest.fixture(scope="module")
def world() -> sf.worlds.Linear:
    return sf.worlds.limited()


def same(one: sf.Runs, other: sf.Runs) -> bool:
    return all(
        np.array_equal(getattr(one, name), getattr(other, name), equal_nan=name == "suboptimality") for name in ARRAYS
    )


@pytest.mark.parametrize("workers", [10**6, 10**20])
def test_more_workers_than_any_machine_has_use_for_are_refused(world: sf.worlds.Linear, workers: int) -> None:
    with pytest.raises(InvalidInput, match=r"workers = \d+: must be at most \d+"):
        sf.simulate(world, world.default_problem(), runs=3, workers=workers)


def test_results_do_not_depend_on_the_number_of_workers(world: sf.worlds.Linear) -> None:
    policy = sf.SafeLinGapE(selection="optimistic", explore=sf.UniformRandom(50))
    alone = sf.simulate(world, world.default_problem(), policy, runs=37, seed=4, workers=1)
    for workers in (2, 3, 64, None):
        assert same(alone, sf.simulate(world, world.default_problem(), policy, runs=37, seed=4, workers=workers))


def test_every_run_has_an_address(world: sf.worlds.Linear) -> None:
    policy, problem = sf.SafeLinGapE(explore=sf.UniformRandom(50)), world.default_problem()
    whole = sf.simulate(world, problem, policy, runs=30, seed=4)
    part = sf.simulate(world, problem, policy, runs=7, seed=4, first_run=11)
    assert part.run.tolist() == list(range(11, 18))
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(part, name), getattr(whole, name)[11:18])
    assert not np.array_equal(whole.pulls, sf.simulate(world, problem, policy, runs=30, seed=5).pulls)


def test_policies_meet_the_same_noise() -> None:
    """Common random numbers: in a world without differences the first pull of any policy reads the same."""
    world = sf.worlds.Linear(np.eye(2), theta_star=[0, 0], mu_star=[0, 0])
    pulls = [SimpleNamespace(arm=arm, level=level, number=1) for arm, level in ((0, 0.1), (1, 0.9))]
    first, other = (world.measure(pull, seed=3, run=9) for pull in pulls)
    assert first == other


def test_records_are_consistent(world: sf.worlds.Linear) -> None:
    runs = sf.simulate(world, world.default_problem(), sf.LinGapE(), runs=50, seed=1)
    assert len(runs) == 50
    assert (runs.pulls_per_arm.sum(axis=1) == runs.pulls).all()
    assert (runs.unsafe_pulls <= runs.pulls).all()
    assert ((runs.first_unsafe > 0) == (runs.unsafe_pulls > 0)).all()
    assert (runs.first_unsafe <= runs.pulls).all()
    assert runs.answer_unsafe.all()  # the best arm without limits is unsafe at full level
    assert runs.wrong.all()
    assert not runs.broken_promise.any()
    assert not runs.interrupted
    safe = sf.simulate(world, world.default_problem(), sf.SafeLinGapE(selection="optimistic"), runs=50, seed=1)
    np.testing.assert_allclose(safe.suboptimality, world.best_value() - safe.level * world.values[safe.arm])
    assert (safe.suboptimality >= 0.0).all()


def test_unsafe_pulls_are_those_that_truly_cross_a_limit(world: sf.worlds.Linear) -> None:
    problem = world.default_problem()
    runs = sf.simulate(world, problem, sf.LinGapE(explore=sf.RoundRobin(8)), runs=1, seed=1, max_pulls=8)
    unsafe_arms = [k for k in range(world.size) if not world.is_safe(k, 1.0)]
    assert runs.unsafe_pulls[0] == 2 * len(unsafe_arms)
    assert runs.first_unsafe[0] == unsafe_arms[0] + 1


def test_a_budget_ends_undecided(world: sf.worlds.Linear) -> None:
    runs = sf.simulate(world, world.default_problem(), sf.SafeLinGapE(), runs=10, max_pulls=30)
    assert (runs.pulls == 30).all()
    assert set(runs.outcomes) == {"undecided"}
    assert not runs.stopped.any()
    assert (runs.arm == -1).all()
    assert np.isnan(runs.suboptimality).all()
    assert not (runs.wrong | runs.broken_promise).any()


def test_a_budget_within_exploration_ends_undecided(world: sf.worlds.Linear) -> None:
    runs = sf.simulate(world, world.default_problem(), sf.SafeLinGapE(explore=sf.RoundRobin(100)), runs=3, max_pulls=30)
    assert (runs.pulls == 30).all()
    assert set(runs.outcomes) == {"undecided"}


def test_doing_nothing_is_judged_as_an_answer() -> None:
    world = sf.worlds.Linear(np.eye(2), theta_star=[-1.0, -0.5], mu_star=[-0.2, -0.1], noise=0.3)
    problem = world.problem(epsilon=0.1, delta=0.05, delta_safety=0.05, safe_level=0.2)
    runs = sf.simulate(world, problem, runs=20)  # the default policy has the null pull in the race
    assert runs.stopped.all()
    assert (runs.arm == -1).all()
    assert (runs.suboptimality == 0.0).all()
    assert not (runs.wrong | runs.answer_unsafe).any()


def test_the_best_value_is_judged_on_the_dial() -> None:
    """On a coarse dial V* is what the dial can reach, so the right answer is not called wrong."""
    world = sf.worlds.limited(level=0.55)
    problem = world.default_problem().with_(level_grid=[0.2, 0.4, 1.0], epsilon=0.05)
    runs = sf.simulate(world, problem, sf.SafeLinGapE(selection="optimistic"), runs=20, max_pulls=10**6)
    assert runs.stopped.all()
    assert not runs.wrong.any()
    assert set(runs.level.tolist()) <= {0.2, 0.4, 1.0}
    assert (runs.suboptimality >= 0.0).all()


def test_a_warning_by_name_for_what_never_stops(world: sf.worlds.Linear) -> None:
    with pytest.warns(NeverStopsWarning):
        sf.simulate(
            world, world.default_problem(), sf.Uniform(levels="static", selection="optimistic"), runs=1, max_pulls=9
        )


def test_progress_goes_to_standard_error_and_changes_nothing(world: sf.worlds.Linear, capsys: Any) -> None:
    quiet = sf.simulate(world, world.default_problem(), sf.SafeLinGapE(), runs=5)
    shown = sf.simulate(world, world.default_problem(), sf.SafeLinGapE(), runs=5, progress=True)
    assert same(quiet, shown)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("field", "arguments"),
    [
        ("world", {"world": "hard"}),
        ("problem", {"problem": {"arms": 1}}),
        ("policy", {"policy": "uniform"}),
        ("runs", {"runs": 0}),
        ("runs", {"runs": 2.0}),
        ("runs", {"runs": True}),
        ("seed", {"seed": -1}),
        ("seed", {"seed": 2**63}),
        ("seed", {"seed": None}),
        ("workers", {"workers": 0}),
        ("max_pulls", {"max_pulls": 0}),
        ("max_pulls", {"max_pulls": 1e6}),
        ("first_run", {"first_run": -1}),
        ("first_run", {"first_run": 1.5}),
        ("first_run", {"first_run": True}),
        ("first_run", {"first_run": "a"}),
        ("first_run", {"first_run": 2**63}),
    ],
)
def test_simulate_refuses_what_it_cannot_use(world: sf.worlds.Linear, field: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as caught:
        sf.simulate(**({"world": world, "problem": world.default_problem(), "runs": 2} | arguments))
    assert caught.value.field == field


def test_a_problem_of_another_world_is_refused(world: sf.worlds.Linear) -> None:
    with pytest.raises(InvalidInput) as caught:
        sf.simulate(world, sf.worlds.hard(dim=4).default_problem())
    assert caught.value.field == "arms"
    with pytest.raises(InvalidInput) as caught:
        sf.simulate(sf.worlds.hard(limit=-0.4), sf.worlds.hard(limit=-0.5).default_problem())
    assert caught.value.field == "safety"


def test_arms_that_do_not_span_are_simulated_in_their_span() -> None:
    plane = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 2.0]])
    world = sf.worlds.Linear(plane, theta_star=[0.5, 0.2, 0.3], mu_star=[-0.3, -0.1, -0.1], noise=0.3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sf.errors.NotSpanningWarning)
        problem = world.problem(epsilon=0.2, delta=0.05, delta_safety=0.05, safe_level=0.3)
    runs = sf.simulate(world, problem, sf.SafeLinGapE(selection="optimistic"), runs=50)
    assert runs.stopped.all()
    assert not (runs.wrong | (runs.unsafe_pulls > 0)).any()


LONG_WORK = """
import json, sys, threading
import surefoot as sf
world = sf.worlds.limited()
problem = world.default_problem().with_(epsilon=0.0)
policy = sf.SafeLinGapE(selection="optimistic")  # never stops at epsilon = 0
sf.simulate(world, problem, policy, runs=1, max_pulls=5)  # compiled before the clock starts
print("ready", flush=True)
found = sf.simulate(world, problem, policy, runs=10**7, max_pulls=300, seed=3, workers=int(sys.argv[1]))
again = sf.simulate(world, problem, policy, runs=4, max_pulls=300, seed=3, first_run=int(found.run[-4]))
print(json.dumps({
    "runs": len(found), "interrupted": found.interrupted, "requested": found.requested,
    "finished": bool((found.pulls == 300).all()), "summary": found.summary()["interrupted"],
    "same": found.gap[-4:].tolist() == again.gap.tolist() if (found.run[-4:] == again.run).all() else "gaps in runs",
}), flush=True)
"""


@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_keeps_what_is_finished(workers: int) -> None:
    """Interrupted three times in turn, since it must not matter where the work stands."""
    for wait in (0.7, 1.1, 1.6):
        work = subprocess.Popen(
            [sys.executable, "-W", "error", "-c", LONG_WORK, str(workers)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )  # fmt: skip
        assert work.stdout is not None
        assert work.stdout.readline().strip() == "ready"
        time.sleep(wait)
        work.send_signal(signal.SIGINT)
        out, errors = work.communicate(timeout=60)
        assert work.returncode == 0, errors
        found = json.loads(out)
        assert found["runs"] > 0
        assert found["interrupted"] is found["summary"] is found["finished"] is True
        assert found["requested"] == 10**7
        assert found["same"] in (True, "gaps in runs")
        assert "Traceback" not in errors


class Relayed:
    """A world of a user's own: it has nothing but what a simulation needs."""

    def __init__(self, world: sf.worlds.Linear) -> None:
        self.name = "relayed"
        self.matches, self.judge, self.measure = world.matches, world.judge, world.measure
        self.response = world.response


def test_a_world_of_ones_own_is_simulated_like_any_other(world: sf.worlds.Linear) -> None:
    problem, own = world.default_problem(), Relayed(world)
    assert same(sf.simulate(world, problem, runs=5, seed=2), sf.simulate(own, problem, runs=5, seed=2))
    one, other = (sf.Session(problem, seed=2) for _ in range(2))
    assert run_session(world, one, seed=2) == run_session(own, other, seed=2)


def test_a_session_is_run_until_it_stops_or_so_many_pulls_are_made(world: sf.worlds.Linear) -> None:
    session, seen = sf.Session(world.default_problem(), seed=2), []
    first = run_session(world, session, seed=2, watch=lambda session: seen.append(session.pulls), max_pulls=7)
    assert [pull.number for pull in first] == [1, 2, 3, 4, 5, 6, 7]
    assert seen == [0, 1, 2, 3, 4, 5, 6, 7]
    rest = run_session(world, session, seed=2)
    assert session.outcome == "certified"
    assert [pull.number for pull in rest] == list(range(8, session.pulls + 1))
    assert run_session(world, session, seed=2) == []
    runs = sf.simulate(world, session.problem, runs=1, seed=2)
    assert runs.pulls[0] == session.pulls
    verdict = world.judge(session.problem).verdict(first + rest, session.certificate)
    assert (verdict.unsafe_pulls, verdict.first_unsafe or 0) == (runs.unsafe_pulls[0], runs.first_unsafe[0])
    assert verdict.answer_safe is not bool(runs.answer_unsafe[0])
    assert verdict.shortfall == runs.suboptimality[0]


@pytest.mark.parametrize(
    ("field", "arguments"),
    [
        ("world", {"world": "hard"}),
        ("session", {"session": "live"}),
        ("max_pulls", {"max_pulls": 0}),
        ("seed", {"seed": -1}),
        ("arms", {"world": sf.worlds.hard(dim=5)}),
    ],
)
def test_a_session_is_not_run_with_what_cannot_be_used(
    world: sf.worlds.Linear, field: str, arguments: dict[str, Any]
) -> None:
    session = sf.Session(world.default_problem())
    with pytest.raises(InvalidInput) as caught:
        run_session(**({"world": world, "session": session} | arguments))
    assert caught.value.field == field
    assert session.pulls == 0


def test_every_field_of_the_records_is_known_to_these_tests() -> None:
    known = {*ARRAYS, "problem", "policy", "seed", "requested", "traces"}
    assert {field.name for field in fields(sf.Runs)} == known
