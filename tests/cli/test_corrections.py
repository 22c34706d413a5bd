"""Implausible results and corrections from the command line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import surefoot as sf
from surefoot.cli import main

Typed = Callable[..., tuple[int, str]]


@pytest.fixture
def typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    write: Callable[[str, str], str], pumps: str,
) -> Typed:  # fmt: skip
    """What a command line does, in an empty folder with a study `pumps` and one pull asked for."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("SUREFOOT_STORAGE", raising=False)
    write("pumps.toml", pumps)

    def typed(*words: str) -> tuple[int, str]:
        capsys.readouterr()
        status = main(["study", *words])
        out, err = capsys.readouterr()
        return status, out + err

    assert typed("create", "pumps", "pumps.toml")[0] == 0
    assert typed("ask", "pumps", "--worker", "north")[0] == 0
    return typed


def tell(value: str, *more: str) -> tuple[str, ...]:
    return ("tell", "pumps", "1", "--reward", "0.4", "--safety", value, *more)


def test_an_implausible_result_is_held_shown_and_replaced(typed: Typed) -> None:
    status, said = typed(*tell("56"))
    assert status == 7
    assert "pressure = 56, where" in said
    assert "--confirm" in said
    status, said = typed("ask", "pumps")
    assert (status, "pull 1, which north told, is held" in " ".join(said.split())) == (7, True)
    assert "Held, pull 1: pressure = 56" in typed("show", "pumps")[1]
    assert typed(*tell("5.6"))[0] == 0
    assert typed("ask", "pumps")[0] == 0


def test_it_is_taken_in_when_it_is_confirmed(typed: Typed) -> None:
    document: Any = json.loads(typed(*tell("11", "--json"))[1])
    assert document["error"]["kind"] == "Implausible"
    assert document["error"]["facts"]["unsafe"] is True
    status, said = typed(*tell("11", "--confirm"))
    assert (status, "Alarm: pressure" in said) == (10, True)  # it is an alarm as well, and that is told at once
    study = sf.load_study("pumps")
    assert (study.pulls, study.confirmed, study.frozen) == (1, (1,), True)


def test_a_result_is_corrected_and_voided(typed: Typed) -> None:
    assert typed(*tell("5.6"))[0] == 0
    status, said = typed("correct", "pumps", "1", "--safety", "5.7", "--reason", "misread", "--by", "Ada", "--json")
    document: Any = json.loads(said)
    assert (status, document["corrected"]["new"]["safety"]) == (0, {"pressure": 5.7})
    assert (
        "Put right, pull 1: reward 0.4, pressure 5.6 -> reward 0.4, pressure 5.7 (by Ada" in typed("show", "pumps")[1]
    )
    status, said = typed("correct", "pumps", "1", "--reason", "nothing", "--by", "Ada")
    assert (status, "Give reward or safety" in said) == (2, True)
    status, said = typed("void", "pumps", "1", "--reason", "unplugged", "--by", "Ada")
    assert (status, "Pull 1 is voided." in said) == (0, True)
    assert typed("void", "pumps", "1", "--reason", "unplugged", "--by", "Ada")[0] == 2
    assert typed("audit", "pumps")[0] == 0


def test_an_implausible_row_or_correction_is_refused_and_holds_nothing(typed: Typed, tmp_path: Path) -> None:
    assert typed(*tell("5.6"))[0] == 0
    (tmp_path / "spring.csv").write_text("arm,level,reward,safety\npump A,0.2,0.3,5.7\npump B,0.2,0.1,56\n")
    table = ("add-table", "pumps", "spring.csv", "--order", "as-measured", "--not-because-of-result")
    correct = ("correct", "pumps", "1", "--safety", "56", "--reason", "misread", "--by", "Ada")
    for words in (table, correct):
        status, said = typed(*words)
        assert (status, "pressure = 56, where" in said, "Nothing is taken in" in said) == (2, True, True)
    study = sf.load_study("pumps")
    assert (study.pulls, study.held, study.corrections, study.statements()) == (1, (), (), ())
    assert typed(*table, "--confirm")[0] == 0
    assert "1 implausible one confirmed" in typed("show", "pumps")[1]
