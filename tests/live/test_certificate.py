"""What is promised, in words and numbers: no more than the mathematics gives."""

import json
from typing import Any

import pytest

import surefoot as sf
from surefoot.live.certificate import certify_answer
from surefoot.policies.guarantee import Guarantee
from surefoot.problem.units import rounded_down, rounded_up


def problem(**changes: Any) -> sf.Problem:
    return sf.worlds.hard().paper_problem(delta=0.02, delta_safety=0.03, **changes)


def certificate(policy: Any, **changes: Any) -> sf.Certificate:
    posed = problem()
    return certify_answer(
        policy.guarantee(posed),
        posed,
        **({"arm": 0, "level": 1.0, "gap": 0.005, "pulls": 77, "overshoots": 0} | changes),
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
    found, stated = certificate(policy), policy.guarantee(problem())
    assert found.guarantee == stated.kind == guarantee
    assert found.confidence == stated.confidence == pytest.approx(confidence)
    assert found.keeps_limits == stated.keeps_limits == (guarantee != "without-limits")
    assert stated.safety == (pytest.approx(0.97) if stated.keeps_limits else None)


def test_the_default_policy_promises_b() -> None:
    session = sf.Session(problem())
    assert session.guarantee.kind == "within-epsilon"
    assert session.guarantee == sf.SafeGap().guarantee(problem())
    assert not any("null pull" in line for line in session.guarantee.assumptions)  # it takes part


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


def test_overshoots_are_left_out_of_the_promise_of_safety() -> None:
    assert "leaves out 2 pull" in certificate(sf.SafeLinGapE(), overshoots=2).statement


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
    assert sf.Certificate.from_dict(table) == found


def test_errors_that_fill_everything_leave_no_confidence() -> None:
    loose = sf.worlds.hard().paper_problem(delta=0.7, delta_safety=0.6)
    assert sf.SafeLinGapE(selection="optimistic").guarantee(loose).confidence == 0.0


def test_a_promise_of_a_policys_own_is_written_out_in_its_own_words() -> None:
    own = Guarantee(
        "at-least-half", "{answer} is worth half of the best, give or take {epsilon}.", 0.9, None, ("luck",)
    )
    found = certify_answer(own, problem(), arm=1, level=0.5, gap=0.0, pulls=3, overshoots=0)
    assert found.statement.startswith("With probability at least 0.9, a2 at level 0.5 is worth half of the best")
    assert (found.guarantee, found.assumptions, found.keeps_limits) == ("at-least-half", ("luck",), False)
    assert "crossed a limit" not in found.statement


def test_printed_numbers_never_promise_more_than_was_certified() -> None:
    assert (rounded_down(0.70826), rounded_down(1.0), rounded_down(0.95, 6)) == ("0.7082", "1", "0.95")
    assert float(rounded_down(1.0 - 1e-8, 6)) < 1.0
    assert (rounded_up(0.123401), rounded_up(0.01)) == ("0.1235", "0.01")
