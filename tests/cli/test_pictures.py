"""`surefoot study plot`, `study report` and what `study show` says first."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import surefoot as sf
from prompt import Done, prompt_in
from surefoot.cli.help_pages import PICTURES

Write = Callable[[str, str], str]


@pytest.fixture
def here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], write: Write, pumps: str
) -> Callable[..., Done]:
    """What a command line does, in a folder with a study `pumps` that has some results."""
    typed = prompt_in(tmp_path, monkeypatch, capsys, 120)
    write("pumps.toml", pumps.replace("epsilon = 0.3", "epsilon = 0.1"))
    assert typed("study", "create", "pumps", "pumps.toml", "--seed", "7").status == 0
    return typed


def drive(most: int) -> sf.Study:
    """The study, after so many results or at its end."""
    study = sf.load_study("pumps")
    world = sf.worlds.Linear.for_problem(study.problem, theta_star=[1.5, 0.3], mu_star=[[4.0, 2.0]])
    while not study.stopped and study.pulls < most:
        pull = study.ask()
        study.tell(pull, **world.measure(pull, seed=7))
    return study


@pytest.mark.parametrize("kind", PICTURES)
@pytest.mark.parametrize("ending", ["png", "svg"])
def test_every_picture_is_written(here: Any, tmp_path: Path, kind: str, ending: str) -> None:
    drive(15)
    done = here("study", "plot", "pumps", kind, "-o", f"x.{ending}")
    assert (done.status, done.err) == (0, "")
    assert done.out == f"{kind} of pumps after 15 results: x.{ending}\n"
    assert (tmp_path / f"x.{ending}").read_bytes().startswith({"png": b"\x89PNG", "svg": b"<?xml"}[ending])
    again = here("study", "plot", "pumps", kind, "-o", f"x.{ending}")
    assert again.status == 2
    assert "--force" in again.err
    assert here("study", "plot", "pumps", kind, "-o", f"x.{ending}", "--force", "--json").status == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["pumps", "level", "-o", "x.png"], ["KIND = 'level'", "levels", "--list"]),
        (["pumps", "levels"], ["--out is not given", ".png, .svg, .pdf"]),
        (["pumps", "levels", "-o", "x.gif"], ["--out = 'x.gif'", ".png, .svg, .pdf"]),
        (["pumps", "levels", "-o", "no/x.png"], ["--out = 'no/x.png'", "folder"]),
        (["pumps", "-o", "x.png"], ["KIND is not given", "rewards"]),
        (["-o", "x.png"], ["STUDY is not given"]),
        (["pumps", "gap", "-o", "x.png", "--arm", "pump A"], ["--arm", "no meaning for gap"]),
        (["pumps", "levels", "-o", "x.png", "--arm", "pump C"], ["'pump C'", "Did you mean 'pump B'?"]),
        (["pumps", "levels", "-o", "x.png", "--theme", "pink"], ["--theme = 'pink'", "light, dark"]),
        (["pumps", "levels", "-o", "x.png", "--width", "0"], ["--width = 0"]),
        (["pumpz", "levels", "-o", "x.png"], ["pumpz"]),
    ],
)
def test_what_cannot_be_drawn_is_told_in_one_paragraph(
    here: Any, tmp_path: Path, words: list[str], told: list[str]
) -> None:
    done = here("study", "plot", *words)
    assert done.status != 0
    assert done.out == ""
    assert len(done.err.strip().splitlines()) == 1
    for word in told:
        assert word in done.err
    assert not list(tmp_path.glob("x.*"))


def test_the_pictures_are_listed(here: Any) -> None:
    listed = here("study", "plot", "--list")
    assert listed.status == 0
    shown = here("study", "plot", "--help").out
    for kind, what in PICTURES.items():
        assert kind in listed.out
        assert what in listed.out
        assert kind in shown
    assert json.loads(here("study", "plot", "--list", "--json").out)["pictures"] == PICTURES


@pytest.mark.parametrize(("ending", "files"), [("html", 1), ("md", 6)])
def test_a_report_is_written(here: Any, tmp_path: Path, ending: str, files: int) -> None:
    drive(15)
    done = here("study", "report", "pumps", "-o", f"r.{ending}", "--json")
    assert done.status == 0
    assert len(json.loads(done.out)["files"]) == files == len(list(tmp_path.glob("r*.*")))
    assert "No answer yet" in (tmp_path / f"r.{ending}").read_text("utf-8")
    again = here("study", "report", "pumps", "-o", f"r.{ending}")
    assert again.status == 2
    assert "--force" in again.err
    assert here("study", "report", "pumps", "-o", f"r.{ending}", "--force").status == 0


@pytest.mark.parametrize("words", [[], ["-o", "r.txt"], ["-o", "no/r.html"]])
def test_a_report_needs_a_place(here: Any, tmp_path: Path, words: list[str]) -> None:
    done = here("study", "report", "pumps", *words)
    assert done.status == 2
    assert "--out" in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert not list(tmp_path.glob("r.*"))


# -- what show says first ---------------------------------------------------------------------------------------------


def test_show_begins_with_who_leads_what_it_gives_and_how_long_it_may_take(here: Any) -> None:
    study = drive(45)
    assert not study.stopped
    lines = here("study", "show", "pumps").out.splitlines()
    assert lines[0].startswith(f"Leads  {study.status().leader};")
    assert "reward about" in lines[1]
    assert lines[2].strip().startswith("pressure about")
    assert "limit: pressure at most 8" in lines[2]
    trace = study.trace()
    assert f"To go  {trace.trials_to_go}" in lines
    document = json.loads(here("study", "show", "pumps", "--json").out)["outlook"]
    assert document["leader"] == study.status().leader
    assert document["trials_to_go"] == trace.trials_to_go.to_dict()  # type: ignore[union-attr]
    for place, each in enumerate(document["expected"]):
        assert each["level"] == trace.certified[-1, place]
        assert each["reward"]["mean"] == pytest.approx(trace.middle[-1, place, 0], rel=1e-12)
        assert each["reward"]["low"] == pytest.approx(trace.low[-1, place, 0], rel=1e-12)
        assert each["safety"]["pressure"]["high"] == pytest.approx(trace.high[-1, place, 1], rel=1e-12)


def test_show_begins_with_the_answer(here: Any) -> None:
    study = drive(1_000)
    assert study.outcome == "certified"
    lines = here("study", "show", "pumps").out.splitlines()
    assert lines[0].startswith("Answer  pump A at level ")
    assert "reward about" in lines[1]
    assert not [line for line in lines if line.startswith("To go")]


def test_show_of_a_study_that_has_not_begun_says_so(here: Any) -> None:
    done = here("study", "show", "pumps")
    assert done.out.splitlines()[0] == "No answer yet: exploring"
    document = json.loads(here("study", "show", "pumps", "--json").out)["outlook"]
    assert document["leader"] is None
    assert document["trials_to_go"] is None
