"""What a linear world answers: the truth, with noise that has an address and the stated size."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from surefoot.core.random import NOISE, normal, philox, uniform
from surefoot.worlds.response import GAUSSIAN, RADEMACHER, UNIFORM, Room, Truth, crosses, new_room, respond, shape


def words(seed: int, run: int, block: int) -> list[int]:
    """One block of the stream of noise."""
    out = np.zeros(4, np.uint64)
    philox(seed, NOISE, run, block, out)
    return [int(word) for word in out]


def test_noise_has_mean_zero_variance_one_and_the_right_law() -> None:
    draws = np.array([[word >> 12 for word in words(3, 0, block)] for block in range(5000)]).ravel() * 2.0**-52
    drawn = {kind: np.array([shape(kind, u + 2.0**-53) for u in draws]) for kind in (GAUSSIAN, UNIFORM, RADEMACHER)}
    assert stats.kstest(drawn[GAUSSIAN], "norm").pvalue > 1e-3
    assert stats.kstest(drawn[UNIFORM], stats.uniform(-np.sqrt(3), 2 * np.sqrt(3)).cdf).pvalue > 1e-3
    assert set(drawn[RADEMACHER]) == {-1.0, 1.0}
    for values in drawn.values():
        assert abs(values.mean()) < 4.0 / np.sqrt(len(values))
        assert abs(values.var() - 1.0) < 4.0 * np.sqrt(2.0 / len(values))


@pytest.mark.parametrize("noise", [GAUSSIAN, UNIFORM, RADEMACHER])
def test_all_noises_are_sub_gaussian_with_the_stated_size(noise: int) -> None:
    """E exp(a noise) <= exp(a^2/2), by a sum over a fine grid of quantiles."""
    values = np.array([shape(noise, u) for u in (np.arange(20_000) + 0.5) / 20_000])
    for a in (-3.0, -1.0, -0.1, 0.1, 0.5, 1.0, 2.0, 3.0):
        assert np.exp(a * values).mean() <= np.exp(a * a / 2.0) * (1.0 + 1e-6)


def test_signals_of_a_pull_take_their_own_words_and_nothing_is_drawn_twice(form: Any) -> None:
    """A world of three signals and no effect shows the noise alone: the stream in order, whatever was drawn before."""
    truth, answer = Truth(np.zeros((3, 1)), np.ones(3), GAUSSIAN, np.full(2, -1.0)), form(respond)

    def noise(pull: int, room: Room) -> list[float]:
        out = np.zeros(3)
        answer(truth, room, 9, 2, pull, 0, 1.0, out)
        return out.tolist()

    stream = [normal(uniform(word)) for block in range(9) for word in words(9, 2, block)]
    room = new_room()
    in_order = [noise(pull, room) for pull in range(1, 10)]
    assert [x for row in in_order for x in row] == stream[3:30]
    for pull in (7, 2, 9, 1):
        assert noise(pull, new_room()) == in_order[pull - 1]
        assert noise(pull, room) == in_order[pull - 1]


def test_a_new_run_draws_anew_whatever_is_left_of_the_last_one() -> None:
    """Pull 1 of two runs may stand in the same block of either stream."""
    truth, room, out = Truth(np.zeros((2, 1)), np.ones(2), GAUSSIAN, np.full(1, -1.0)), new_room(), np.zeros(2)
    seen = []
    for run in (0, 1, 0):
        respond(truth, room, 5, run, 1, 0, 1.0, out)
        seen.append(out.tolist())
    assert seen[0] == seen[2] != seen[1]


def test_an_answer_is_the_truth_at_that_level_with_noise_of_that_size() -> None:
    value, scale = np.array([[2.0, -1.0], [-0.5, 0.25]]), np.array([0.3, 0.1])
    quiet, noisy, out = np.zeros(2), np.zeros(2), np.zeros(2)
    respond(Truth(value, np.zeros(2), GAUSSIAN, np.full(1, -1.0)), new_room(), 1, 0, 4, 1, 0.6, quiet)
    np.testing.assert_allclose(quiet, 0.6 * value[:, 1])
    respond(Truth(value, scale, GAUSSIAN, np.full(1, -1.0)), new_room(), 1, 0, 4, 1, 0.6, noisy)
    respond(Truth(0.0 * value, np.ones(2), GAUSSIAN, np.full(1, -1.0)), new_room(), 1, 0, 4, 1, 0.6, out)
    np.testing.assert_allclose(noisy, quiet + scale * out)


def test_a_pull_crosses_a_limit_only_by_more_than_rounding(form: Any) -> None:
    truth = Truth(np.array([[1.0], [-0.7], [-0.9]]), np.ones(3), GAUSSIAN, np.array([-0.5, -0.6]))
    asks = form(crosses)
    assert not asks(truth, 0, -0.6 / -0.9)
    assert not asks(truth, 0, 0.0)
    assert asks(truth, 0, 0.667)
    assert asks(truth, 0, 1.0)
