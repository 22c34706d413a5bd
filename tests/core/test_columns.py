"""The columns of X A^-1 X^T in both forms, against numpy: whatever was pulled, asked for and driven out in between."""

from typing import Any

import numpy as np
import pytest

from surefoot.core import columns, estimate
from surefoot.core.columns import all_held
from surefoot.core.estimate import (
    column,
    diagonal,
    image,
    image_twice,
    second_column,
    second_diagonal,
    squared_image,
    squared_norm,
)
from surefoot.core.grams import least_squares
from surefoot.core.kernel import plain
from surefoot.core.learn import refresh
from surefoot.core.types import SINCE_REFRESH
from workbench import Bench, bench

FORMS = {"all columns": False, "few columns": True}
both_forms = pytest.mark.parametrize("few", FORMS.values(), ids=FORMS)
START = 1e-6


class Scene:
    """Arms, some of them equal, and pulls of them; V is kept beside by numpy."""

    def __init__(self, here: Bench, seed: int) -> None:
        self.here, self.inst, self.rng = here, here.inst, np.random.default_rng(seed)
        self.state, self.work = here.fresh()
        self.V = np.zeros((here.inst.X.shape[1],) * 2)

    def pull(self, k: int | None = None) -> None:
        K, n = len(self.inst.X), len(self.inst.R)
        k, gamma = int(self.rng.integers(K)) if k is None else k, float(self.rng.uniform(0.1, 1.0))
        assert self.here.absorb(self.state, self.work, k, gamma, self.rng.standard_normal(n))
        self.V += gamma**2 * np.outer(self.inst.X[k], self.inst.X[k])

    def ask(self, kernel: Any, *arguments: Any) -> Any:
        return self.here.plain(kernel)(self.inst, self.state.estimate, *arguments)

    def inverse(self, g: int) -> Any:
        faded = self.inst.fades[g] and self.state.estimate.spanned[g]
        return np.linalg.inv(self.V + (0.0 if faded else 1.0) * self.inst.regularization[g])

    def check(self) -> None:
        """Everything that others read, in an order at random."""
        X, found = self.inst.X, self.state.estimate
        for g in range(len(self.inst.log_det)):
            once = X @ self.inverse(g) @ X.T
            twice = X @ self.inverse(g) @ self.inverse(g) @ X.T
            close, close2 = ({"rtol": 1e-8, "atol": 1e-9 * np.abs(each).max()} for each in (once, twice))
            np.testing.assert_allclose(diagonal(found, g), np.diag(once), **close)
            for k in self.rng.permutation(len(X)):
                np.testing.assert_allclose(self.ask(column, g, k), once[k], **close)
            if len(found.v2) == 0:
                continue
            np.testing.assert_allclose(second_diagonal(found, g), np.diag(twice), **close2)
            for k in self.rng.permutation(len(X)):
                np.testing.assert_allclose(self.ask(second_column, g, k), twice[k], **close2)
                out, out2 = np.zeros((2, X.shape[1]))
                self.ask(image, g, k, out)
                image_twice(found, g, out, out2)
                np.testing.assert_allclose(X @ out, once[k], **close)
                np.testing.assert_allclose(X @ out2, twice[k], **close2)


def arms(rng: np.random.Generator, K: int, d: int) -> Any:
    """Arms at random, of which the second is the first again."""
    X = rng.standard_normal((K, d))
    X[1] = X[0]
    return X


def scene(seed: int, few: bool, K: int = 13, d: int = 4, **changes: Any) -> Scene:
    return Scene(bench(arms(np.random.default_rng(seed), K, d), few_columns=few, **changes), seed)


@both_forms
def test_the_form_is_bound_in(few: bool) -> None:
    found = scene(1, few)
    assert found.here.plain(all_held)(found.state.estimate.columns) is not few
    assert found.state.estimate.columns.values.shape == (1, columns.FEW if few else 13, 13)


@both_forms
@pytest.mark.parametrize("lam", [0.7, [0.5, 4.0, 0.5]], ids=["one regularisation", "two"])
def test_columns_are_those_of_the_inverse(lam: Any, few: bool) -> None:
    found = scene(2, few, eta0=[-0.5, -0.4], lam=lam)
    found.check()
    for t in range(60):
        found.pull()
        if t % 7 == 0:
            found.check()
    found.check()


@both_forms
def test_second_columns_are_those_of_the_squared_inverse_before_and_after_the_pulls_span(few: bool) -> None:
    found = scene(3, few, grams=least_squares(2, 4, START))
    for t in range(60):
        found.pull(2 if t < 3 else None)
        assert found.state.estimate.spanned[0] == (np.linalg.matrix_rank(found.V) == 4)
        if found.state.estimate.spanned[0] and t % 5 == 0:
            found.check()
    found.check()
    assert found.here.plain(refresh)(found.inst, found.state, found.work)
    found.check()


