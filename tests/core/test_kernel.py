"""Kernels: a mark changes nothing, a loop is bound with its parts for the interpreter, and a missing part is named."""

import ast
import os
from pathlib import Path
from types import FunctionType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import surefoot
from surefoot.core import kernel, parts
from surefoot.core.compiler import compiled
from surefoot.core.kernel import bound_in, calls, interpreted, interpreting, is_kernel, plain, rare, thin, with_globals

PACKAGE = Path(surefoot.__file__).parent

SCALE = 2.0


def template(x: float) -> float:
    return outer(x) + 0.5


@kernel.kernel
def outer(x: float) -> float:
    return SCALE * chosen(x)


@bound_in
def chosen(x: float) -> float:
    raise TypeError("nothing was chosen")


@rare
def one_more(x: float) -> float:
    return x + 1.0


def squared(x: float) -> float:
    return x * x


# -- marks ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mark", [kernel.kernel, rare, thin, bound_in])
def test_a_mark_leaves_the_function_as_it_is(mark: object) -> None:
    def function(x: float) -> float:
        """A line."""
        return 2.0 * x

    marked = mark(function)  # type: ignore[operator]
    assert marked is function
    assert isinstance(marked, FunctionType)
    assert marked(3.0) == 6.0
    assert is_kernel(marked) == (mark is not bound_in)


def test_every_kernel_of_the_package_is_a_plain_function() -> None:
    from surefoot.core import estimate, levels, loop, race
    from surefoot.policies import safe_gap
    from surefoot.sets import directional

    for module in (estimate, levels, loop, race, safe_gap, directional):
        marked = [each for each in vars(module).values() if is_kernel(each)]
        assert len(marked) >= 1
        assert all(type(each) is FunctionType for each in marked)


def test_what_is_called_is_found_by_name() -> None:
    assert calls(template) == {"outer": outer}
    assert calls(outer) == {"chosen": chosen}


# -- binding ----------------------------------------------------------------------------------------------------------


def test_a_part_is_bound_in_wherever_it_is_named() -> None:
    bound = plain(template, {"chosen": one_more})
    assert bound(3.0) == 2.0 * 4.0 + 0.5
    assert plain(template, {"chosen": squared})(3.0) == 2.0 * 9.0 + 0.5
    assert bound(3.0) == 8.5  # the forms keep apart


def test_binding_leaves_the_template_as_it_was() -> None:
    plain(template, {"chosen": one_more})
    with pytest.raises(TypeError, match="nothing was chosen"):
        template(1.0)


def test_a_part_that_is_missing_is_named() -> None:
    with pytest.raises(TypeError, match="'chosen'"):
        plain(template, {})
    with pytest.raises(TypeError, match="'chosen'"):
        compiled(template, {}, "template")


@pytest.mark.parametrize("name", [name for name, each in vars(parts).items() if hasattr(each, kernel.SLOT)])
def test_a_name_alone_refuses_to_run(name: str) -> None:
    slot = getattr(parts, name)
    with pytest.raises(TypeError, match=r"core\.loop"):
        slot(*[None] * slot.__code__.co_argcount)


def test_a_copy_with_other_globals_keeps_its_marks_and_its_name() -> None:
    copy = with_globals(outer, {"SCALE": 5.0, "chosen": one_more})
    assert copy(1.0) == 10.0
    assert (copy.__name__, copy.__qualname__, copy.__module__) == ("outer", "outer", outer.__module__)
    assert is_kernel(copy)
    assert outer.__globals__["SCALE"] == 2.0


# -- which form -------------------------------------------------------------------------------------------------------


def test_inside_the_block_loops_are_plain_and_after_it_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SUREFOOT_INTERPRET", raising=False)
    assert not interpreted()
    with interpreting():
        assert interpreted()
        with interpreting():
            assert interpreted()
        assert interpreted()
    assert not interpreted()
    with pytest.raises(KeyError), interpreting():
        raise KeyError
    assert not interpreted()


@pytest.mark.parametrize(("value", "said"), [("1", True), ("yes", True), ("0", False), ("", False)])
def test_the_environment_may_ask_for_plain_loops(monkeypatch: pytest.MonkeyPatch, value: str, said: bool) -> None:
    monkeypatch.setitem(os.environ, "SUREFOOT_INTERPRET", value)
    assert interpreted() == said


# -- machine words ----------------------------------------------------------------------------------------------------


def product(a: int, b: int) -> int:
    return kernel.high_word(a, b)


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_the_high_word_of_a_product_is_its_upper_half(a: int, b: int) -> None:
    assert kernel.high_word(a, b) == (a * b) >> 64
    assert kernel.u64(a + b) == (a + b) % 2**64


@given(st.floats(allow_nan=False))
def test_a_number_and_its_bits_are_the_same_thing(x: float) -> None:
    bits = kernel.float_bits(x)
    assert bits == int(np.float64(x).view(np.int64))
    assert kernel.float_of_bits(bits) == x


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.stem)
def test_fast_mathematics_is_never_asked_for(path: Path) -> None:
    words = {node.arg for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.keyword)}
    assert not words & {"fastmath", "parallel"}
