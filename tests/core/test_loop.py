"""The two loops around a policy that does as it is told: what they record, whom they anticipate, when they end."""

from typing import Any

import numpy as np
import pytest

from surefoot.core import loop
from surefoot.core.kernel import plain
from surefoot.core.loop import AS_DECIDED, ASKED, BEGUN, DECIDED, DROPPED, LEARNED, OPENED, anticipate, left_without
from surefoot.core.records import Script, decision_of, new_answers, new_records
from surefoot.core.types import (
    ALARM,
    BREAKDOWN,
    CERTIFIED,
    CHALLENGER,
    CONTRADICTION,
    DECIDING,
    EXPLORING,
    LEADER,
    NULL,
    PULL,
    ROUND,
    UNDECIDED,
    Decision,
)
from workbench import Bench, bench

X = np.array([[1.0, 0.0], [0.0, 1.0], [0.7, 0.7]])


class Told:
    """A policy that pulls arms in turn at level 0.5, and what it saw when it was asked."""

    def __init__(self, ends_at: int = 10**9, status: int = CERTIFIED, level: float = 0.5) -> None:
        self.ends_at, self.status, self.level = ends_at, status, level
        self.saw: list[dict[str, Any]] = []

    def decide(self, inst: Any, rules: Any, state: Any, work: Any, seed: int, run: int) -> Decision:
        t = int(state.clock[ROUND])
        self.saw.append(
            {"t": t, "run": run, "est": state.estimate.est.copy(), "v": state.estimate.v.copy(),
             "race": (int(state.clock[LEADER]), int(state.clock[CHALLENGER]))}
        )  # fmt: skip
        status = PULL if t < self.ends_at else self.status
        return Decision(status, DECIDING, t % len(inst.X), self.level, t % 2, 0.25, 2, 3.0 / (1 + t))


# -- many runs against a world ----------------------------------------------------------------------------------------


def played(policy: Told, runs: int = 3, max_pulls: int = 100, first_run: int = 0, **answers: Any) -> tuple[int, Any]:
    """How many runs were finished, and the records; the world's arm 2 crosses its limit above level 0.4."""
    here = bench(X)

    def respond(truth: Any, room: Any, seed: int, run: int, number: int, arm: int, level: float, observed: Any) -> None:
        observed[:] = answers.get("observed", 0.1)
        if (run, number) == answers.get("cancelled_at"):
            cancel[0] = 1

    def crosses(truth: Any, arm: int, level: float) -> bool:
        return arm == 2 and level > 0.4

    def rings(watch: Any, arm: int, level: float, observed: Any) -> bool:
        watch.append(arm)
        return len(watch) == answers.get("rings_at")

    parts = {
        **here.parts, "decide": policy.decide, "respond": respond, "crosses": crosses, "begin_watch": list.clear,
        "rings": rings,
    }  # fmt: skip
    state, work = here.fresh()
    records, cancel = new_records(runs, 3), np.zeros(1, np.int64)
    play, world = plain(loop.play, parts), (None, None, None, [])
    done = play(here.inst, *world, 7, first_run, max_pulls, state, work, records, cancel)
    return done, records


def test_a_run_whose_alarm_rings_ends_there_without_an_answer() -> None:
    done, records = played(Told(ends_at=7), rings_at=7)
    assert done == 3
    assert records.status.tolist() == [ALARM] * 3  # although the policy would have certified an answer
    assert records.pulls.tolist() == [7] * 3
    assert records.arm.tolist() == [NULL] * 3


def test_every_run_begins_anew_and_is_written_down() -> None:
    policy = Told(ends_at=8)
    done, records = played(policy, runs=2, first_run=40)
    assert done == 2
    assert [each["t"] for each in policy.saw] == [*range(9), *range(9)]
    assert [each["run"] for each in policy.saw] == [40] * 9 + [41] * 9
    assert records.status.tolist() == [CERTIFIED] * 2
    assert records.pulls.tolist() == [8, 8]
    assert records.arm.tolist() == [0, 0]  # the leader of round 8
    assert records.level.tolist() == [0.25, 0.25]
    assert records.gap.tolist() == [3.0 / 9.0] * 2
    assert records.pulls_per_arm.tolist() == [[3, 3, 2]] * 2
    assert records.levels.tolist() == [[0.2] * 3] * 2


def test_the_last_race_is_remembered_and_a_new_run_has_none() -> None:
    policy = Told(ends_at=3)
    played(policy, runs=2)
    races = [each["race"] for each in policy.saw]
    assert races[:4] == races[4:] == [(NULL, NULL), (0, 2), (1, 2), (0, 2)]