@both_forms
def test_differences_are_measured_in_the_inverse_and_its_square(few: bool) -> None:
    found = scene(4, few, grams=least_squares(2, 4, START))
    for _ in range(30):
        found.pull()
    X, inverse = found.inst.X, found.inverse(0)
    for _ in range(60):
        (k, i), (g_k, g_i) = found.rng.integers(0, 13, 2), found.rng.uniform(0.1, 1.0, 2)
        y = g_k * X[k] - g_i * X[i]
        assert found.ask(squared_norm, 0, k, g_k, i, g_i) == pytest.approx(y @ inverse @ y, rel=1e-8, abs=1e-12)
        square = found.ask(squared_image, 0, k, g_k, i, g_i)
        assert square == pytest.approx(y @ inverse @ inverse @ y, rel=1e-8, abs=1e-12)
    for _ in range(50):  # equal arms
        found.pull()
        for level in (0.1, 0.37, 1.0):
            assert found.ask(squared_norm, 0, 0, level, 1, level) == 0.0
            assert found.ask(squared_image, 0, 1, level, 0, level) == 0.0


def test_equal_arms_in_other_stretches_are_evened_out_and_others_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two whose product with the image is the same by accident differ in the diagonal."""
    monkeypatch.setattr(columns, "STRETCH", 4)
    diagonal_of, out = np.arange(11.0), np.arange(11.0) / 8.0
    diagonal_of[[1, 6, 10]], out[[1, 6, 10, 9]] = 0.5, 0.5 + 1e-12
    plain(columns.even_out, {})(diagonal_of, 6, out)
    assert np.flatnonzero(out == 0.5).tolist() == [1, 4, 6, 10]
    assert out[9] == 0.5 + 1e-12


# -- which few --------------------------------------------------------------------------------------------------------


def held(found: Scene) -> set[int]:
    return {int(k) - 1 for k in found.state.estimate.columns.arm[0] if k > 0}


def test_the_column_that_nobody_asked_for_longest_makes_room() -> None:
    found = scene(5, True)
    assert held(found) == set()
    for k in range(columns.FEW):
        found.ask(column, 0, k)
    assert held(found) == set(range(columns.FEW))
    found.ask(column, 0, 0)  # now 1 is the one
    found.ask(column, 0, 9)
    assert held(found) == set(range(columns.FEW)) - {1} | {9}
    found.pull(12)  # asks for its own
    assert held(found) == set(range(columns.FEW)) - {1, 2} | {9, 12}


def test_of_very_many_arms_a_column_that_nobody_asks_for_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is computed again when it is wanted."""
    monkeypatch.setattr(columns, "LARGE", 13)
    found = scene(6, True)
    found.ask(column, 0, 3)
    patience = columns.UNUSED * found.inst.X.shape[1]
    for _ in range(patience - 1):  # each pull asks for the column of its arm
        found.pull(5)
        assert held(found) == {3, 5}
    found.pull(5)
    found.pull(5)
    assert held(found) == {5}
    missed = int(found.state.estimate.columns.missed[0])
    found.check()
    assert found.state.estimate.columns.missed[0] > missed


def test_columns_just_asked_for_are_good_together() -> None:
    """A decision reads those of leader, challenger and pull side by side: they may not be written over."""
    found = scene(6, True)
    for _ in range(20):
        found.pull()
        chosen = found.rng.choice(13, columns.FEW, replace=False)
        views = [found.ask(column, 0, k) for k in chosen]
        once = found.inst.X @ found.inverse(0) @ found.inst.X.T
        np.testing.assert_allclose(np.array(views), once[chosen], rtol=1e-9, atol=1e-10)


def test_pulls_wait_until_the_inverse_is_asked_for() -> None:
    found = scene(7, True)
    for k in range(6):
        found.ask(column, 0, k)
    for t in range(40):
        found.pull(t % 6)
    waits, kept = found.state.estimate.columns, found.inverse(0)
    assert waits.number[0] == 6  # arms, each with all of its pulls
    np.testing.assert_allclose(waits.information[0, :6], found.state.estimate.N[:6])
    np.testing.assert_allclose(waits.inverse[0], np.linalg.inv(found.inst.regularization[0]))
    found.ask(column, 0, 11)
    assert waits.number[0] == 0
    np.testing.assert_allclose(waits.inverse[0], kept, rtol=1e-10, atol=1e-12)


def test_where_no_more_may_wait_the_inverse_learns_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "WAITING", 3)
    found = scene(8, True, K=7)  # all seven columns fit: nothing is ever missed again
    for k in range(7):
        found.ask(column, 0, k)
    for t in range(50):
        found.pull(t % 7)
        assert found.state.estimate.columns.number[0] <= 3
    found.check()


def test_all_is_computed_anew_where_the_digits_of_a_width_have_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimate, "CANCELLED", 0.3)
    found, refreshed = scene(9, True), 0
    for _ in range(60):
        before = found.state.estimate.fresh[0].copy()
        found.pull(5)
        if found.state.clock[SINCE_REFRESH] == 0:
            refreshed += 1
            assert found.state.estimate.v[0, 5] < 0.3 * before[5]
            assert held(found) == set()
            found.check()
        else:
            assert found.state.estimate.v[0, 5] >= 0.3 * before[5]
    assert 2 <= refreshed < 20


@pytest.mark.parametrize("K", [4, 8, 9])
def test_fewer_arms_than_columns_are_all_held(K: int) -> None:
    found = scene(10, True, K=K)
    assert found.state.estimate.columns.arm.shape[1] == min(K, columns.FEW)
    for _ in range(20):
        found.pull()
    found.check()
