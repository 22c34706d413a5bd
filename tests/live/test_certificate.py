"""What is promised, in words and numbers: no more than the mathematics gives."""

import json
from typing import Any

import pytest

import surefoot as sf
from surefoot.live.certificate import certify_answer, confidence_of, guarantee_of, rounded_down, rounded_up


def problem(**changes: Any) -> sf.Problem:
    return sf.worlds.hard().paper_problem(delta=0.02, delta_safety=0.03, **changes)


def certificate(policy: Any, **changes: Any) -> sf.Certificate:
    return certify_answer(
        policy, problem(), **({"arm": 0, "level": 1.0, "gap": 0.005, "pulls": 77, "alarms": 0} | changes)
    )


@pytest.mark.parametrize(
    ("policy", "guarantee", "confidence"),
    [
        (sf.SafeGap(), "within-epsilon", 0.98),
        (sf.SafeLinGapE(), "proposition-1", 0.98),
        (sf.Uniform(), "proposition-1", 0.98),
        (sf.SafeLinGapE(levels="dynamic-max"), "proposition-1", 0.98),
        (sf.SafeLinGapE(selection="optimistic"), "within-epsilon", 0.95),
        (sf.Uniform(selection="optimistic"), "within-epsilon", 0.95),
        (sf.LinGapE(), "without-limits", 0.98),
    ],
)
def test_each_policy_promises_what_its_rule_gives(policy: Any, guarantee: str, confidence: float) -> None:
    found = certificate(policy)
    assert found.guarantee == guarantee_of(policy) == guarantee
    assert found.confidence == confidence_of(policy, problem()) == pytest.approx(confidence)


def test_the_default_policy_promises_b() -> None:
    session = sf.Session(problem())
    assert guarantee_of(session.policy) == "within-epsilon"
    assert session.policy.null_pull


def test_the_statement_says_what_and_how_surely() -> None:
    full = certificate(sf.SafeLinGapE(selection="optimistic")).statement
    assert "probability at least 0.95" in full
    assert "a1 at level 1" in full
    assert "0.97, no pull crossed a limit" in full
    modest = certificate(sf.SafeLinGapE()).statement
    assert "Proposition 1" in modest
    assert "at the level certified for it so far" in modest
    none = certificate(sf.LinGapE()).statement
    assert "Nothing is promised about the limits" in none
    assert "no pull crossed" not in none


def test_alarms_are_left_out_of_the_promise_of_safety() -> None:
    assert "leaves out 2 pull" in certificate(sf.SafeLinGapE(), alarms=2).statement


def test_assumptions_name_every_signal_and_the_missing_null_pull() -> None:
    found = certificate(sf.SafeLinGapE())
    assert found.assumptions[0].startswith("reward")
    assert any(line.startswith("safety") for line in found.assumptions)
    assert any("null pull" in line for line in found.assumptions)
    assert not any("null pull" in line for line in certificate(sf.SafeLinGapE(null_pull=True)).assumptions)
    assert not any("known level" in line for line in certificate(sf.LinGapE()).assumptions)


def test_doing_nothing_is_named() -> None:
    found = certificate(sf.SafeLinGapE(selection="optimistic", null_pull=True), arm=-1, level=0.0)
    assert found.name == "(nothing)"
    assert "doing nothing" in found.statement


def test_a_certificate_is_a_table() -> None:
    found = certificate(sf.SafeLinGapE())
    table = json.loads(json.dumps(found.to_dict()))
    assert table["gap"] == 0.005
    assert table["pulls"] == 77
    assert table["assumptions"] == list(found.assumptions)


def test_errors_that_fill_everything_leave_no_confidence() -> None:
    loose = sf.worlds.hard().paper_problem(delta=0.7, delta_safety=0.6)
    assert confidence_of(sf.SafeLinGapE(selection="optimistic"), loose) == 0.0


def test_printed_numbers_never_promise_more_than_was_certified() -> None:
    assert (rounded_down(0.70826), rounded_down(1.0), rounded_down(0.95, 6)) == ("0.7082", "1", "0.95")
    assert float(rounded_down(1.0 - 1e-8, 6)) < 1.0
    assert (rounded_up(0.123401), rounded_up(0.01)) == ("0.1235", "0.01")
