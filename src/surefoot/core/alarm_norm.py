"""The bet against a stated norm: all weights within it are too short for these readings.                       (A5)"""

from math import inf, sqrt

from surefoot.core.alarm_memory import LEAST, NORM, A, B, C, H, Memory, Room, U, Watched, Y
from surefoot.core.alarm_solving import forward, product, regularised, squares
from surefoot.core.kernel import rare
from surefoot.core.linear import cholesky
from surefoot.core.logarithm import log
from surefoot.core.types import Vector

LOOSE = (1.0, 100.0, 10_000.0)  # the lambda of (A5)
MULTIPLIERS = 25  # of the constraint that are tried, each four times the one before


@rare
def weigh_norm(watched: Watched, memory: Memory, s: int) -> float:
    """That the weights are longer than stated; minus infinity where it cannot be enough for an alarm.         (A5)

    The least-squares weights, cut down to the stated norm, are weights that it allows: so much at most is to be found.
    """
    room, length, needed = memory.room, 0.0, watched.needed[s, NORM]
    for a in range(memory.X.shape[1]):
        part = watched.reach[s, a] * room.weights[s, a]
        length += part * part
    if not length > 1.0 or not needed < inf:
        return -inf
    short = 1.0 - 1.0 / sqrt(length)
    if not information(room, s) * short * short >= 2.0 * needed:
        return -inf
    best, price = -inf, log(float(len(LOOSE)))
    for loose in LOOSE:
        size = regularised(memory, loose, room.matrices[B])
        shorten(room)
        evidence, least = outside(room, watched.reach[s], s, size, 2.0 * (price + needed))
        best = max(best, evidence - price)
        if not memory.found[s, NORM]:  # the finding says what was seen first, however often it is looked at
            memory.signals[s, LEAST] = max(memory.signals[s, LEAST], least)
    return best


@rare
def information(room: Room, s: int) -> float:
    """|w|^2 in A of the least-squares weights."""
    total, d = 0.0, room.weights.shape[1]
    for a in range(d):
        part = 0.0
        for b in range(a, d):
            part += room.matrices[A, b, a] * room.weights[s, b]
        total += part * part
    return total


@rare
def shorten(room: Room) -> None:
    """H = A (A + loose I)^-1 A, by the factors of A and of A + loose I."""
    d = room.weights.shape[1]
    for b in range(d):
        for a in range(d):
            total = 0.0
            for c in range(min(a, b) + 1):
                total += room.matrices[A, a, c] * room.matrices[A, b, c]
            room.vectors[Y, a] = total  # column b of A
        forward(room.matrices[B], room.vectors[Y], room.vectors[U])
        for a in range(d):
            room.matrices[H, a, b] = room.vectors[U, a]  # column b of a root of H
    for a in range(d):
        for b in range(d):
            room.matrices[B, a, b] = room.matrices[H, a, b]
    for a in range(d):
        for b in range(d):
            total = 0.0
            for c in range(d):
                total += room.matrices[B, c, a] * room.matrices[B, c, b]
            room.matrices[H, a, b] = total


@rare
def outside(room: Room, reach: Vector, s: int, size: float, enough: float) -> tuple[float, float]:
    """The evidence against every weight within the norm, and the norm (in units of it) below which there is enough.

    Each multiplier of the constraint gives a lower bound on the least distance, the best one the distance itself.
    """
    best, least, d, top, bottom = -inf, 0.0, len(reach), 0.0, 0.0
    for a in range(d):
        room.vectors[C, a] = product(room.matrices[H, a], room.weights[s])
        top += room.matrices[H, a, a]
        bottom += reach[a] * reach[a]
    multiplier = top / bottom * 0.25 ** (MULTIPLIERS // 2)
    for _ in range(MULTIPLIERS):
        for a in range(d):
            for b in range(d):
                room.matrices[B, a, b] = room.matrices[H, a, b]
            room.matrices[B, a, a] += multiplier * reach[a] * reach[a]
        if cholesky(room.matrices[B], 0.0):
            forward(room.matrices[B], room.vectors[C], room.vectors[U])
            value = product(room.vectors[C], room.weights[s]) - squares(room.vectors[U])
            best = max(best, (value - multiplier - size) / 2.0)
            least = max(least, sqrt(max(value - size - enough, 0.0) / multiplier))
        multiplier *= 4.0
    return best, least
