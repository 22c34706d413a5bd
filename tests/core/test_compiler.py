"""Compilation: parts are not called by mistake, what cannot be compiled says so, and mixed forms keep Python parts."""

import threading
from typing import Any

import numpy as np
import pytest

from surefoot.core import compiler
from surefoot.core.compiler import OPTIONS, compiled, mixed, reachable
from surefoot.core.kernel import bound_in, kernel, plain, rare, thin
from surefoot.core.random import normal
from workbench import bench

GAIN = 3.0


def template(x: float) -> float:
    total = 0.0
    for _ in range(3):
        total += chosen(x)
    return helped(total)


@bound_in
def chosen(x: float) -> float:
    raise TypeError


@rare
def helped(x: float) -> float:
    return x + 0.25


@kernel
def one_more(x: float) -> float:
    return x + 1.0


@kernel
def two_more(x: float) -> float:
    return x + 2.0


@kernel
def gained(x: float) -> float:
    return GAIN * x


def in_python(x: float) -> float:
    return float(str(x)) + 1.0  # nothing that could be compiled


def test_an_entry_gives_what_the_source_gives() -> None:
    assert compiled(normal, {}, "normal")(0.5) == normal(0.5) == 0.0
    assert compiled(template, {"chosen": one_more}, "t")(1.5) == plain(template, {"chosen": one_more})(1.5) == 7.75


def test_forms_with_different_parts_keep_apart() -> None:
    one, two = (compiled(template, {"chosen": part}, "t") for part in (one_more, two_more))
    assert (one(1.0), two(1.0)) == (6.25, 9.25)


def test_a_loop_over_a_few_arms_is_compiled_apart_and_gives_the_same() -> None:
    parts = {"chosen": one_more}
    short, long = (compiled(template, parts, "t", short=few) for few in (True, False))
    assert short is not long
    assert short is compiled(template, parts, "t", short=True)
    assert short(1.5) == long(1.5) == 7.75
    assert short.__name__ != long.__name__  # on disk too


@kernel
def doubled(x: Any, out: Any) -> None:
    for k in range(len(x)):
        out[k] = 2.0 * x[k]


def test_only_a_loop_over_many_arms_takes_several_at_once(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUREFOOT_CACHE", str(tmp_path))  # what is read from disk no longer shows how it was made
    x, out = np.arange(40.0), np.zeros(40)
    for short in (True, False):
        entry = compiled(doubled, {}, "doubled", short=short)
        entry(x, out)
        assert (out == 2.0 * x).all()
        (code,) = entry._dispatcher.inspect_llvm().values()
        assert (" x double>" in code) is not short


def test_the_same_parts_are_bound_once() -> None:
    assert compiled(template, {"chosen": one_more}, "t") is compiled(template, {"chosen": one_more}, "other label")


def test_what_is_reached_is_listed_once() -> None:
    assert reachable(template, {"chosen": one_more}) == [template, one_more, helped]


def test_a_part_is_not_called_by_mistake() -> None:
    part = compiler._part(one_more, {})
    with pytest.raises(TypeError, match="one_more is a part of compiled code"):
        part(1.0)


def test_a_constant_that_has_changed_is_compiled_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a notebook: the plain form reads the new value too."""
    assert compiled(gained, {}, "gained")(2.0) == 6.0
    monkeypatch.setitem(gained.__globals__, "GAIN", 5.0)
    assert compiled(gained, {}, "gained")(2.0) == plain(gained, {})(2.0) == 10.0


# -- what cannot be compiled ------------------------------------------------------------------------------------------


@kernel
def wordy(x: float) -> str:
    return f"{x:.3f}"


def test_what_cannot_be_compiled_says_so_and_what_to_do() -> None:
    with pytest.raises(TypeError, match=r"mine cannot be compiled .* leave the mark off"):
        compiled(wordy, {}, "mine")(1.0)


def test_kernels_that_would_allocate_do_not_compile() -> None:
    def wasteful(n: int) -> float:
        return np.zeros(n).sum()

    with pytest.raises(TypeError, match="cannot be compiled"):
        compiled(kernel(wasteful), {}, "wasteful")(3)


def test_division_by_zero_gives_infinity_as_in_numpy() -> None:
    assert OPTIONS["error_model"] == "numpy"


# -- mixed forms ------------------------------------------------------------------------------------------------------


def test_in_a_mixed_form_only_the_python_part_is_interpreted() -> None:
    found = mixed(template, {"chosen": in_python}, "t")
    assert found(1.5) == 7.75
    assert found.__globals__["chosen"].__code__ is in_python.__code__
    assert isinstance(found.__globals__["helped"], compiler.Entry)


def test_a_part_that_is_any_object_is_called_as_it_is() -> None:
    class Callable_:
        def __call__(self, x: float) -> float:
            return x + 1.0

    assert mixed(template, {"chosen": Callable_()}, "t")(1.5) == 7.75
    assert plain(template, {"chosen": Callable_()})(1.5) == 7.75
    assert mixed(asks, {"chosen": Callable_()}, "t")(1.5) == 2.75


def test_a_kernel_that_asks_a_python_part_is_interpreted_with_it() -> None:
    """Compiled code cannot call back."""
    found = mixed(asks, {"chosen": in_python}, "t")
    assert found(1.5) == 2.75
    within = found.__globals__["asking"]
    assert within.__globals__["chosen"].__code__ is in_python.__code__
    assert isinstance(within.__globals__["helped"], compiler.Entry)


def asks(x: float) -> float:
    return asking(x)


@kernel
def asking(x: float) -> float:
    return helped(chosen(x))


# -- while it lasts ---------------------------------------------------------------------------------------------------


@thin
def tiny(x: float) -> float:
    return x - 1.0


@kernel
def slow(x: float) -> float:
    return tiny(x) * 2.0


def test_a_first_call_is_announced_and_later_ones_are_not(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from contextlib import contextmanager

    monkeypatch.setenv("SUREFOOT_CACHE", str(tmp_path))
    said: list[tuple[str, int]] = []
    steps: list[int] = []

    @contextmanager
    def announce(label: str, parts: int) -> Any:
        said.append((label, parts))
        yield lambda: steps.append(1)

    entry = compiled(slow, {}, "slow", announce)
    assert said == []  # nothing is compiled before it is called
    assert entry(3.0) == 4.0
    assert said == [("slow", 2)]
    assert steps
    assert entry(4.0) == 6.0
    assert len(said) == 1


def test_threads_that_ask_at_once_compile_once() -> None:
    here = bench(np.eye(2))
    from surefoot.core.parts import ball_of

    entry, found = here.compiled(ball_of), []
    state, _ = here.fresh()

    def ask() -> None:
        found.append(entry(here.inst, state, 0).radius)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
    assert len(found) == 4
    assert len(entry._dispatcher.signatures) == 1
