"""The live picture: drawn from what a session says, for few arms and for many."""

import io

import numpy as np
from rich.console import Console

import surefoot as sf
from surefoot.cli import live
from surefoot.cli.output import Output
from surefoot.simulation import run_session


def frame(session: sf.Session, history: live.History) -> str:
    """One frame as text."""
    console = Console(file=io.StringIO(), width=100, color_system=None)
    console.print(live.picture("a title", session.status(), session.guarantee.keeps_limits, history))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_frame_shows_phase_pulls_gap_epsilon_and_levels() -> None:
    world = sf.worlds.limited()
    session = sf.Session(world.default_problem(), sf.SafeLinGapE(explore=sf.RoundRobin(8)), seed=1)
    history = live.History()
    assert "explore, 0 pulls, epsilon" in frame(session, history)
    run_session(world, session, seed=1, watch=history.add, max_pulls=20)
    shown = frame(session, history)
    assert "decide, 20 pulls, gap" in shown
    assert all(name in shown for name in session.problem.names)
    assert "█" in shown


def test_a_frame_of_many_arms_stays_short() -> None:
    world = sf.worlds.sphere(arms=200, dim=4, lead=0.001)
    session, history = sf.Session(world.default_problem(), seed=1), live.History()
    shown = frame(session, history)
    assert "and 188 more" in shown
    assert len(shown.splitlines()) < 20


def test_a_history_stays_short_and_evenly_spaced() -> None:
    world = sf.worlds.limited()
    session, history = (
        sf.Session(world.default_problem(), sf.SafeLinGapE(selection="optimistic"), seed=1),
        live.History(),
    )
    run_session(world, session, seed=1, watch=history.add, max_pulls=700)
    numbers = [point[0] for point in history.points]
    assert len(numbers) < 2 * live.POINTS
    assert set(np.diff(numbers)) == {history.stride}


def test_a_curve_rises_with_its_values() -> None:
    assert live.curve([0.0, 0.5, 1.0], 0.0, 1.0) == "▁▅█"
    assert live.curve([2.0, 2.0]) == "▁▁"
    assert live.curve([]) == ""
    assert len(live.curve(list(range(1000)))) <= live.POINTS


def test_nothing_is_drawn_when_nobody_wants_it() -> None:
    with live.watched(Output(quiet=True), "a title") as watch:
        assert watch is live.unwatched