def test_pulls_that_truly_cross_a_limit_are_counted_and_the_first_is_named() -> None:
    _, records = played(Told(ends_at=9), runs=1)
    assert (records.unsafe.tolist(), records.first_unsafe.tolist()) == ([3], [3])
    _, records = played(Told(ends_at=9, level=0.4), runs=1)
    assert (records.unsafe.tolist(), records.first_unsafe.tolist()) == ([0], [0])


def test_a_budget_ends_a_run_undecided_and_without_an_answer() -> None:
    _, records = played(Told(), runs=2, max_pulls=5)
    assert records.status.tolist() == [UNDECIDED] * 2
    assert (records.pulls.tolist(), records.arm.tolist(), records.level.tolist()) == ([5, 5], [NULL] * 2, [0.0] * 2)


def test_certainty_with_the_last_pull_of_the_budget_is_certainty() -> None:
    assert played(Told(ends_at=5), runs=1, max_pulls=5)[1].status.tolist() == [CERTIFIED]


@pytest.mark.parametrize("status", [CONTRADICTION, BREAKDOWN])
def test_a_run_that_ends_in_trouble_has_no_answer(status: int) -> None:
    _, records = played(Told(ends_at=4, status=status), runs=1)
    assert (records.status.tolist(), records.arm.tolist()) == ([status], [NULL])


def test_numbers_that_break_down_end_the_run_as_a_breakdown() -> None:
    with np.errstate(invalid="ignore"):
        _, records = played(Told(), runs=1, observed=np.inf)
    assert (records.status.tolist(), records.pulls.tolist()) == ([BREAKDOWN], [1])


def test_work_that_is_cancelled_ends_at_once_and_says_what_is_finished() -> None:
    done, records = played(Told(ends_at=6), runs=4, cancelled_at=(2, 3))
    assert done == 2
    assert records.status.tolist() == [CERTIFIED, CERTIFIED, PULL, PULL]  # PULL: not finished


# -- what happened to an experiment -----------------------------------------------------------------------------------


def script(steps: list[tuple[int, int]], pulls: int, arms: Any = None, observed: float = 0.1) -> Script:
    """A script about so many pulls, all at level 0.2."""
    step, pull = np.array(steps, np.int64).reshape(-1, 2).T.copy()
    arm = np.full(pulls, AS_DECIDED) if arms is None else np.array(arms)
    return Script(step, pull, arm, np.full(pulls, 0.2), np.full(pulls, 0.2), np.full((pulls, 2), observed))


class Experiment:
    """An experiment on a bench, gone through with `replay`."""

    def __init__(self, policy: Told, here: Bench | None = None) -> None:
        self.here, self.policy = here or bench(X), policy
        self.state, self.work = self.here.fresh()
        self.run = plain(loop.replay, {**self.here.parts, "decide": policy.decide})
        self.held = Decision(PULL, EXPLORING, 0, 0.0, NULL, 0.0, NULL, 0.0)

    def goes(self, told: Script) -> Any:
        """The answers."""
        answers, real, ahead = new_answers(len(told.arm)), *(np.zeros_like(self.state.whole) for _ in range(2))
        self.healthy, self.margin, *fields = self.run(
            self.here.inst, None, self.state, real, ahead, self.work, 7, 0, self.held, told,
            np.zeros(len(told.arm), np.int64), answers,
        )  # fmt: skip
        self.held = Decision(*fields)
        return answers


def test_a_result_is_learned_and_decided_on() -> None:
    one = Experiment(Told())
    one.goes(script([(BEGUN, 0), (OPENED, 0), (LEARNED, 0), (OPENED, 1), (LEARNED, 1)], 2, arms=[0, 1]))
    assert one.state.estimate.pulls.tolist() == [1, 1, 0]
    assert (one.held.arm, one.held.status, one.healthy) == (2, PULL, True)
    assert [each["t"] for each in one.policy.saw] == [0, 1, 2]


def test_only_the_real_state_is_learned_on_and_open_pulls_are_anticipated() -> None:
    """Each that is asked for while others are open sees their information and the estimates as they are."""
    one = Experiment(Told())
    one.goes(script([(BEGUN, 0), (OPENED, 0), (LEARNED, 0)], 1, arms=[0]))
    before, seen = one.state.whole.copy(), len(one.policy.saw)
    answers = one.goes(script([(ASKED, 0), (ASKED, 1), (ASKED, 2)], 3))
    assert (one.state.whole == before).all()
    assert one.held == decision_of(answers, 0)[0]._replace(leader_level=one.held.leader_level)
    saw = one.policy.saw[seen:]
    assert [each["t"] for each in saw] == [2, 3]  # the first is what was held; two pulls are then anticipated
    assert answers.arm.tolist() == [1, 2, 0]
    for each in saw:
        np.testing.assert_allclose(each["est"], one.state.estimate.est, atol=1e-14)
        assert (each["v"] <= one.state.estimate.v + 1e-15).all()
        assert (each["v"] < one.state.estimate.v - 1e-3).any()


