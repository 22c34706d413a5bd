"""A state is one block of memory, whatever its parts remember: copied whole, begun anew whole."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.core.layout import CACHE_LINE, leaves
from surefoot.core.state import State, copy_words, empty_state, new_state, remember_race
from surefoot.core.types import CHALLENGER, LEADER, NULL, Nothing
from surefoot.policies.bound import faced
from surefoot.policies.safe_lingape import SafeLinGapE
from workbench import bench

POLICIES = {"directional sets": sf.SafeGap(), "linked sets and own shares": SafeLinGapE(reward_radius="bias-free")}


def states(policy: Any) -> tuple[State, State]:
    """Two states of zeros."""
    found = faced(policy, sf.worlds.base_station().default_problem())
    return found.new_state(), found.new_state()


def arrays(state: State) -> list[Any]:
    """Every array of every part, however deep."""
    return [leaf for leaf in leaves(state[:-1]) if isinstance(leaf, np.ndarray)]


def fill(state: State) -> None:
    rng = np.random.default_rng(4)
    for numbers in arrays(state):
        numbers[...] = rng.integers(1, 1000, numbers.shape)


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_every_number_of_every_part_lies_in_the_one_block(policy: Any) -> None:
    """Else a copy would forget it, and workers would be sent astray without a word."""
    state, _ = states(policy)
    assert len(arrays(state)) >= 15
    for numbers in arrays(state):
        assert numbers.size or 0 in numbers.shape[:1]  # rows that only some policies keep
        assert not numbers.size or np.shares_memory(numbers, state.whole)
        assert numbers.ctypes.data % CACHE_LINE == 0
    spans = sorted((each.ctypes.data, each.ctypes.data + each.nbytes) for each in arrays(state))
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_a_copy_has_every_number_of_the_state_and_none_in_common(form: Any, policy: Any) -> None:
    state, copy = states(policy)
    fill(state)
    form(copy_words)(state.whole, copy.whole)
    before = [numbers.copy() for numbers in arrays(copy)]
    for original, copied in zip(arrays(state), arrays(copy), strict=True):
        assert original.all()
        assert np.array_equal(original, copied)
        original[...] = 0
    assert all(np.array_equal(old, now) for old, now in zip(before, arrays(copy), strict=True))


def test_an_emptied_state_has_nothing_left() -> None:
    state, _ = states(POLICIES["directional sets"])
    fill(state)
    empty_state(state)
    assert not any(numbers.any() for numbers in arrays(state))


def test_a_part_without_memory_takes_no_room() -> None:
    inst = bench(np.eye(2)).inst
    state = new_state(inst, Nothing(), Nothing())
    assert state.sets == state.own == Nothing()
    assert len(arrays(state)) == len(leaves(state.estimate)) + len(state.levels) + 1


@pytest.mark.parametrize(("challenger", "remembered"), [(1, 1), (3, NULL), (NULL, NULL)])
def test_a_leader_that_races_itself_has_no_other_challenger(challenger: int, remembered: int) -> None:
    state, _ = bench(np.eye(4)).fresh()
    remember_race(state, 3, challenger)
    assert (state.clock[LEADER], state.clock[CHALLENGER]) == (3, remembered)
