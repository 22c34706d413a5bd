"""Whatever is told, held, corrected, voided and given up, in whatever order: who opens the study knows the same."""

import warnings
from typing import Any

import numpy as np
import pytest
from small_studies import begun, itself, measured

import surefoot as sf
from surefoot.errors import Frozen, SurefootError

CHANCES = {
    "ask": 0.3, "tell": 0.35, "typo": 0.06, "confirm": 0.03, "correct": 0.1, "void": 0.05, "cancel": 0.05, "held": 0.06,
}  # fmt: skip
WHO = {"reason": "it was misread", "by": "Ada"}


def anything(study: sf.Study, rng: np.random.Generator) -> None:
    """One step, whichever comes."""
    what = str(rng.choice(list(CHANCES), p=list(CHANCES.values())))
    waiting, told, held = list(study.open_pulls), study.results(), study.held
    if what == "ask":
        study.ask(int(rng.integers(1, 4)), worker=str(rng.integers(3)))
    elif what == "correct" and told:
        row = told[int(rng.integers(len(told)))]
        study.correct(row.number, reward=row.reward + float(rng.normal()) / 50, **WHO)
    elif what == "void" and told:
        study.void(told[int(rng.integers(len(told)))].number, **WHO)
    elif what == "held" and held:
        each = held[int(rng.integers(len(held)))]
        if rng.random() < 0.3:
            study.void(each.number, **WHO)
        else:
            study.tell(each.number, reward=0.1, safety=[-0.05, -0.05])
    elif waiting:
        pull = waiting[int(rng.integers(len(waiting)))]
        result: Any = dict(measured(pull))
        if what in ("typo", "confirm"):
            result["safety"] = [-30.0, 0.0] if rng.random() < 0.5 else [2.0, 0.0]
        if what == "cancel":
            study.cancel(pull, "closed", not_because_of_result=True)
        else:
            study.tell(pull, **result, confirm=what == "confirm")


@pytest.mark.parametrize("intake", ["by-number", "on-arrival"])
@pytest.mark.parametrize("seed", range(6))
def test_a_study_is_the_same_for_whoever_opens_it(seed: int, intake: str) -> None:
    rng = np.random.default_rng(seed)
    name = f"mended {seed} {intake}"
    study = begun("memory", name, intake=intake, max_pulls=60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(150):
            try:
                anything(study, rng)
            except Frozen:
                study.release("it was a typo", by="Ada")
            except SurefootError:  # ended, held, implausible
                pass
        again = sf.load_study(name, "memory")
    assert again.audit().clean
    assert again.corrections
    one, other = study._handle.view(itself), again._handle.view(itself)
    np.testing.assert_array_equal(one.learner.state.whole, other.learner.state.whole)
    for fact in ("outstanding", "counts", "due", "max_pulls", "revisions", "confirmed", "raised", "end", "outcome",
                 "earlier_ends", "overshoots", "held_back", "unused", "_passed", "results", "recalled"):  # fmt: skip
        assert getattr(one, fact) == getattr(other, fact), fact
    assert again.status().states["told"] == len(again.results())
    assert one.unused >= 0
    rows = {row.number: row for row in again.results()}
    for number in other.results.numbers:
        level, reward, _ = other.result_of(number)
        assert (level, reward) == (rows[number].level, rows[number].reward)
    sf.delete_study(name, "memory")