def test_the_level_of_a_pull_beside_open_ones_is_one_that_the_real_state_certifies() -> None:
    one = Experiment(Told(level=0.9))
    one.goes(script([(BEGUN, 0)], 1))
    one.state.levels.low[:] = [0.2, 0.35, 0.6]
    answers = one.goes(script([(ASKED, 0), (ASKED, 1), (ASKED, 2)], 3))
    assert answers.level.tolist() == [0.9, 0.35, 0.6]  # the first is the decision that was held, as it is
    stepping = Experiment(Told(level=0.9), bench(X, step=0.1))
    stepping.goes(script([(BEGUN, 0)], 1))
    stepping.state.levels.low[:] = 0.6
    np.testing.assert_allclose(stepping.goes(script([(ASKED, 0), (ASKED, 1)], 2)).level, [0.9, 0.3])


def test_what_looks_like_the_end_ahead_is_not_the_end() -> None:
    one = Experiment(Told(ends_at=2))
    one.goes(script([(BEGUN, 0)], 1))
    answers = one.goes(script([(ASKED, p) for p in range(4)], 4))
    assert answers.status.tolist() == [PULL] * 4
    assert answers.arm.tolist() == [0, 1, 0, 0]  # beyond the second it would end ahead: what is held is asked for
    assert one.held.status == PULL


def test_a_pull_that_is_dropped_is_anticipated_no_more() -> None:
    one = Experiment(Told())
    one.goes(script([(BEGUN, 0), (ASKED, 0), (ASKED, 1), (DROPPED, 0), (ASKED, 2)], 3))
    assert [each["t"] for each in one.policy.saw] == [0, 1, 1]
    one.goes(script([(OPENED, 0), (DROPPED, 0), (ASKED, 1)], 2, arms=[2, AS_DECIDED]))
    assert len(one.policy.saw) == 3  # nothing is open: what is held is asked for


def test_a_result_makes_what_is_ahead_out_of_date() -> None:
    one = Experiment(Told())
    one.goes(script([(BEGUN, 0), (ASKED, 0), (ASKED, 1), (LEARNED, 0), (ASKED, 2)], 3))
    assert [each["t"] for each in one.policy.saw] == [0, 1, 1, 2]
    last = one.policy.saw[-1]
    np.testing.assert_allclose(last["est"], one.state.estimate.est, atol=1e-14)


def test_deciding_once_more_changes_nothing_but_the_decision() -> None:
    one = Experiment(Told())
    one.goes(script([(BEGUN, 0), (OPENED, 0), (LEARNED, 0)], 1, arms=[0]))
    held, before = one.held, one.state.whole.copy()
    one.held = Decision(PULL, EXPLORING, 0, 0.0, NULL, 0.0, NULL, 0.0)
    one.goes(script([(DECIDED, 0)], 1, arms=[0]))
    assert one.held == held
    assert (one.state.whole == before).all()


def test_what_is_asked_for_after_the_end_is_told_the_end() -> None:
    one = Experiment(Told(ends_at=1, status=CONTRADICTION))
    answers = one.goes(script([(BEGUN, 0), (ASKED, 0), (LEARNED, 0), (ASKED, 1), (ASKED, 2)], 3))
    assert answers.status.tolist() == [PULL, CONTRADICTION, CONTRADICTION]


def test_an_anticipated_pull_moves_no_estimate() -> None:
    here = bench(X)
    state, work = here.fresh()
    for k in range(3):
        here.absorb(state, work, k, 0.5, [0.4, -0.2])
    est, v = state.estimate.est.copy(), state.estimate.v.copy()
    here.plain(anticipate)(here.inst, state, work, 1, 0.8)
    np.testing.assert_allclose(state.estimate.est, est, atol=1e-15)
    assert (state.estimate.v[0] < v[0]).any()
    assert state.clock[ROUND] == 4


def test_a_queue_keeps_its_order() -> None:
    queue = np.array([4, 7, 1, 9, 0])
    assert left_without(queue, 4, 7) == 3
    assert queue[:3].tolist() == [4, 1, 9]
    assert left_without(queue, 3, 5) == 3
    assert queue[:3].tolist() == [4, 1, 9]
    assert left_without(queue, 3, 9) == 2
