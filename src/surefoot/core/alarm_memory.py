"""What the alarm reads and keeps: a few arrays, begun with zeros, whose columns have names.

There are few because whatever is passed to compiled code is passed array by array, and compiled so too.

Of many arms most are never tried, and nothing is kept of those but a place in one table. Those that are have a row
each, in the order in which they were tried first, so that what the alarm takes up grows with the pulls and not with
the arms.
"""

from typing import NamedTuple

import numpy as np

from surefoot.core.layout import as_words, leaves, side_by_side
from surefoot.core.types import Indices, Matrix, Tensor, Vector

NOISE, ARMS, LEVELS, TIME, OFFSET, LIMIT, NORM = 0, 1, 2, 3, 4, 5, 6  # the tests of a signal
TESTS = 7
STRETCHES = 14  # of time
BENT, STRAIGHT, SINCE = 0, 1, 2  # Memory.features: effect * level^2, effect * level, the latter in each stretch of time
PULLS, NOISE_LOOK, LOOK, STRETCH, TRIED = 0, 1, 2, 3, 4  # Memory.clock
N, L, N3, N4 = 0, 1, 2, 3  # Memory.arms: sums of level^2, level, level^3 and level^4
M, M2, SCATTER = 0, 1, 2  # Memory.readings: sums of level and level^2 times the reading; one more
TOTAL, CROSS, BEYOND, LEAST = 0, 1, 2, 3  # Memory.signals
A, B, H = 0, 1, 2  # Room.matrices: the factor of sum z z^T, and two to work with
C, U, V, Y = 0, 1, 2, 3  # Room.vectors: sum of feature * z, and three to work with


class Watched(NamedTuple):
    """What is stated, in the units of the alarm."""

    features: Matrix  # (K, d) the arms as the problem has them
    axes: Matrix  # (d, d) features @ axes are the arms in coordinates in which they are of mean square 1
    even: Vector  # (d,) the weights with which arms are most alike: x_k.even is nearest to 1
    R: Vector  # (n,) size of the noise
    within: Vector  # (n,) how far means may be from the linear law, in units of the noise
    eta0: Vector  # (m,) limits, in units of the noise
    reach: Matrix  # (n, d) |reach * weights| <= 1 is what a stated norm says; zeros where none counts
    needed: Matrix  # (n, TESTS) the logarithm at which a test is failed; infinite for one that is not made


class Room(NamedTuple):
    """Room for small linear algebra."""

    matrices: Tensor  # (3, d, d)
    vectors: Matrix  # (4, d)
    weights: Matrix  # (n, d) by least squares
    levers: Vector  # (C,) |x|^2 in A^-1 of each arm that was tried


class Memory(NamedTuple):
    """Sums over the results so far, and what was found."""

    clock: Indices  # (5,) pulls, when to look next at noise and at everything, the stretch of time, arms tried
    row: Indices  # (K,) 1 + the row of each arm that was tried; 0 for the others
    X: Matrix  # (C, d) the arms that were tried, in coordinates in which all are of mean square 1
    arms: Matrix  # (C, 4) of the levels
    readings: Tensor  # (n, C, 3) of the readings; squares around the arm's own slope
    guess: Matrix  # (n, d + 1) the weights as they last looked, and their length
    then: Tensor  # (1 + n, C, STRETCHES) sums of level^2, and of level * reading, in each stretch of time
    features: Tensor  # (n, SINCE + STRETCHES, d + 2) sums of feature * z, feature^2 and feature * reading
    signals: Matrix  # (n, 4) sums of readings and of feature 0 * feature 1; worst reading of a limit; least norm
    weight: Matrix  # (n, TESTS) logarithm of the evidence: at the last look, or when the test was failed
    found: Indices  # (n, TESTS) the number of the result that showed a test to be failed; 0 for none
    room: Room
    whole: Indices  # all of the above, as one row of words


def new_memory(watched: Watched, room: int | None = None) -> Memory:
    """A memory before the first result, with rows for so many arms; for all of them where none are said."""
    (K, d), n = watched.features.shape, len(watched.R)
    C = K if room is None else min(room, K)
    block, (clock, row, X, arms, readings, guess, then, features, signals, weight, found, place) = side_by_side(
        (
            np.zeros(5, np.int64), np.zeros(K, np.int64), np.zeros((C, d)), np.zeros((C, 4)), np.zeros((n, C, 3)),
            np.zeros((n, d + 1)), np.zeros((1 + n, C, STRETCHES)),
            np.zeros((n, SINCE + STRETCHES, d + 2)), np.zeros((n, 4)), np.zeros((n, TESTS)),
            np.zeros((n, TESTS), np.int64),
            Room(np.zeros((3, d, d)), np.zeros((4, d)), np.zeros((n, d)), np.zeros(C)),
        )
    )  # fmt: skip
    return Memory(clock, row, X, arms, readings, guess, then, features, signals, weight, found, place, as_words(block))


def with_room(watched: Watched, memory: Memory, room: int) -> Memory:
    """The same memory with rows for so many arms, which are no fewer than it has."""
    grown = new_memory(watched, room)
    for old, new in zip(leaves(memory[:-1]), leaves(grown[:-1]), strict=True):
        new[tuple(slice(length) for length in old.shape)] = old
    return grown
