"""Pictures of experiments: real files, the same from a study, a trace and a frame, whatever the names are."""

import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import surefoot as sf
from scenes import arena
from surefoot import plots
from surefoot.cli.help_pages import PICTURES
from surefoot.errors import InvalidInput
from surefoot.plots.style import rendered, shortened
from surefoot.simulation import run_session

HOSTILE = ["$\\frac{1}$", "<b>&\"'|`", "_hidden", "日本 \U0001f4a7", "x" * 200]
FRAMES = {
    "levels": plots.levels_frame, "gap": plots.gap_frame, "readings": plots.readings_frame,
    "pulls": plots.pulls_frame, "rewards": plots.rewards_frame,
}  # fmt: skip


@pytest.fixture(scope="module")
def session() -> sf.Session:
    """One that has come some way."""
    world, problem = arena()
    found = sf.Session(problem, seed=3)
    run_session(world, found, seed=3, max_pulls=60)
    return found


def test_every_picture_has_a_twin_and_is_on_the_command_line() -> None:
    assert set(plots.KINDS) == set(FRAMES) == set(PICTURES)
    for kind in plots.KINDS:
        assert getattr(sf.plots, kind) is plots.KINDS[kind]
        assert getattr(sf.plots, f"{kind}_frame") is FRAMES[kind]


@pytest.mark.parametrize("kind", plots.KINDS)
def test_a_frame_gives_the_picture_of_its_session(session: sf.Session, kind: str) -> None:
    draw, frame = plots.KINDS[kind], FRAMES[kind]
    expected = rendered(draw(session), "svg")
    assert rendered(draw(session.trace()), "svg") == expected
    assert rendered(draw(frame(session)), "svg") == expected
    assert rendered(draw(frame(session, kind="polars")), "svg") == expected
    assert rendered(draw(session, theme="dark"), "svg") != expected


@pytest.mark.parametrize("kind", plots.KINDS)
@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_files_are_of_their_kind(session: sf.Session, kind: str, ending: str, tmp_path: Path) -> None:
    figure = plots.KINDS[kind](session, width=5.0)
    content = rendered(figure, ending)
    assert content.startswith({"png": b"\x89PNG\r\n", "svg": b"<?xml", "pdf": b"%PDF"}[ending])
    if ending == "svg":
        assert ElementTree.fromstring(content).tag.endswith("svg")
    figure.savefig(tmp_path / f"x.{ending}")  # it is a figure like any other
    assert figure._repr_png_().startswith(b"\x89PNG")


@pytest.mark.parametrize("kind", plots.KINDS)
@pytest.mark.parametrize("pulls", [0, 1])
def test_an_experiment_that_has_hardly_begun_can_be_drawn(kind: str, pulls: int) -> None:
    world, problem = arena()
    session = sf.Session(problem, seed=3)
    if pulls:
        run_session(world, session, seed=3, max_pulls=pulls)
    assert rendered(plots.KINDS[kind](session), "png").startswith(b"\x89PNG")


@pytest.mark.parametrize("kind", plots.KINDS)
def test_names_are_drawn_as_they_are(kind: str) -> None:
    """No formula, no missing line, no error, whatever somebody calls an option or a limit."""
    world, problem = arena()
    named = problem.with_(
        names=HOSTILE[:4], safety=[sf.Limit(**{**limit.to_dict(), "name": name}) for limit, name in
                                   zip(problem.safety, HOSTILE[3:], strict=True)]  # type: ignore[arg-type]
    )  # fmt: skip
    session = sf.Session(named, seed=3)
    for _ in range(12):
        pull = session.ask()
        session.tell(pull, **world.measure(pull, seed=3))
    assert rendered(plots.KINDS[kind](session), "svg").startswith(b"<?xml")
    assert set(plots.pulls_frame(session)["name"]) == set(HOSTILE[:4])


