"""The account of an experiment: what may follow what, in which order results count, and what is never lost."""

from typing import Any

import pytest

import surefoot as sf
from scenes import arena
from surefoot.errors import BudgetOpen
from surefoot.live.ledger import ABORTED, BY_NUMBER, CANCELLED, FAILED, ON_ARRIVAL, Impossible, Ledger
from surefoot.live.readings import measured, packed


def ledger(**settings: Any) -> Ledger:
    return Ledger(arena()[1], sf.SafeGap(), seed=4, **settings)


def give_out(book: Ledger, count: int, audited: bool = False) -> list[tuple[int, int, float]]:
    """So many pulls, asked for together and opened."""
    first = book.last_number + 1
    chosen = book.learner.choose(book.anticipated, count)
    pulls = [(first + i, int(each.arm), float(each.level)) for i, (each, _) in enumerate(chosen)]
    for number, arm, level in pulls:
        book.opened(number, arm, level, audited=audited)
    return pulls


def tell(book: Ledger, pull: tuple[int, int, float], level: float | None = None) -> None:
    """What the arena answers."""
    number, arm, asked = pull
    result = arena()[0].measure(sf.Pull(number, arm, "", asked, "decide", 0.0, None, None, None), seed=3)
    reward, readings = measured(arena()[1], **result)
    book.told(number, asked if level is None else level, reward, packed(readings))


# -- what may follow what ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ((2, 0, 0.1), "from pull 0 to pull 2"),
        ((1, 4, 0.1), "the arm 4"),
        ((1, None, 0.1), "the arm None"),
        ((1, 0, 1.5), "numbers of pull 1"),
        ((1, 0, None), "numbers of pull 1"),
        ((1, 0, float("nan")), "numbers of pull 1"),
    ],
    ids=["number", "arm", "no arm", "level", "no level", "nan"],
)
def test_a_pull_that_nobody_can_have_asked_for_is_impossible(entry: Any, words: str) -> None:
    book = ledger()
    with pytest.raises(Impossible) as caught:
        book.opened(*entry)
    assert words in caught.value.detail
    assert (book.last_number, book.outstanding) == (0, {})


def test_only_an_open_pull_can_be_closed() -> None:
    book = ledger()
    first, second = give_out(book, 2)
    tell(book, second)
    for close in (lambda: tell(book, second), lambda: book.given_up(2, FAILED), lambda: book.given_up(9, FAILED)):
        with pytest.raises(Impossible, match="which is not open"):
            close()
    tell(book, first)
    assert book.open_numbers == []


@pytest.mark.parametrize(
    ("level", "reward", "readings"),
    [(2.0, 0.1, bytes(16)), (0.1, float("inf"), bytes(16)), (0.1, 0.1, bytes(8)), (0.1, None, bytes(16)),
     (None, 0.1, bytes(16)), (0.1, 0.1, None)],
    ids=["level", "infinite", "one reading", "no reward", "no level", "no readings"],
)  # fmt: skip
@pytest.mark.parametrize("audited", [False, True])
def test_numbers_that_nobody_can_have_told_are_named(level: Any, reward: Any, readings: Any, audited: bool) -> None:
    book = ledger()
    give_out(book, 1, audited)
    book.told(1, level, reward, readings)
    if audited:
        book.opened(2, 0, 0.1, audited=True)
    with pytest.raises(Impossible, match="numbers of pull 1"):
        book.settle()


# -- in which order results count -------------------------------------------------------------------------------------


def test_by_number_a_late_result_holds_back_those_behind_it() -> None:
    book = ledger(intake=BY_NUMBER)
    first, second, third = give_out(book, 3)
    for pull in (third, second):
        tell(book, pull)
        book.settle()
        assert book.learner.pulls == 0
    assert (book.held_back, book.open_numbers, book.due) == (2, [1], 1)
    tell(book, first)
    assert book.unsettled
    book.settle()
    assert (book.learner.pulls, book.held_back, book.due, book.unsettled) == (3, 0, 4, False)


def test_on_arrival_a_result_counts_when_it_comes() -> None:
    book = ledger(intake=ON_ARRIVAL)
    pulls = give_out(book, 3)
    for i, pull in enumerate(reversed(pulls), start=1):
        tell(book, pull)
        book.settle()
        assert (book.learner.pulls, book.held_back) == (i, 0)


@pytest.mark.parametrize("state", [FAILED, CANCELLED, ABORTED])
def test_what_is_given_up_is_passed_over(state: str) -> None:
    book = ledger()
    pulls = give_out(book, 4)
    tell(book, pulls[3])
    tell(book, pulls[1])
    book.given_up(3, state)
    book.settle()
    assert book.learner.pulls == 0
    book.given_up(1, state)
    book.settle()
    assert (book.learner.pulls, book.due) == (2, 5)
    assert book.counts[state] == 2


