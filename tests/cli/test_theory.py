"""`surefoot theory FILE`: what the theory says about a user's problem."""

from collections.abc import Callable
from typing import Any

import pytest

import surefoot as sf
from surefoot.theory import report

Typed = Callable[..., Any]
Write = Callable[[str, str], str]

PAPERS = """
[world]
name = "hard"
"""


def test_a_problem_without_a_truth_gets_the_worst_case(typed: Typed, write: Write, pumps: str) -> None:
    done = typed("theory", write("pumps.toml", pumps))
    assert (done.returncode, done.stderr) == (0, "")
    for label in ("problem", "complexity", "level confidence", "exploration, round-robin", "Add a [world] table"):
        assert label in done.stdout
    assert "lower bound   " not in done.stdout


def test_with_a_truth_the_lower_bound_and_the_oracle_are_added(
    typed: Typed, write: Write, pumps_in_a_world: str
) -> None:
    shown = typed("theory", write("pumps.toml", pumps_in_a_world)).stdout
    for label in ("complexity at the true levels", "lower bound", "quickest answer", "oracle allocation", "pump A"):
        assert label in shown
    assert "Add a [world] table" not in shown


def test_the_papers_problem_reads_as_the_documentation_says(typed: Typed, write: Write) -> None:
    shown = typed("theory", write("paper.toml", PAPERS)).stdout
    shown = " ".join(shown.split())
    assert "1,446 pulls for methods that lean on no norm, as SafeGap (T* = 210.3" in shown
    assert "1,443 pulls for methods that use the stated norms" in shown
    assert "18 pulls at these deltas" in shown
    assert "the expected pulls up to the first unsafe one" in shown
    assert "a1 at level 1" in shown


def test_with_json_the_document_is_the_report_of_the_library(
    typed: Typed, write: Write, strict_json: Callable[[str], Any]
) -> None:
    found = strict_json(typed("theory", write("paper.toml", PAPERS), "--json").stdout)
    world = sf.worlds.hard()
    expected = report(world.default_problem(), world).to_dict()
    assert found["fingerprint"] == world.default_problem().fingerprint
    assert found["lower_bound"]["pulls"] == pytest.approx(1447, abs=1.0)
    assert found["lower_bound_with_norms"]["pulls"] == pytest.approx(1443.6, abs=1.5)
    assert found["lower_bound"]["gap"] <= 1e-3
    assert (found["lower_bound"]["strict"], found["strict_bound"]["strict"]) == (False, True)
    assert found["exploration"] == expected["exploration"]
    assert set(found["lower_bound"]["allocation"]) == {"a1", "a2", "a3", "a4"}
    assert found["warnings"] == []


@pytest.mark.parametrize("json", [False, True])
def test_a_file_that_is_not_there_is_named(typed: Typed, json: bool) -> None:
    done = typed("theory", "nowhere.toml", *(["--json"] if json else []))
    assert done.returncode == 2
    assert "nowhere.toml" in (done.stdout if json else done.stderr)


def test_a_broken_problem_is_refused_by_field(typed: Typed, write: Write, pumps: str) -> None:
    done = typed("theory", write("pumps.toml", pumps.replace("epsilon = 0.3", "epsilon = -1")))
    assert done.returncode == 2
    assert "epsilon = -1" in done.stderr


def test_a_file_is_required(typed: Typed) -> None:
    done = typed("theory")
    assert done.returncode == 2
    assert "See surefoot theory --help" in done.stderr