def test_the_numbers_in_the_frames_are_those_of_the_session(session: sf.Session) -> None:
    problem = session.problem
    levels = plots.levels_frame(session)
    last = levels[levels["round"] == session.pulls].set_index("name")
    assert last["certified"].to_dict() == dict(session.status().levels)
    assert last["known_safe"].tolist() == problem.safe_level.tolist()
    assert plots.gap_frame(session)["gap"].iloc[-1] == session.gap
    assert set(plots.gap_frame(session)["epsilon"]) == {problem.epsilon}
    assert dict(zip(*plots.pulls_frame(session).to_numpy().T.tolist(), strict=True)) == dict(
        session.status().pulls_per_arm
    )
    rewards = plots.rewards_frame(session).set_index("name")
    expected = session.levels * session.estimates
    assert rewards["reward"].to_numpy() == pytest.approx(expected)
    assert (rewards["low"] <= rewards["reward"]).all()
    assert (rewards["reward"] <= rewards["high"]).all()
    assert rewards.loc[session.status().leader, "role"] in ("leads", "challenges")
    readings = plots.readings_frame(session)
    assert len(readings) == session.pulls * len(problem.safety)
    for limit in problem.safety:
        mine = readings[readings["limit"] == limit.name]
        beyond = limit.sign * (mine["worst_mean"] - mine["mean_allowed"])
        assert (beyond >= -1e-12).all()  # every pull was certified when it was made
        assert set(mine["allowed"]) == {limit.limit}


def test_chosen_arms_are_drawn_alone(session: sf.Session) -> None:
    name = session.problem.names[2]
    assert set(plots.levels_frame(session, arms=[name])["name"]) == {name}
    frame = plots.levels_frame(session)
    chosen = rendered(plots.levels(frame, arms=[name]), "svg")
    assert chosen == rendered(plots.levels(session, arms=[name]), "svg")
    with pytest.raises(InvalidInput, match="is not the name of an arm in the frame"):
        plots.levels(frame, arms=["nobody"])
    with pytest.raises(InvalidInput, match="not among the arms that are followed"):
        plots.levels(session.trace(arms=[0]), arms=[name])


def test_a_history_counts_its_pulls(session: sf.Session) -> None:
    study = sf.create_study(session.problem, name="counted", storage="memory", seed=3)
    try:
        study.ask(3)
        frame = plots.pulls_frame(study.history)
        assert int(frame["pulls"].sum()) == 3
        assert rendered(plots.pulls(study.to_polars()), "png").startswith(b"\x89PNG")
    finally:
        sf.delete_study("counted", "memory")


@pytest.mark.parametrize(
    ("settings", "words"),
    [({"theme": "pink"}, "theme = 'pink'"), ({"width": 0}, "width = 0"), ({"width": float("nan")}, "width")],
)
def test_what_cannot_be_drawn_so_is_refused(session: sf.Session, settings: Any, words: str) -> None:
    for draw in plots.KINDS.values():
        with pytest.raises(InvalidInput, match=words):
            draw(session, **settings)


def test_what_has_no_course_is_refused_by_name() -> None:
    import pandas as pd

    for source in ("pumps", 3, None, np.zeros(3)):
        with pytest.raises(InvalidInput, match="source"):
            plots.levels(source)
    with pytest.raises(InvalidInput, match="no column 'gap'"):
        plots.gap(pd.DataFrame({"round": [1], "epsilon": [0.1]}))
    with pytest.raises(InvalidInput, match="kind"):
        plots.gap_frame(sf.Session(arena()[1]), kind="arrow")


def test_long_names_keep_both_ends() -> None:
    assert shortened("north-sector 20W tilt 8", 15) == "north-s…tilt 8"
    assert shortened("short", 15) == "short"
    assert shortened("costs $5 and $6") == r"costs \$5 and \$6"


def test_nothing_that_draws_is_loaded_before_it_is_needed() -> None:
    program = "import sys, surefoot; surefoot.plots.levels; print(sorted({'matplotlib', 'pandas'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_without_matplotlib_the_extra_is_named(session: sf.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(sf.errors.MissingExtra, match=r"surefoot\[plots\]"):
        plots.gap(session)
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(sf.errors.MissingExtra, match=r"surefoot\[polars\]"):
        plots.gap_frame(session, kind="polars")


# -- on a dial in real units ------------------------------------------------------------------------------------------


def test_levels_on_a_dial_are_drawn_as_settings() -> None:
    world, problem = arena()
    problem = problem.with_(dial=sf.Dial("mg", full=40))
    found = sf.Session(problem, seed=3)
    run_session(world, found, seed=3, max_pulls=12)
    figure = plots.levels(found)
    figure.canvas.draw()
    panel = figure.axes[0]
    assert panel.get_ylabel() == "mg"
    marks = zip(panel.get_yticks(), [label.get_text() for label in panel.get_yticklabels()], strict=True)
    assert [float(text) for level, text in marks if 0 <= level <= 1] == pytest.approx([0, 10, 20, 30, 40], rel=1e-9)
    assert any(text.get_text().endswith(" mg") for text in panel.texts)
    plain = plots.levels(plots.levels_frame(found)).axes[0]  # a table has no dial
    assert plain.get_ylabel() == "level"
