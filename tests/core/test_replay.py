"""The copy of a state on which open pulls are anticipated is a whole one."""

import numpy as np

import surefoot as sf
from lab import callable_form
from surefoot.core.replay import copy_state
from surefoot.core.types import State, new_state


def test_a_copy_has_every_number_of_the_state() -> None:
    """A field that is added to the state and forgotten in the copy would send workers astray without a word."""
    world = sf.worlds.base_station()
    inst = sf.SafeGap().instance(world.default_problem())
    rng = np.random.default_rng(4)
    state, copy = new_state(inst), new_state(inst)
    for numbers in state:
        numbers[...] = rng.integers(1, 1000, numbers.shape)
    callable_form(copy_state)(state, copy)
    for field, original, copied in zip(State._fields, state, copy, strict=True):
        assert original.size, field
        assert np.array_equal(original, copied), field
