"""Policies against a known truth: many runs, compiled and in parallel, or one live session, pull by pull."""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np

from surefoot.core.layout import side_by_side
from surefoot.core.parts import Response, Watch
from surefoot.core.records import Records, new_records
from surefoot.core.types import PULL, Indices
from surefoot.devices import CUDA, check_device, device_chunks, device_play
from surefoot.errors import InvalidInput
from surefoot.live.model_checks import LEVEL, simulated_watch
from surefoot.live.pulls import Pull
from surefoot.live.session import Session
from surefoot.played import Traces
from surefoot.policies import Policy, check_policy
from surefoot.policies.bound import Faced, faced, hand_of, play_of
from surefoot.policies.threads import hands_for_runs, helped
from surefoot.problem import Problem
from surefoot.problem.checks import check_count, check_seed, check_workers, number
from surefoot.progress import compiling, one_bar
from surefoot.results import Runs, judged
from surefoot.worlds import World, check_world
from surefoot.worlds.statements import warn_of_broken_statements

LARGEST_CHUNK = 500  # runs


def simulate(
    world: World,
    problem: Problem,
    policy: Policy | None = None,
    *,
    runs: int = 100,
    seed: int = 0,
    workers: int | None = None,
    max_pulls: int = 200_000,
    progress: bool = False,
    first_run: int = 0,
    alarm: bool | float = False,
    device: str = "cpu",
    keep: str | None = None,
) -> Runs:
    """The records of so many runs. Run r is the same whatever `runs`, `workers`, `first_run` or `device` are.

    `device="cuda"` plays them on a GPU, one in each thread; it needs the extra `surefoot[cuda]`.

    With `alarm` each run is watched as a session is, at level 0.01 or at the level that is given; a run whose alarm
    rings ends there, without a certificate, and is counted in `alarm_runs`.

    With `keep="traces"` the course of run i is `runs.traces[i]`, in the form of `Session.trace()`: it is played again,
    bit for bit, when it is asked for, so that however many runs there are, none takes up memory or time until then.

    Ctrl-C keeps what is finished: the result then has fewer runs and says `interrupted`. A world that breaks what the
    problem states (a norm, a noise, the known safe level) is simulated with a `WorldBreaksStatement` warning.
    """
    check_world(world)
    if not isinstance(problem, Problem):
        raise InvalidInput("problem", problem, "must be a Problem", "world.problem(...) builds a fitting one.")
    problem.check_unchanged()
    world.matches(problem)
    policy = check_policy(policy)
    runs, max_pulls, seed = check_count("runs", runs), check_count("max_pulls", max_pulls), check_seed(seed)
    workers = check_workers(workers) or os.cpu_count() or 1
    keep = checked_keep(keep)
    warn_of_broken_statements(world, problem)
    found, response = faced(policy, problem), world.response()
    found.check_memory(states=min(workers, runs))
    watch = simulated_watch(problem, policy.guarantee(problem), checked_alarm(alarm), max_pulls)
    first_run = check_seed(first_run, "first_run")
    if check_device(device, alarm) == CUDA:
        pieces = device_chunks(device_play(found, response, watch, compiling), seed, max_pulls, first_run, runs)
    else:
        play = play_of(found, response, watch, compiling)  # once, before threads ask for it
        starts = chunks(first_run, runs, workers)
        pieces = finished_chunks(play, found, response, watch, seed, max_pulls, starts, workers)
    done: dict[int, Records] = {}
    with one_bar(progress, f"runs of {policy.name}", runs) as advance:
        for start, records in pieces:
            done[start] = records
            advance(len(records.pulls))
    found_runs = assembled(world, problem, policy, seed, runs, done)
    if keep is None:
        return found_runs
    again = Traces(world, problem, policy, seed, found_runs.run, found_runs.pulls)
    return replace(found_runs, traces=again)


def checked_keep(keep: object) -> str | None:
    """What is kept of each run besides its record, None for nothing."""
    if keep is not None and keep != "traces":
        raise InvalidInput("keep", keep, "must be 'traces' or None", "Pass keep='traces' for the course of each run.")
    return keep


