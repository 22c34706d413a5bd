"""Passes over all arms, written so that the processor takes several at once.

A compiler does so for a loop that writes one array and keeps no running maximum: floating-point numbers may not be
added or compared in another order behind our back. So values are written first, and the largest is found afterwards.
"""

from math import inf

from surefoot.core.kernel import kernel
from surefoot.core.types import NULL, Vector

LONG = 64  # values from which it pays to keep eight maxima side by side


@kernel
def first_largest(values: Vector, count: int) -> tuple[int, float]:
    """Where the largest of the first `count` values comes first, and that value; NULL and -inf if none is above that.

    What is not a number is passed over. Maxima are kept by selection and not by branches, which the processor would
    guess wrong in every other round.
    """
    best, most = NULL, -inf
    whole = count - count % 8 if count >= LONG else 0
    if whole > 0:
        a, b, c, d, e, f, g, h = -inf, -inf, -inf, -inf, -inf, -inf, -inf, -inf
        for k in range(0, whole, 8):
            a = values[k] if values[k] > a else a
            b = values[k + 1] if values[k + 1] > b else b
            c = values[k + 2] if values[k + 2] > c else c
            d = values[k + 3] if values[k + 3] > d else d
            e = values[k + 4] if values[k + 4] > e else e
            f = values[k + 5] if values[k + 5] > f else f
            g = values[k + 6] if values[k + 6] > g else g
            h = values[k + 7] if values[k + 7] > h else h
        most = max(max(max(a, b), max(c, d)), max(max(e, f), max(g, h)))
        if most > -inf:
            best = 0
            while values[best] != most:
                best += 1
    for k in range(whole, count):
        best = k if values[k] > most else best
        most = values[k] if values[k] > most else most
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