def test_results_that_are_settled_together_are_learned_as_if_one_by_one() -> None:
    states = []
    for together in (1, 4, 10):
        book = ledger()
        for i, pull in enumerate(give_out(book, 10), start=1):
            tell(book, pull)
            if i % together == 0:
                book.settle()
        book.settle()
        states.append(book.learner.state.whole.tobytes())
    assert len(set(states)) == 1


def test_who_was_interrupted_may_settle_again(monkeypatch: pytest.MonkeyPatch) -> None:
    book, other = ledger(), ledger()
    for each in (book, other):
        for pull in give_out(each, 3):
            tell(each, pull)
    taken, take = [], book.learner.take

    def breaks_off(*result: Any) -> None:
        take(*result)
        taken.append(result)
        raise KeyboardInterrupt  # after it was taken in

    with monkeypatch.context() as patched:
        patched.setattr(book.learner, "take", breaks_off)
        with pytest.raises(KeyboardInterrupt):
            book.settle()
    assert (len(taken), book.learner.pulls, book.unsettled) == (1, 1, True)
    book.settle()
    other.settle()
    assert book.learner.state.whole.tobytes() == other.learner.state.whole.tobytes()


# -- audit ------------------------------------------------------------------------------------------------------------


def test_an_audited_page_finds_what_was_not_due() -> None:
    asked, book = ledger(), ledger()
    for number in range(1, 13):
        (pull,) = give_out(asked, 1)
        tell(asked, pull)
        asked.settle()
        stored = pull if number != 7 else (7, (pull[1] + 1) % 4, 0.1)
        book.opened(*stored, audited=True)
        tell(book, pull)
    book.settle()
    assert book.mismatches[0].number == 7
    assert (book.mismatches[0].stored_level, book.learner.pulls) == (0.1, 12)


def test_an_audited_page_that_is_right_ends_where_it_was() -> None:
    asked, book = ledger(), ledger()
    for _ in range(5):
        pulls = give_out(asked, 3)
        for number, arm, level in pulls:
            book.opened(number, arm, level, audited=True)
        for pull in reversed(pulls):
            tell(asked, pull)
            tell(book, pull)
        asked.settle()
    book.settle()
    assert book.mismatches == []
    assert book.learner.state.whole.tobytes() == asked.learner.state.whole.tobytes()
    assert book.status() == asked.status()


# -- what is counted --------------------------------------------------------------------------------------------------


def test_the_budget_is_one_of_pulls_that_are_asked_for() -> None:
    book = ledger(max_pulls=3)
    book.added(1, 0, 0.1, 0.2, packed([0.0, 0.0]))
    book.settle()
    assert (book.max_pulls, book.imported, book.learner.pulls) == (4, 1, 1)
    assert book.allowance(9) == 3
    pulls = give_out(book, 3)
    with pytest.raises(BudgetOpen):
        book.allowance(1)
    for pull in pulls:
        tell(book, pull)
    book.settle()
    assert book.outcome == "undecided"


def test_what_is_applied_too_high_is_counted_even_while_it_waits() -> None:
    book = ledger()
    pulls = give_out(book, 2)
    tell(book, pulls[1], level=1.0)
    (found,) = book.overshoots
    assert (found.number, found.certified, found.applied) == (2, pulls[1][2], 1.0)
    assert book.learner.pulls == 0
    tell(book, pulls[0], level=0.01)
    assert len(book.overshoots) == 1


def test_what_comes_after_the_end_is_kept_and_changes_nothing() -> None:
    book = Ledger(arena()[1].with_(epsilon=1.5), sf.SafeGap(), seed=2)
    pulls: list[tuple[int, int, float]] = []
    while book.outcome is None:
        pulls = give_out(book, 7)
        for pull in pulls[:6]:
            tell(book, pull)
        book.settle()
        if book.outcome is None:
            tell(book, pulls[6])
            book.settle()
    used, certificate = book.learner.pulls, book.certificate
    if book.open_numbers:
        tell(book, pulls[6])
        book.settle()
    assert (book.learner.pulls, book.certificate, book.held_back) == (used, certificate, 0)
    assert book.unused == book.counts["told"] - used > 0


def test_a_status_is_a_table_of_plain_data() -> None:
    book = ledger()
    for pull in give_out(book, 4):
        tell(book, pull)
    book.settle()
    status = book.status()
    table = status.to_dict()
    assert (table["pulls"], table["outcome"], table["overshoots"]) == (4, None, 0)
    assert table["levels"] == status.levels == dict(zip(arena()[1].names, book.learner.levels.tolist(), strict=True))
    assert sum(table["pulls_per_arm"].values()) == 4
    assert {type(value) for value in table["pulls_per_arm"].values()} == {int}
