"""Several pulls at once: what open ones may change (the next arm), and what they never do (levels, stopping)."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import surefoot as sf
from surefoot.errors import BudgetOpen, Finished, InvalidInput, LevelExceeded, NotOpen

POLICIES = {
    "default": None,
    "exploring": sf.SafeLinGapE(explore=sf.RoundRobin(25)),
    "remembering": sf.SafeLinGapE(levels="dynamic-max", selection="optimistic"),
    "rounding": sf.SafeLinGapE(selection="optimistic", pull="rounding"),
    "in turn": sf.Uniform(),
    "without limits": sf.LinGapE(),
}


def told(session: sf.Session, world: sf.worlds.Linear, pull: sf.Pull, seed: int = 1) -> None:
    session.tell(pull, **world.measure(pull, seed=seed))


def content(session: sf.Session) -> bytes:
    """All that the session has learned."""
    learner = session.ledger.learner
    return learner.state.whole.tobytes() + repr(learner.decision).encode()


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_one_at_a_time_is_ask_and_tell(policy: Any) -> None:
    world = sf.worlds.limited()
    plain, listed = (sf.Session(world.default_problem(), policy, seed=4, max_pulls=80) for _ in range(2))
    while not plain.stopped:
        pull = plain.ask()
        assert listed.ask(1) == [pull]
        assert listed.ask() == pull
        told(plain, world, pull)
        told(listed, world, pull)
    assert content(plain) == content(listed)
    assert plain.outcome == listed.outcome


def test_every_question_for_n_opens_n_new_pulls() -> None:
    session = sf.Session(sf.worlds.limited().default_problem(), seed=1)
    numbers = [pull.number for n in (3, 1, 4) for pull in session.ask(n)]
    assert numbers == list(range(1, 9))
    assert [pull.number for pull in session.open_pulls] == numbers
    assert session.ask() == session.open_pulls[0]


def test_asking_changes_nothing_that_was_learned() -> None:
    world = sf.worlds.limited()
    session = sf.Session(world.default_problem(), seed=1)
    for pull in session.ask(20):
        told(session, world, pull)
    before = content(session)
    session.ask(7)
    assert content(session) == before


@pytest.mark.parametrize("n", [0, -1, 1.5, True, "2"])
def test_n_must_be_a_count(n: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        sf.Session(sf.worlds.limited().default_problem()).ask(n)
    assert caught.value.field == "n"


def test_open_pulls_are_anticipated() -> None:
    """Pulls in turn go on in turn; a plan of exploration is continued; a greedy choice is not repeated blindly."""
    world = sf.worlds.limited()
    arms = len(world.default_problem().names)
    turns = sf.Session(world.default_problem(), sf.Uniform()).ask(2 * arms)
    assert [pull.arm for pull in turns] == [*range(arms)] * 2
    plan = sf.Session(world.default_problem(), sf.SafeLinGapE(explore=sf.RoundRobin(arms + 1))).ask(arms + 2)
    assert [pull.phase for pull in plan] == ["explore"] * (arms + 1) + ["decide"]
    assert [pull.arm for pull in plan[: arms + 1]] == [*range(arms), 0]
    assert len({pull.arm for pull in sf.Session(world.default_problem(), seed=1).ask(8)}) > 1


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_no_level_is_above_what_told_results_certify(policy: Any) -> None:
    """Also under a largest step: it is counted from what was really applied."""
    world = sf.worlds.limited()
    problem = world.default_problem().with_(max_step=0.1)
    session, rng = sf.Session(problem, policy, seed=6, max_pulls=150), np.random.default_rng(6)
    waiting: list[sf.Pull] = []
    handed_out, keeps = 0, session.guarantee.keeps_limits
    while not session.stopped:
        if len(waiting) < 9 and handed_out < 150:
            certified = np.maximum(session.levels, problem.safe_level)
            last = session.ledger.learner.state.levels.last.copy()
            for pull in session.ask(int(rng.integers(1, 10 - len(waiting)))):
                assert pull.level <= certified[pull.arm]
                if keeps:
                    assert pull.margin >= 0.0
                    assert world.is_safe(pull.arm, pull.level)
                if keeps:
                    assert pull.level <= last[pull.arm] + 0.1 * (1 + 1e-6)
                waiting.append(pull)
                handed_out = pull.number
        told(session, world, waiting.pop(int(rng.integers(len(waiting)))))
    assert session.outcome == "undecided"


def test_only_told_results_stop_a_session() -> None:
    """Shortly before the end, the copy in which open pulls have returned sees certainty; the session goes on."""
    world = sf.worlds.limited()
    policy = sf.SafeLinGapE(selection="optimistic", null_pull=True)
    session = sf.Session(world.default_problem().with_(epsilon=0.5), policy, seed=1)
    while session.gap is None or session.gap > 0.53:
        told(session, world, session.ask())
    assert session.outcome is None
    real = session.ask()
    pulls = session.ask(400)
    assert len(pulls) == 400
    assert session.outcome is None
    assert pulls[0] == real
    assert (pulls[-1].arm, pulls[-1].level, pulls[-1].gap) == (real.arm, real.level, real.gap)  # it fell back
    assert len({pull.arm for pull in pulls}) > 1  # what is ahead chose otherwise before
    while not session.stopped:
        told(session, world, session.open_pulls[0])
    assert session.outcome == "certified"
    certificate = session.certificate
    late = session.open_pulls
    assert late
    for pull in late:  # what comes in after the end is accepted and changes nothing
        told(session, world, pull)
    assert session.certificate == certificate
    assert session.open_pulls == ()
    with pytest.raises(NotOpen):
        told(session, world, late[0])
    with pytest.raises(Finished):
        session.ask(2)


def test_results_count_by_number_and_not_by_arrival() -> None:
    world = sf.worlds.limited()
    ends = []
    for order in (range(12), reversed(range(12)), np.random.default_rng(3).permutation(12)):
        session = sf.Session(world.default_problem(), seed=2)
        pulls = session.ask(12)
        for i in order:
            told(session, world, pulls[i])
        ends.append(content(session))
    assert ends[0] == ends[1] == ends[2]


def test_a_late_result_holds_back_later_ones() -> None:
    world = sf.worlds.limited()
    session = sf.Session(world.default_problem(), seed=2)
    first, second, third = session.ask(3)
    before = content(session)
    told(session, world, third)
    told(session, world, second)
    assert session.pulls == 0
    assert content(session) == before
    assert session.open_pulls == (first,)
    with pytest.raises(NotOpen, match="told already"):
        told(session, world, second)
    told(session, world, first)
    assert session.pulls == 3
    assert session.ask().number == 4


def test_a_bad_result_leaves_its_pull_open() -> None:
    session = sf.Session(sf.worlds.limited().default_problem(), seed=2)
    pulls = session.ask(3)
    with pytest.raises(InvalidInput):
        session.tell(2, reward=float("nan"), safety=0.0)
    assert session.open_pulls == tuple(pulls)
    for wrong in (0, 4, True, "1"):
        with pytest.raises(NotOpen):
            session.tell(wrong, reward=0.0, safety=0.0)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="not the pull"):
        session.tell(sf.Pull(**{**vars(pulls[1]), "level": 0.1}), reward=0.0, safety=0.0)


def test_an_overshoot_names_the_open_pull_that_was_applied_too_high() -> None:
    session = sf.Session(sf.worlds.limited().default_problem(), seed=2)
    pulls = session.ask(3)
    with pytest.warns(LevelExceeded, match="Pull 3"):
        session.tell(3, reward=0.0, safety=0.0, level=1.0)
    assert [each.number for each in session.overshoots] == [3]
    assert session.overshoots[0].certified == pulls[2].level


def test_the_budget_is_never_exceeded() -> None:
    world = sf.worlds.limited()
    session = sf.Session(world.default_problem(), seed=2, max_pulls=5)
    pulls = session.ask(8)
    assert len(pulls) == 5
    told(session, world, pulls[1])
    with pytest.raises(BudgetOpen, match="budget") as caught:
        session.ask(1)
    assert caught.value.open_numbers == (1, 3, 4, 5)
    for pull in (pulls[0], *pulls[2:]):
        told(session, world, pull)
    assert (session.outcome, session.pulls) == ("undecided", 5)


def test_a_session_broken_off_between_being_told_and_taking_in_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    world = sf.worlds.limited()
    one, other = (sf.Session(world.default_problem(), seed=2) for _ in range(2))
    pulls = one.ask(3)
    assert other.ask(3) == pulls
    for pull in (pulls[2], pulls[1]):
        told(one, world, pull)
        told(other, world, pull)
    told(one, world, pulls[0])

    def ctrl_c(*words: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(other.ledger.learner, "take", ctrl_c)
        with pytest.raises(KeyboardInterrupt):
            told(other, world, pulls[0])
    assert other.ask() == one.ask()
    assert content(other) == content(one)


@pytest.mark.parametrize(
    ("runs", "epsilon"), [(60, 0.4), pytest.param(600, 0.25, marks=pytest.mark.certify)], ids=["few", "many"]
)
def test_promises_hold_under_any_delay(runs: int, epsilon: float) -> None:
    """Up to eight open, told in any order: wrong answers and unsafe runs stay within the exact binomial bound."""
    world = sf.worlds.limited()
    problem = world.default_problem().with_(epsilon=epsilon, delta=0.05, delta_safety=0.05)
    judge, wrong, unsafe = world.judge(problem), 0, 0
    for run in range(runs):
        rng = np.random.default_rng(run)
        session, pulls, waiting = sf.Session(problem, seed=run), [], []
        while not session.stopped:
            if len(waiting) < 8:
                new = session.ask(8 - len(waiting))
                pulls, waiting = pulls + new, waiting + new
            told(session, world, waiting.pop(int(rng.integers(len(waiting)))), seed=run)
        assert session.outcome == "certified"
        found = session.recommendation
        assert found is not None
        wrong += bool(judge.is_too_far(found.arm, found.level))
        unsafe += judge.verdict(pulls, None).unsafe_pulls > 0 or not judge.is_safe(found.arm, found.level)
    print(f"{runs} runs with up to 8 open: {wrong} wrong answers, {unsafe} unsafe runs")
    assert binom.sf(unsafe - 1, runs, 0.05) > 1e-3
    assert binom.sf(wrong - 1, runs, 0.10) > 1e-3
