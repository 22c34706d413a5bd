"""Passes over all arms, written so that the processor takes several at once.

A compiler does so for a loop that keeps no running sum or maximum of floating-point numbers: these may not be added or
compared in another order behind our back. Whole numbers may, so a maximum is taken of words that are ordered like the
numbers.
"""

from math import inf

from surefoot.core.kernel import float_bits, float_of_bits, kernel, thin
from surefoot.core.linear import STRETCH
from surefoot.core.types import NULL, Vector

LONG = 64  # values from which it pays to compare words
BLOCK = 256  # values among which the largest is looked for one by one
LEAST, MAGNITUDE = -(1 << 63), (1 << 63) - 1  # the least word, and all bits but the sign


@thin
def ordered(word: int) -> int:
    """The bits of a number as a word that is the larger, the larger the number is; and the bits again from that."""
    return word ^ ((word >> 63) & MAGNITUDE)


@kernel
def largest_word(values: Vector) -> int:
    """The word of the largest value; what is not a number counts as -inf, and the two zeros are equal."""
    most = LEAST
    for k in range(len(values)):
        value = values[k] if values[k] == values[k] else -inf
        most = max(most, ordered(float_bits(value + 0.0)))
    return most


@kernel
def first_largest(values: Vector, count: int) -> tuple[int, float]:
    """Where the largest of the first `count` values comes first, and that value; NULL and -inf if none is above that.

    What is not a number is passed over.
    """
    best, most = NULL, -inf
    if count < LONG:  # by selection and not by branches, which the processor would guess wrong in every other round
        for k in range(count):
            best = k if values[k] > most else best
            most = values[k] if values[k] > most else most
        return best, most
    block, word = 0, LEAST
    for first in range(0, count, BLOCK):
        found = largest_word(values[first : min(first + BLOCK, count)])
        block = first if found > word else block
        word = max(found, word)
    most = float_of_bits(ordered(word))
    if most > -inf:
        best = block
        while values[best] != most:
            best += 1
    return best, most


@kernel
def first_largest_product(x: Vector, y: Vector, room: Vector) -> tuple[int, float]:
    """Where the largest x[k] y[k] comes first, and that product; NULL and -inf if none is above that.

    Of very many, the products of a stretch stay at hand until they are compared, and are never written to memory.
    """
    if len(x) <= STRETCH:
        for k in range(len(x)):
            room[k] = x[k] * y[k]
        return first_largest(room, len(x))
    best, most = NULL, -inf
    for first in range(0, len(x), STRETCH):
        end = min(first + STRETCH, len(x))
        x_n, y_n = x[first:end], y[first:end]
        for k in range(len(x_n)):
            room[k] = x_n[k] * y_n[k]
        found, largest = first_largest(room, len(x_n))
        best = first + found if largest > most else best
        most = largest if largest > most else most
    return best, most


@kernel
def first_about_largest(values: Vector, count: int, ties: float) -> tuple[int, float]:
    """Where the first of the values comes that fall short of the largest by no more than this share of it, and the
    largest; NULL and -inf as for first_largest. What rounding alone tells apart is then settled by the order."""
    best, most = first_largest(values, count)
    if ties > 0.0 and -inf < most < inf:
        enough, best = most - ties * abs(most), 0
        while not values[best] >= enough:
            best += 1
    return best, most


@kernel
def all_numbers(values: Vector, count: int) -> bool:
    """Whether the first `count` values are numbers all of them."""
    missing = 0
    for k in range(count):
        missing += 0 if values[k] == values[k] else 1
    return missing == 0
