"""The live view of a study: it redraws as others work, bears with a storage that is away, and ends with the study."""

import io
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
    for word in ("decide, 0 pulls", "decide, 1 pull,", "decide, 2 pulls", "undecided, 3 pulls", "3 told", "by bench-3"):
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


@pytest.mark.parametrize(
    ("microseconds", "words"),
    [(-5, "0 s"), (3_000_000, "3 s"), (119_000_000, "119 s"), (7_200_000_000, "2 h"), (600_000_000, "10 min")],
)
def test_ages_are_shown_in_one_unit(microseconds: int, words: str) -> None:
    assert watch.age(microseconds) == words
