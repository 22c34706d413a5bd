"""The live view of a study: it redraws as others work, bears with a storage that is away, and ends with the study."""

import io
import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import surefoot as sf
from surefoot.cli import live, watch
from surefoot.cli.job import Which
from surefoot.cli.output import Output
from surefoot.errors import StorageUnavailable
from surefoot.simulation import run_session

PROBLEM = sf.worlds.limited().default_problem()


@pytest.fixture
def study(tmp_path: Path) -> sf.Study:
    return sf.create_study(PROBLEM, name="power", storage=f"sqlite:///{tmp_path / 'a.db'}", max_pulls=3)


def terminal() -> tuple[Output, io.StringIO]:
    """An output that believes it is a terminal, and what is written to it."""
    written = io.StringIO()
    output = Output()
    output.__dict__["out"] = Console(file=written, force_terminal=True, width=100, color_system=None)
    return output, written


def test_the_view_goes_on_until_the_study_ends(study: sf.Study, monkeypatch: pytest.MonkeyPatch) -> None:
    output, written = terminal()
    looks: list[int] = []

    def meanwhile(seconds: float) -> None:
        looks.append(study.pulls)
        study.run(lambda pull: (0.1, 0.0), max_pulls=1, worker=f"bench-{len(looks)}")

    monkeypatch.setattr(watch.time, "sleep", meanwhile)
    watch.shown_live(output, study, watch.look(study), 0.5)
    assert looks == [0, 1, 2]
    shown = written.getvalue()
    spans = PROBLEM.features.shape[1]  # so many pulls explore
    phases = ["explore" if pulls < spans else "decide" for pulls in range(3)]
    words = (f"{phases[0]}, 0 pulls", f"{phases[1]}, 1 pull,", f"{phases[2]}, 2 pulls")
    for word in (*words, "undecided, 3 pulls", "3 told", "by bench-3"):
        assert word in shown, word


def test_a_storage_that_is_away_for_a_while_is_shown_and_borne(
    study: sf.Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    output, written = terminal()
    first, looks = watch.look(study), iter("ab")

    def look(watched: sf.Study) -> Any:
        if next(looks) == "a":
            raise StorageUnavailable("postgresql://lab", "does not answer")
        study.run(lambda pull: (0.1, 0.0))
        return first_look(watched)

    first_look = watch.look
    monkeypatch.setattr(watch, "look", look)
    monkeypatch.setattr(watch.time, "sleep", lambda seconds: None)
    watch.shown_live(output, study, first, 0.5)
    assert "does not answer" in written.getvalue()
    assert "undecided, 3 pulls" in written.getvalue()


def test_ctrl_c_ends_the_view_and_not_the_study(study: sf.Study, monkeypatch: pytest.MonkeyPatch) -> None:
    def ctrl_c(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(watch.time, "sleep", ctrl_c)
    output, _ = terminal()
    assert watch.watch_study(output, Which("power", study.storage), False, 1.0) == 0
    assert study.ask().number == 1


def test_a_look_writes_nothing(study: sf.Study) -> None:
    study.ask(3)
    before = study.status()
    for _ in range(3):
        watch.look(study)
    assert study.status() == before


def test_a_history_that_is_followed_stays_short(study: sf.Study) -> None:
    world, history = sf.worlds.limited(), live.History()
    session = sf.Session(PROBLEM, sf.SafeLinGapE(selection="optimistic"), seed=1)

    def twice(session: sf.Session) -> None:
        history.follow(session.status())
        history.follow(session.status())

    run_session(world, session, seed=1, watch=twice, max_pulls=299)
    numbers = [point[0] for point in history.points]
    assert len(numbers) < 2 * live.POINTS
    assert numbers == sorted(set(numbers))
    assert (numbers[0], numbers[-1]) == (0, 299)


def curves(shown: str) -> list[str]:
    """The curves in what was shown: of the gap, and of the level of each arm behind its bar."""
    found = [re.findall(f"[{live.BLOCKS}]+", line) for line in shown.splitlines()]
    return [blocks[-1] for blocks in found if blocks]


def test_a_view_that_begins_late_shows_the_history_it_did_not_see(tmp_path: Path) -> None:
    world, storage = sf.worlds.limited(), f"sqlite:///{tmp_path / 'a.db'}"
    study = sf.create_study(PROBLEM, name="late", storage=storage, max_pulls=60)
    everything = live.History()
    everything.follow(study.status())
    for _ in range(60):
        pull = study.ask()
        study.tell(pull, **world.measure(pull, seed=2, problem=PROBLEM))
        everything.follow(study.status())
    output, written = terminal()
    assert watch.watch_study(output, Which("late", storage), True, 1.0) == 0
    shown = curves(written.getvalue())
    assert len(shown) == 1 + PROBLEM.size
    assert all(len(curve) > live.POINTS // 2 for curve in shown)
    seen = {pulls: (levels, gap) for pulls, levels, gap in everything.points}
    past = watch.past_of(sf.load_study("late", storage))
    assert (past[0].pulls, past[-1].pulls) == (0, 60)
    compared = [each for each in past if each.pulls in seen]
    assert len(compared) > live.POINTS // 2
    assert all((list(each.levels.values()), each.gap) == seen[each.pulls] for each in compared)


def test_a_view_shows_what_happened_between_two_looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = f"sqlite:///{tmp_path / 'a.db'}"
    study = sf.create_study(PROBLEM, name="gaps", storage=storage, max_pulls=40)
    output, written = terminal()
    monkeypatch.setattr(watch.time, "sleep", lambda seconds: study.run(lambda pull: (0.1, 0.0), max_pulls=40))
    watch.shown_live(output, study, watch.look(study), 0.5)
    assert len(curves(written.getvalue())[-1]) > live.POINTS // 2
    lines, told = Output(), io.StringIO()
    lines.__dict__["out"] = Console(file=told, width=100, color_system=None)
    other = sf.create_study(PROBLEM, name="lines", storage=storage, max_pulls=2)
    monkeypatch.setattr(watch.time, "sleep", lambda seconds: other.run(lambda pull: (0.1, 0.0)))
    watch.told_in_lines(lines, other, watch.look(other), 0.5)
    for words in ("pull 1 asked for", "pull 1 told", "pull 2 asked for", "pull 2 told"):
        assert words in told.getvalue()


@pytest.mark.parametrize(
    ("microseconds", "words"),
    [(-5, "0 s"), (3_000_000, "3 s"), (119_000_000, "119 s"), (7_200_000_000, "2 h"), (600_000_000, "10 min")],
)
def test_ages_are_shown_in_one_unit(microseconds: int, words: str) -> None:
    assert watch.age(microseconds) == words
