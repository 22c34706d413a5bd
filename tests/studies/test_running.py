"""A study driven by a function."""

from typing import Any

import pytest
from small_studies import begun, measured

import surefoot as sf
from surefoot.errors import InvalidInput


def test_a_run_asks_calls_and_tells_until_so_many_pulls_are_made(storage: str) -> None:
    study, seen = begun(storage), []
    assert study.run(measured, max_pulls=6, callbacks=[lambda study, pull: seen.append((study.pulls, pull))]) == 6
    assert [number for number, _ in seen] == [1, 2, 3, 4, 5, 6]
    assert [pull.number for _, pull in seen] == [1, 2, 3, 4, 5, 6]
    assert study.run(lambda pull: tuple(measured(pull).values()), max_pulls=2) == 2
    assert study.audit().clean


def test_a_function_that_fails_leaves_its_pull_open_for_the_next_run(storage: str) -> None:
    study = begun(storage)

    def broken(pull: sf.Pull) -> Any:
        raise OSError("the instrument is off")

    with pytest.raises(OSError, match="instrument"):
        study.run(broken)
    assert [pull.number for pull in study.open_pulls] == [1]
    again = sf.load_study("power", storage)
    assert again.run(measured, max_pulls=2) == 2
    assert again.history["state"].tolist() == ["told", "told"]


def test_a_run_ends_with_the_study() -> None:
    study = begun("memory", "ends", max_pulls=5)
    assert study.run(measured) == 5
    assert study.outcome == "undecided"
    assert study.run(measured) == 0


def test_who_finds_the_budget_in_other_hands_is_done() -> None:
    study = begun("memory", "shared budget", max_pulls=5)
    held = study.ask(2, worker="other")
    assert study.run(measured) == 3
    assert study.outcome is None
    for pull in held:
        study.tell(pull, **measured(pull))
    assert study.outcome == "undecided"


@pytest.mark.parametrize(
    "returned", [None, 1.0, (1.0,), {"reward": 1.0}, {"reward": 1.0, "safety": [0, 0], "dose": 1}, (1.0, [0.0])],
    ids=["nothing", "number", "short", "no safety", "unknown", "one limit"],
)  # fmt: skip
def test_what_is_no_result_is_refused_and_the_pull_stays_open(returned: Any) -> None:
    study = begun("memory", f"refused {returned}")
    with pytest.raises(InvalidInput):
        study.run(lambda pull: returned)
    assert len(study.open_pulls) == 1


def test_bad_arguments_are_refused_before_anything_is_asked() -> None:
    study = begun("memory", "untouched")
    for arguments in ({"function": 7}, {"max_pulls": 0}, {"callbacks": [7]}, {"worker": ""}):
        with pytest.raises(InvalidInput):
            study.run(**{"function": measured, **arguments})  # type: ignore[arg-type]
    assert study.status().events == 0


def test_progress_goes_to_the_terminal_and_not_to_the_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert begun("memory", "shown").run(measured, max_pulls=3, progress=True) == 3
    assert capsys.readouterr().out == ""