def checked_alarm(alarm: object) -> float | None:
    """The level of the alarm, None for none."""
    if alarm is None or alarm is False:
        return None
    return (
        LEVEL
        if alarm is True
        else number("alarm", alarm, "Pass True, False or a level such as 0.01.", above=0.0, below=1.0)
    )


def chunks(first_run: int, runs: int, workers: int) -> list[tuple[int, int]]:
    """The runs cut into pieces (first run, number), enough of them to keep every worker busy to the end."""
    size = max(1, min(LARGEST_CHUNK, -(-runs // (8 * workers))))
    return [(first_run + a, min(size, runs - a)) for a in range(0, runs, size)]


def finished_chunks(
    play: Any, found: Faced, response: Response, watch: Watch, seed: int, max_pulls: int,
    starts: list[tuple[int, int]], workers: int,
) -> Iterator[tuple[int, Records]]:  # fmt: skip
    """The records of each chunk as soon as it is done; ends early, in peace, on Ctrl-C."""
    from joblib import Parallel, delayed

    cancel, hands = np.zeros(1, np.int64), hands_for_runs(workers, min(workers, len(starts)))
    hand = hand_of(found) if hands > 0 else None
    tasks = (
        delayed(played)(play, found, response, watch, seed, max_pulls, start, count, cancel, hand, hands)
        for start, count in starts
    )
    try:
        # Threads: compiled code runs without the interpreter's lock, and nothing has to be sent anywhere.
        yield from Parallel(n_jobs=workers, prefer="threads", return_as="generator_unordered")(tasks)
    except KeyboardInterrupt:
        return
    finally:
        cancel[0] = 1  # whoever still computes for nobody stops at once


def played(
    play: Any, found: Faced, response: Response, watch: Watch, seed: int, max_pulls: int, start: int, count: int,
    cancel: Indices, hand: Any = None, hands: int = 0,
) -> tuple[int, Records]:  # fmt: skip
    """The records of one chunk; with helpers, where there are fewer runs than workers and many arms."""
    records = new_records(count, len(found.inst.X))
    inst, truth, room = side_by_side((found.inst, response.truth, response.room))[1]
    state, work = found.new_state(), found.new_work()
    with helped(hand, inst, state, work, hands):
        play(inst, found.plan.rules, truth, room, watch.new(), seed, start, max_pulls, state, work, records, cancel)
    return start, records


def assembled(world: World, problem: Problem, policy: Policy, seed: int, runs: int, done: dict[int, Records]) -> Runs:
    """The finished runs in order."""
    order = sorted(done)
    parts = [done[start] for start in order] or [new_records(0, problem.size)]
    records = Records(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
    numbers = [np.arange(start, start + len(done[start].pulls)) for start in order]
    number = np.concatenate(numbers) if numbers else np.zeros(0, np.int64)
    finished = records.status != PULL
    kept = Records(*(column[finished] for column in records))
    return judged(problem, policy, seed, number[finished], kept, runs, world.judge(problem))


def run_session(
    world: World,
    session: Session,
    *,
    seed: int = 0,
    watch: Callable[[Session], object] | None = None,
    max_pulls: int | None = None,
) -> list[Pull]:
    """The pulls that were made: the world answers until the session stops, or so many pulls are made.

    With the session's own seed it is run 0 of `simulate`, told in the user's units. What the world answers is taken in
    however implausible it is: nobody mistyped it. `watch` is called before the first pull and after each.
    """
    if not isinstance(session, Session):
        raise InvalidInput("session", session, "must be a Session", "Begin one with sf.Session(problem).")
    check_world(world)
    most = inf if max_pulls is None else check_count("max_pulls", max_pulls)
    show = watch or (lambda session: None)
    made: list[Pull] = []
    show(session)
    while not session.stopped and len(made) < most:
        pull = session.ask()
        session.tell(pull, **world.measure(pull, seed=seed, problem=session.problem), confirm=True)
        made.append(pull)
        show(session)
    return made
