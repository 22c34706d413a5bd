"""Units in which the bounds say nothing are named, with what to rescale."""

import pytest

import surefoot as sf
from surefoot.theory import report
from surefoot.theory.units import BEYOND_USE, unit_notes


def pumps(factors: tuple[float, float], norm: float = 2.0, epsilon: float = 0.3) -> sf.Problem:
    one, other = factors
    return sf.Problem(
        {"pump A": [one, 0.0], "pump B": [0.0, other], "both": [0.6 * one, 0.4 * other]},
        sf.Reward(noise=0.5, norm=norm), sf.Limit("pressure", at_most=8.0, baseline=5.0, noise=0.3, norm=5.0),
        safe_level=0.2, epsilon=epsilon, delta=0.05, delta_safety=0.05, regularization=0.1,
    )  # fmt: skip


def test_sensible_units_need_no_note() -> None:
    assert unit_notes(pumps((1.0, 1.0))) == []


@pytest.mark.parametrize("factors", [(3000.0, 1.0), (1.0, 1e-4)])
def test_features_of_unlike_sizes_are_named(factors: tuple[float, float]) -> None:
    (note, *_) = unit_notes(pumps(factors))
    assert note.startswith("Rescale the features: feature 1 goes up to")
    assert "feature 2 only to" in note


def test_norms_that_allow_far_more_than_is_asked_about_are_named() -> None:
    assert any(note.startswith("Rescale reward: ") for note in unit_notes(pumps((1e3, 1e3), norm=1e3)))
    assert any(note.startswith("Rescale pressure: ") for note in unit_notes(pumps((1e4, 1e4))))


@pytest.mark.parametrize(
    ("factors", "epsilon", "words"),
    [
        ((30.0, 1.0), 0.01, "Rescale the features"),
        ((1.0, 1.0), 1e-6, "raise epsilon"),
        ((2.0, 1.0), 1e-3, "say nothing"),
    ],
)
def test_a_report_beyond_use_says_what_to_do(factors: tuple[float, float], epsilon: float, words: str) -> None:
    found = report(pumps(factors, epsilon=epsilon))
    assert max(need.pulls for need in found.exploration) > BEYOND_USE
    assert any(words in note for note in found.notes)
    assert all(len(text) < 80 for label, text in found.lines() if label != "note")  # and prints no long numbers
