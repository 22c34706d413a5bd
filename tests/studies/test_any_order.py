"""Whatever happens in whatever order, by whichever handle: the state follows from what was acknowledged."""

import warnings
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_studies import begun, measured

import surefoot as sf
from surefoot.errors import BudgetOpen, Finished, Frozen, LevelExceeded

SURE = {"not_because_of_result": True}
STEP = st.tuples(
    st.sampled_from(["ask", "ask", "tell", "tell", "tell", "add", "cancel", "fail", "expire", "abort", "freeze",
                     "release", "reopen"]),
    st.integers(0, 2),  # the handle
    st.integers(0, 5),  # which of the open pulls, or how many
)  # fmt: skip


class Expected:
    """What was acknowledged, kept by hand."""

    def __init__(self) -> None:
        self.states: dict[int, str] = {}
        self.pulls: dict[int, sf.Pull] = {}
        self.rewards: dict[int, float] = {}
        self.frozen = False

    @property
    def open(self) -> list[int]:
        return [number for number, state in self.states.items() if state == "open"]


def step(expected: Expected, handle: sf.Study, verb: str, choice: int) -> None:
    """One verb, on the study and on paper."""
    if verb == "ask":
        try:
            pulls = handle.ask(1 + choice % 3)
        except Frozen:
            assert expected.frozen
            return
        except (Finished, BudgetOpen):
            return
        assert not expected.frozen
        for pull in pulls:
            assert pull.number == len(expected.states) + 1
            expected.states[pull.number], expected.pulls[pull.number] = "open", pull
    elif verb == "add":
        try:
            number = handle.add(choice % 4, 0.1, 0.05 * choice, [0.0, 0.01], **SURE)
        except Finished:
            return
        assert number == len(expected.states) + 1
        expected.states[number], expected.rewards[number] = "told", 0.05 * choice
    elif verb == "freeze":
        handle.freeze("a drill", "Ada")
        expected.frozen = True
    elif verb == "release" and expected.frozen:
        handle.release("the drill is over", "Ada")
        expected.frozen = False
    elif expected.open and verb in ("tell", "cancel", "fail", "expire", "abort"):
        close(expected, handle, verb, expected.open[choice % len(expected.open)])


def close(expected: Expected, handle: sf.Study, verb: str, number: int) -> None:
    """One open pull less."""
    if verb == "tell":
        result = measured(expected.pulls[number])
        handle.tell(number, **result)
        expected.states[number], expected.rewards[number] = "told", result["reward"]
    elif verb == "abort":
        handle.abort(number, "it looked unsafe", "Ada")
        expected.states[number], expected.frozen = "aborted-unsafe", True
    elif verb == "expire":
        handle.expire(number, **SURE)
        expected.states[number] = "stale"
    else:
        getattr(handle, verb)(number, "it did not work", **SURE)
        expected.states[number] = {"cancel": "cancelled", "fail": "failed"}[verb]


@pytest.mark.parametrize("intake", ["by-number", "on-arrival"])
@settings(max_examples=60)
@given(steps=st.lists(STEP, min_size=5, max_size=40), budget=st.sampled_from([None, 6]), case=st.uuids())
def test_the_state_follows_from_what_was_acknowledged(intake: Any, steps: Any, budget: int | None, case: Any) -> None:
    name, expected = f"any order {intake} {case}", Expected()
    handles = [begun("memory", name, intake=intake, max_pulls=budget, load_if_exists=True)]
    handles += [sf.load_study(name, "memory") for _ in range(2)]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", LevelExceeded)
            for verb, who, choice in steps:
                if verb == "reopen":
                    handles[who] = sf.load_study(name, "memory")
                else:
                    step(expected, handles[who], verb, choice)
        check(expected, [*handles, sf.load_study(name, "memory")], intake)
    finally:
        sf.delete_study(name, "memory")


def check(expected: Expected, handles: list[sf.Study], intake: str) -> None:
    """Every handle says what stands on paper."""
    statuses = [handle.status() for handle in handles]
    assert all(status == statuses[0] for status in statuses)
    assert statuses[0].open == expected.open
    assert (statuses[0].frozen is not None) == expected.frozen
    history = handles[0].history.set_index("number")
    assert history["state"].to_dict() == expected.states
    assert history["reward"].dropna().to_dict() == expected.rewards
    assert handles[0].audit().clean
    told = [number for number, state in expected.states.items() if state == "told"]
    if intake == "by-number" and not handles[0].stopped:
        first_open = min(expected.open, default=len(expected.states) + 1)
        assert statuses[0].pulls == len([number for number in told if number < first_open])
    assert statuses[0].pulls + statuses[0].held_back + statuses[0].unused == len(told)
