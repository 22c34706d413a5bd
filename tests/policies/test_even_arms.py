"""The arms in even coordinates: found once for a problem, and kept no longer than it."""

import gc
import weakref

import numpy as np

import surefoot as sf
from surefoot.core.layout import leaves, shapes_of, side_by_side
from surefoot.core.types import Nothing
from surefoot.policies import leaning
from surefoot.policies.bound import faced


def problem(K: int) -> sf.Problem:
    return sf.Problem(
        np.random.default_rng(K).standard_normal((K, 3)), sf.Reward(noise=0.5),
        sf.Limit("heat", at_least=-1.0, noise=0.2), safe_level=0.2, epsilon=0.1, delta=0.1, delta_safety=0.1,
    )  # fmt: skip


def test_one_problem_is_evened_out_once_and_forgotten_with_it() -> None:
    for K in (10, 300):
        first, second = problem(K), problem(K)
        policy = sf.SafeGap()
        one = faced(policy, first).inst.X
        assert faced(policy, first).inst.X is one
        assert faced(policy, second).inst.X is not one
        assert faced(policy, second).inst.X.tolist() == one.tolist()
        gone = weakref.ref(second)
        del second
        gc.collect()
        assert gone() is None
        assert not leaning._even


def test_what_shows_the_shapes_of_a_memory_takes_up_none() -> None:
    tree = (np.ones((3, 500)), Nothing(7), (np.zeros(4, np.int64), 2.0))
    shown = shapes_of(tree)
    assert [np.shape(leaf) for leaf in leaves(shown)] == [np.shape(leaf) for leaf in leaves(tree)]
    assert shown[0].strides == (0, 0)
    assert shown[1] == Nothing(7)
    assert shown[2][0].dtype == np.int64
    block, placed = side_by_side(shown)
    assert placed[0].flags.c_contiguous
    assert not block.any()
    found = faced(sf.SafeGap(), problem(300))
    assert all(not any(leaf.strides) for leaf in leaves(found.plan.sets.memory) if leaf.ndim)
    assert found.new_state().estimate.v.flags.c_contiguous
