"""Names are read like a tuple, and made when they are used."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.problem.arms import read_arms, renamed
from surefoot.problem.names import Given, Names, Numbered, repeated_in

WORDS = ["low", "", "a1", "Zürich \u2028", "\ud800", "a01", "long " * 30]


def every_kind() -> list[tuple[Names, tuple[str, ...]]]:
    numbered = tuple(f"a{k}" for k in range(1, 13))
    return [(Numbered(12), numbered), (Given(WORDS), tuple(WORDS)), (Given([]), ()), (Numbered(0), ())]


@pytest.mark.parametrize(("names", "plain"), every_kind(), ids=["numbered", "given", "none given", "none numbered"])
def test_names_are_read_like_a_tuple(names: Names, plain: tuple[str, ...]) -> None:
    assert names == plain
    assert plain == names
    assert names != (*plain, "more")
    assert names != list(plain)
    assert tuple(names) == plain
    assert tuple(reversed(names)) == plain[::-1]
    assert len(names) == len(plain)
    assert hash(names) == hash(plain)
    assert names[2:9:3] == plain[2:9:3]
    for k, name in enumerate(plain):
        assert names[k] == names[np.int64(k)] == names[k - len(plain)] == name
        assert names.index(name) == names.find(name) == k
        assert name in names
        assert names.count(name) == 1
    for place in (len(plain), -len(plain) - 1):
        with pytest.raises(IndexError):
            names[place]
    for known in (pickle.loads(pickle.dumps(names)), copy.deepcopy(names)):
        assert known == names
        assert all(name in known for name in plain)


@pytest.mark.parametrize(
    "name", ["a0", "a13", "a01", "a-1", "a", "A1", "a1 ", "a²", "a٣", "1", "b1", 1, None, "a" + "9" * 99]
)
def test_what_is_no_name_is_not_found(name: object) -> None:
    for names in (Numbered(12), Given([f"x{k}" for k in range(12)])):
        assert name not in names
        assert names.find(name) is None
        with pytest.raises(ValueError, match="not among the names"):
            names.index(name)


@given(st.lists(st.text(max_size=3), max_size=30))
def test_the_first_name_that_stands_twice_is_found(names: list[str]) -> None:
    expected = next((name for k, name in enumerate(names) if name in names[:k]), None)
    assert repeated_in(names) == expected
    if expected is None:
        held = Given(names)
        assert held == tuple(names)
        assert [held.find(name) for name in names] == list(range(len(names)))


def test_names_that_nobody_gave_take_up_nothing() -> None:
    """A million names are a number until one is asked for, and a representation shows a few."""
    names = read_arms(np.eye(3)[np.arange(1_000_000) % 3]).names
    assert isinstance(names, Numbered)
    assert not hasattr(names, "__dict__")
    assert names[999_999] == "a1000000"
    assert names.find("a1000000") == 999_999
    assert repr(names).endswith("'a20', ... 1,000,000 in all)")
    assert len(repr(names)) < 200


def test_given_names_are_one_text() -> None:
    held = Given([f"setting {k}" for k in range(1000)])
    assert len(held._text) + held._ends.nbytes < 25 * len(held)
    assert repr(Given(["a"])) == "('a',)"


def test_names_are_handed_on_as_they_are() -> None:
    table = read_arms(np.eye(3), ["x", "y", "z"])
    assert renamed(table, table.names).names is table.names
