"""Several threads over the arms of one run: every stretch is done once, and nobody can tell who did it."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from threading import enumerate as enumerate_threads
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot import simulation
from surefoot.core import crew
from surefoot.core.columns import COLUMN
from surefoot.core.compiler import compiled
from surefoot.core.crew import (
    ABOUT,
    BELL,
    CROWD,
    DONE,
    HANDS,
    JOB,
    LEFT,
    PLACE,
    WORDS,
    put_up,
    taken,
    taken_after,
    wait_for,
)
from surefoot.core.kernel import interpreted, kernel, plain
from surefoot.core.linear import stretches
from surefoot.core.refreshing import DIAGONALS, ESTIMATES, image_stretches
from surefoot.core.types import ROUND, Indices
from surefoot.live.learner import Learner
from surefoot.live.model_checks import simulated_watch
from surefoot.policies import threads
from surefoot.policies.bound import faced, hand_of
from surefoot.policies.threads import VARIABLE, hands_for_a_step, hands_for_runs, helped, threads_for_arms
from surefoot.simulation import finished_chunks

JOBS, STRETCHES = 3000, 7


@kernel
def count_all(board: Indices, done: Any) -> int:
    """Puts up one job after the other, and works on each; how many stretches were not done when a job was over."""
    missing = 0
    for job in range(len(done)):
        put_up(board, 1, job, 0, done.shape[1])
        n = taken(board)
        while n >= 0:
            done[job, n] += 1
            n = taken_after(board)
        wait_for(board, done.shape[1])
        for n in range(done.shape[1]):
            missing += 1 if done[job, n] == 0 else 0
    return missing


@kernel
def count_some(board: Indices, done: Any) -> None:
    """What a helper does for those jobs."""
    n = taken(board)
    while n >= 0:
        done[board[ABOUT], n] += 1
        n = taken_after(board)


class Counting:
    """Stands where a run has its state."""

    def __init__(self, done: Any) -> None:
        self.estimate = done
        self.scratch = self
        self.W = np.zeros((1, 1))


class Board:
    """Stands where a run has its instance."""

    def __init__(self) -> None:
        self.board = np.zeros(WORDS, np.int64)


@pytest.mark.skipif(interpreted() or os.name != "posix", reason="only compiled code lets go of the interpreter's lock")
@pytest.mark.parametrize("hands", [1, 3, 7])
def test_every_stretch_is_done_once_whoever_is_late(hands: int) -> None:
    """Jobs follow each other as fast as they can, so that helpers wake up in the middle of others all the time."""
    done, here = np.zeros((JOBS, STRETCHES), np.int64), Board()
    first, some = compiled(count_all, {}, "counting"), compiled(count_some, {}, "helping to count")
    helps = np.zeros(1, np.int64)

    def hand(inst: Any, counted: Any, scratch: Any, images: Any) -> None:
        some(inst.board, counted)
        helps[0] += 1

    run: Any = Counting(done)
    with helped(hand, here, run, run, hands):  # type: ignore[arg-type]
        assert here.board[HANDS] == hands
        while helps[0] < 2:  # somebody comes, sooner or later
            os.write(int(here.board[BELL]), b"\0")
            time.sleep(0.01)
        assert first(here.board, done) == 0
    assert (done == 1).all()
    assert here.board[HANDS] == 0


def test_alone_a_job_is_done_by_whoever_puts_it_up() -> None:
    board, done = np.zeros(WORDS, np.int64), np.zeros((5, 4), np.int64)
    listening, board[BELL] = os.pipe()
    try:
        assert plain(count_all, {})(board, done) == 0
    finally:
        os.close(listening)
        os.close(board[BELL])
    assert (done == 1).all()
    assert (board[JOB], board[ABOUT], board[DONE]) == (1, 4, 4)
    assert board[LEFT] < 0


def test_a_bell_that_nobody_hears_holds_nobody_up() -> None:
    """The pipe is full after some thousand jobs, and the run goes on."""
    board, done = np.zeros(WORDS, np.int64), np.zeros((5000, 41), np.int64)
    listening, bell = os.pipe()
    os.set_blocking(bell, False)
    board[BELL], board[HANDS] = bell, 40
    run: Callable[..., Any] = plain if interpreted() else lambda kernel, parts: compiled(kernel, parts, "counting")
    try:
        assert run(count_all, {})(board, done) == 0
        with pytest.raises(BlockingIOError):
            os.write(bell, bytes(4096))
    finally:
        os.close(listening)
        os.close(bell)


def idle(*arguments: Any) -> None:
    """A hand that finds nothing to do."""


def open_files() -> int:
    """How many files this process has open, where that can be told."""
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0


def test_helpers_go_home_when_something_fails() -> None:
    here, run, before = Board(), Counting(np.zeros((1, 1), np.int64)), open_files()
    with pytest.raises(KeyboardInterrupt), helped(idle, here, run, run, 2):  # type: ignore[arg-type]
        raise KeyboardInterrupt
    assert here.board[HANDS] == 0
    assert open_files() == before
    assert not [each for each in enumerate_threads() if "_stand_by" in each.name]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_process_that_is_forked_meanwhile_holds_nobody_up() -> None:
    """It has both ends of the pipe, so that closing them says nothing to anybody."""
    here, run = Board(), Counting(np.zeros((1, 1), np.int64))
    asleep, wake = os.pipe()
    begun = time.monotonic()
    with helped(idle, here, run, run, 2):  # type: ignore[arg-type]
        child = os.fork()
        if child == 0:
            os.close(wake)
            os.read(asleep, 1)
            os._exit(0)
    left = time.monotonic()
    os.close(wake)
    os.close(asleep)
    os.waitpid(child, 0)
    assert left - begun < 60.0  # and not for ever: the child waits for us


def test_many_rings_are_not_worked_off_when_all_is_over() -> None:
    here, calls = Board(), np.zeros(1, np.int64)
    run: Any = Counting(np.zeros((1, 1), np.int64))
    begun = Event()

    def slow(*arguments: Any) -> None:
        calls[0] += 1
        if here.board[HANDS] > 0:
            begun.set()
            time.sleep(0.2)

    with helped(slow, here, run, run, 1):  # type: ignore[arg-type]
        os.write(int(here.board[BELL]), bytes(50_000))
        assert begun.wait(30.0)
    assert calls[0] < 1000  # two, but for a machine that has no time for us


def test_whoever_cannot_begin_is_done_without(monkeypatch: pytest.MonkeyPatch) -> None:
    here, run, started = Board(), Counting(np.zeros((1, 1), np.int64)), []

    def start(self: Thread) -> None:
        if started:
            raise RuntimeError("can't start new thread")
        started.append(self)
        begin(self)

    begin = Thread.start
    monkeypatch.setattr(Thread, "start", start)
    with helped(idle, here, run, run, 5):  # type: ignore[arg-type]
        assert here.board[HANDS] == 1
    monkeypatch.setattr(os, "pipe", no_more_files)
    with helped(idle, here, run, run, 5):  # type: ignore[arg-type]
        assert here.board[HANDS] == 0


def no_more_files() -> Any:
    raise OSError(24, "too many open files")


def crowd(K: int, d: int = 4) -> sf.Problem:
    """Random arms and one limit."""
    return sf.Problem(
        np.random.default_rng(2).standard_normal((K, d)), sf.Reward(noise=0.5),
        [sf.Limit("heat", at_most=8.0, baseline=5.0, noise=0.3)], safe_level=0.2, epsilon=0.15, delta=0.05,
        delta_safety=0.05,
    )  # fmt: skip


@pytest.mark.skipif(interpreted() or os.name != "posix", reason="interpreted, one thread plays a run")
def test_a_helper_alone_does_every_job_as_it_is_written() -> None:
    """Nobody else takes a stretch: what is there afterwards is its work."""
    found, rng = faced(sf.SafeGap(), crowd(3 * CROWD)), np.random.default_rng(4)
    state, work, X, board = found.new_state(), found.new_work(), found.inst.X, found.inst.board
    estimate, scratch, images = state.estimate, work.scratch, np.zeros_like(work.scratch.W)
    estimate.columns.w[:], estimate.columns.w2[:], scratch.y[:] = rng.standard_normal((3, X.shape[1]))
    scratch.B[:] = np.triu(rng.standard_normal(scratch.B.shape))
    hand, known = hand_of(found), X @ scratch.B
    column, second = estimate.columns.values[0, 5], estimate.columns.second[0, 5]
    twice = known @ scratch.B.T
    jobs = {
        COLUMN: (0, 5, stretches(X), [(column, X @ estimate.columns.w), (second, X @ estimate.columns.w2)]),
        DIAGONALS: (
            0, 0, image_stretches(X, images), [(estimate.v[0], (known**2).sum(1)), (estimate.v2[0], (twice**2).sum(1))],
        ),
        ESTIMATES: (1, 0, stretches(X), [(estimate.est[1], X @ scratch.y)]),
    }  # fmt: skip
    for job, (about, place, count, wanted) in jobs.items():
        assert count > 1
        board[JOB], board[ABOUT], board[PLACE], board[DONE], board[LEFT] = job, about, place, 0, count
        hand(found.inst, estimate, scratch, images)
        assert (board[DONE], board[LEFT]) == (count, -1)
        for got, right in wanted:
            np.testing.assert_allclose(got, right, rtol=1e-9, atol=1e-9)
    assert not estimate.est[0].any()
    assert not estimate.columns.values[0, :5].any()


@pytest.mark.skipif(interpreted() or os.name != "posix", reason="interpreted, one thread plays a run")
def test_whoever_only_reads_waits_for_a_step_of_another_thread() -> None:
    """In the middle of a step the state is ahead of what was read of it: nobody else takes a step then."""
    problem = crowd(60)
    learner, at_once, seen = Learner(problem, sf.SafeGap(), seed=1), [], []
    real = learner._replay

    def slow(*arguments: Any) -> Any:
        at_once.append(1)
        seen.append(len(at_once))
        result = real(*arguments)
        time.sleep(0.2)
        at_once.pop()
        return result

    learner._replay = slow
    other = Thread(target=learner.take, args=(0, 0.1, [0.1, 0.1]))
    other.start()
    while learner.state.clock[ROUND] == 0:  # it is in the middle of its step
        time.sleep(0.001)
    assert learner.pulls == 1
    other.join()
    assert max(seen) == 1


@pytest.mark.skipif(interpreted() or os.name != "posix", reason="interpreted, one thread plays a run")
def test_a_run_with_helpers_is_the_run_without(monkeypatch: pytest.MonkeyPatch) -> None:
    """Word by word, through misses, new columns and everything computed anew."""
    problem, rng = crowd(3 * CROWD), np.random.default_rng(3)
    alone = Learner(problem, sf.SafeGap(), seed=1)
    monkeypatch.setattr(threads, "LARGE", 1000)
    monkeypatch.setattr(threads, "cores", lambda: 4)
    together = Learner(problem, sf.SafeGap(), seed=1)
    assert (alone._hands, together._hands) == (0, 3)
    assert together._hand is not None
    for _ in range(60):
        arm, level, seen = alone.decision.arm, alone.decision.level, rng.normal(0.1, 0.4, 2)
        alone.take(arm, level, seen)
        together.take(arm, level, seen)
        assert together.decision == alone.decision
    assert (together.state.whole == alone.state.whole).all()
    assert alone.state.estimate.columns.missed[0] > 5


def test_only_where_there_is_much_to_do_helpers_are_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crew, "CROWD", 100)
    monkeypatch.setattr(threads, "LARGE", 1000)
    monkeypatch.setattr(threads, "cores", lambda: 6)
    few, some, many = (faced(sf.SafeGap(), crowd(K)).inst for K in (99, 200, 250))
    assert len(few.board) == 0
    assert [hands_for_a_step(each) for each in (few, some, many)] == [0, 0, 3]
    for said, hands in (("1", 0), ("3", 2), ("100", 3), ("", 3)):
        monkeypatch.setenv(VARIABLE, said)
        assert hands_for_a_step(many) == hands
    for said in ("many", "0", "-2", "1.5", "²"):
        monkeypatch.setenv(VARIABLE, said)
        with pytest.raises(sf.errors.InvalidInput, match=VARIABLE):
            hands_for_a_step(many)
    monkeypatch.setenv(VARIABLE, "")
    assert threads_for_arms() == 6
    monkeypatch.setattr(threads, "cores", lambda: 64)
    assert threads_for_arms() == 8


def test_workers_without_a_run_of_their_own_help_others() -> None:
    assert [hands_for_runs(*each) for each in ((1, 1), (4, 4), (4, 3), (4, 2), (4, 1), (64, 1), (5, 0))] == [
        0, 0, 0, 1, 3, 7, 4,
    ]  # fmt: skip


def test_simulate_gives_workers_without_a_run_to_those_that_have_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each run that is played is helped by as many as are left; with a run for every worker, by none."""
    problem, asked = crowd(40), []
    found, watch = faced(sf.SafeGap(), problem), simulated_watch(problem, sf.SafeGap().guarantee(problem), None)
    world = sf.worlds.Linear(problem.features, theta_star=np.ones(4), mu_star=np.ones(4), noise=0.5, limit=-9.0)

    @contextmanager
    def noted(hand: Any, inst: Any, state: Any, work: Any, hands: int) -> Iterator[None]:
        asked.append((hand, hands))
        yield

    monkeypatch.setattr(simulation, "helped", noted)
    monkeypatch.setattr(simulation, "hand_of", lambda found: "a hand")
    for workers, runs, hands in ((4, 1, 3), (5, 2, 1), (2, 2, 0)):
        asked.clear()
        starts = [(run, 1) for run in range(runs)]
        response = world.response()
        list(finished_chunks(lambda *all_of_it: 1, found, response, watch, 1, 10, starts, workers))
        assert asked == [("a hand" if hands else None, hands)] * runs
