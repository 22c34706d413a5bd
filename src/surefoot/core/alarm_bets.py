"""The alarm's bets: e-processes that stay small while some linear model is true, whoever chooses the pulls.

noise    readings scatter more around every linear model than noise of the stated size can          (A1)
arms     one arm does not fit the model of the others                                               (A2)
levels   an effect is not proportional to the level                                                 (A2)
time     an effect is another one from some pull on                                                 (A2)
offset   a reading is not 0 when nothing is applied                                                 (A2)
norm     the weights are longer than stated                                              `alarm_norm` (A5)

Several bets on one question are averaged.
"""

from math import inf, sqrt

from surefoot.core.alarm_memory import (
    ARMS,
    CROSS,
    GUESS,
    LEVELS,
    LEVER,
    M2,
    N3,
    N4,
    NOISE,
    NORM,
    OFFSET,
    PULLS,
    SCATTER,
    STRAY,
    STRETCH,
    STRETCHES,
    TIME,
    TOTAL,
    A,
    B,
    C,
    L,
    M,
    Memory,
    N,
    Room,
    U,
    V,
    W,
    Watched,
    Y,
)
from surefoot.core.alarm_norm import weigh_norm
from surefoot.core.alarm_solving import backward, factor, forward, product, regularised, spanned, squares
from surefoot.core.kernel import rare
from surefoot.core.logarithm import log, log1p
from surefoot.core.types import Matrix

STAKES = (0.01, 0.03, 0.08, 0.16, 0.26, 0.36, 0.44)  # the c of (A1): small ones for a little too much noise
PRIORS = (0.001, 0.03, 1.0, 30.0, 1000.0)  # the l of (A2), of the feature: large ones for small deviations
LOOSE = (0.01, 0.3, 10.0, 300.0, 10_000.0, 1e6)  # the lambda of (A2), of the weights
TILTS = (0.1, 0.3, 0.5, 0.7, 0.9)  # the part of a feature that the weights are expected to take on
SLOPES = (0.0, 1.0, 2.0, 4.0)  # the same of an offset
UNEXPLAINED = 1e-8  # a feature that the pulls explain up to this share says nothing


@rare
def look(watched: Watched, memory: Memory, everything: bool, briefly: bool) -> bool:
    """Whether a test is failed now that was not before: the one on noise, or any.

    The evidence of each is written down; briefly: only that which might be enough for an alarm.
    """
    spans = spanned(watched.X, memory.arms, memory.room.matrices[A])
    if spans:
        for s in range(len(watched.R)):
            fit(watched.X, memory.readings[s], memory.room, s)
        if everything:
            measure_arms(watched.X, memory.room)
    rings = False
    for s in range(len(watched.R)):
        rings = judged(watched, memory, s, NOISE, weigh_noise(watched, memory, s, spans)) or rings
        if everything and spans:
            rings = judged(watched, memory, s, ARMS, weigh_arms(watched, memory, s, briefly)) or rings
            rings = judged(watched, memory, s, LEVELS, weigh_levels(watched, memory, s, briefly)) or rings
            rings = judged(watched, memory, s, TIME, weigh_time(watched, memory, s, briefly)) or rings
            rings = judged(watched, memory, s, OFFSET, weigh_offset(watched, memory, s, briefly)) or rings
            rings = judged(watched, memory, s, NORM, weigh_norm(watched, memory, s)) or rings
    if everything:
        guess_effects(watched, memory)
    return rings


@rare
def judged(watched: Watched, memory: Memory, s: int, test: int, evidence: float) -> bool:
    """Whether the test is failed with this evidence, for the first time; that is then kept as it was."""
    if memory.found[s, test] > 0:
        return False
    memory.weight[s, test] = evidence
    if not evidence >= watched.needed[s, test]:
        return False
    memory.found[s, test] = memory.clock[PULLS]
    return True


# -- what the bets read -----------------------------------------------------------------------------------------------


@rare
def fit(X: Matrix, readings: Matrix, room: Room, s: int) -> None:
    """The weights of signal s, by the factor that is in the room."""
    K, d = X.shape
    for a in range(d):
        total = 0.0
        for k in range(K):
            total += readings[k, M] * X[k, a]
        room.vectors[Y, a] = total
    forward(room.matrices[A], room.vectors[Y], room.vectors[U])
    backward(room.matrices[A], room.vectors[U], room.weights[s])


@rare
def measure_arms(X: Matrix, room: Room) -> None:
    """How well each arm is known: |x_k|^2 in A^-1, and |A^-1 x_k|^2."""
    for k in range(len(X)):
        forward(room.matrices[A], X[k], room.vectors[U])
        backward(room.matrices[A], room.vectors[U], room.vectors[V])
        room.arms[k, LEVER] = squares(room.vectors[U])
        room.arms[k, STRAY] = squares(room.vectors[V])


@rare
def guess_effects(watched: Watched, memory: Memory) -> None:
    """The effects as they look now, of mean square 1; features of later pulls are made with them."""
    room = memory.room
    factor(watched.X, memory.arms, 1.0, 0.0, room.matrices[A])
    for s in range(len(watched.R)):
        fit(watched.X, memory.readings[s], room, s)
        size = sqrt(squares(room.weights[s]))
        for k in range(len(watched.X)):
            memory.readings[s, k, GUESS] = product(watched.X[k], room.weights[s]) / size if size > 0.0 else 0.0


# -- noise ------------------------------------------------------------------------------------------------------------


@rare
def weigh_noise(watched: Watched, memory: Memory, s: int, spans: bool) -> float:
    """That the least squared residuals are larger than noise of size 1 makes them.                            (A1)"""
    least, t, best = 0.0, memory.clock[PULLS], -inf
    for k in range(len(watched.X)):
        least += memory.readings[s, k, SCATTER]
        if spans and memory.arms[k, N] > 0.0:
            slope = memory.readings[s, k, M] / memory.arms[k, N]
            off = slope - product(watched.X[k], memory.room.weights[s])
            least += memory.arms[k, N] * off * off
    for stake in STAKES:
        best = joined(best, stake * least + t / 2.0 * log1p(-2.0 * stake))
    return best - log(float(len(STAKES)))


# -- one more feature -------------------------------------------------------------------------------------------------


@rare
def weigh_arms(watched: Watched, memory: Memory, s: int, briefly: bool) -> float:
    """That one arm has an effect of its own.                                                                  (A2)"""
    best, price = -inf, log(float(len(watched.X)))
    enough = watched.needed[s, ARMS] + price if briefly else -inf
    for k in range(len(watched.X)):
        n, m = memory.arms[k, N], memory.readings[s, k, M]
        best = joined(best, of_arm(watched.X, memory.arms, memory.room, s, k, n, n, m, enough, False))
    return best - price


@rare
def weigh_levels(watched: Watched, memory: Memory, s: int, briefly: bool) -> float:
    """That effects bend: all of them together, or one by itself.                                              (A2)"""
    best, d, price = -inf, watched.X.shape[1], log(2.0 * len(TILTS))
    enough = watched.needed[s, LEVELS] + price if briefly else -inf
    bent, straight = memory.features[s, 0], memory.features[s, 1]
    for tilt in TILTS:
        for a in range(d):
            memory.room.vectors[C, a] = bent[a] - tilt * straight[a]
        q = bent[d] - 2.0 * tilt * memory.signals[s, CROSS] + tilt * tilt * straight[d]
        found = of_feature(watched.X, memory.arms, memory.room, s, q, bent[d + 1] - tilt * straight[d + 1], enough)
        best = joined(best, found - price)
    price = log(2.0 * len(watched.X))
    enough = watched.needed[s, LEVELS] + price if briefly else -inf
    for k in range(len(watched.X)):
        n3, n4, m2 = memory.arms[k, N3], memory.arms[k, N4], memory.readings[s, k, M2]
        found = of_arm(watched.X, memory.arms, memory.room, s, k, n3, n4, m2, enough, True)
        best = joined(best, found - price)
    return best


@rare
def weigh_time(watched: Watched, memory: Memory, s: int, briefly: bool) -> float:
    """That effects are others from some pull on: all by one factor, or one of them by itself.                 (A2)"""
    best, d, now, price = -inf, watched.X.shape[1], memory.clock[STRETCH], log(2.0 * STRETCHES * len(TILTS))
    enough, q, b = watched.needed[s, TIME] + price if briefly else -inf, 0.0, 0.0
    whole, since = memory.features[s, 1], memory.room.vectors[W]
    for a in range(d):
        since[a] = 0.0
    for back in range(now):  # the cuts, from the latest on
        part = memory.features[s, 2 + now - back]
        for a in range(d):
            since[a] += part[a]
        q, b = q + part[d], b + part[d + 1]
        for tilt in TILTS:
            for a in range(d):
                memory.room.vectors[C, a] = since[a] - tilt * whole[a]
            tilted = q - 2.0 * tilt * q + tilt * tilt * whole[d]
            found = of_feature(watched.X, memory.arms, memory.room, s, tilted, b - tilt * whole[d + 1], enough)
            best = joined(best, found - price)
    price = log(2.0 * STRETCHES * len(watched.X))
    enough = watched.needed[s, TIME] + price if briefly else -inf
    for k in range(len(watched.X)):
        n, m = 0.0, 0.0
        for back in range(now):
            n += memory.then[0, k, now - back]
            m += memory.then[1 + s, k, now - back]
            found = of_arm(watched.X, memory.arms, memory.room, s, k, n, n, m, enough, True)
            best = joined(best, found - price)
    return best


@rare
def weigh_offset(watched: Watched, memory: Memory, s: int, briefly: bool) -> float:
    """That there is a reading where nothing is applied.                                                       (A2)"""
    best, (K, d), price = -inf, watched.X.shape, log(float(len(SLOPES)))
    enough = watched.needed[s, OFFSET] + price if briefly else -inf
    for slope in SLOPES:
        q, b = float(memory.clock[PULLS]), memory.signals[s, TOTAL]
        for a in range(d):
            memory.room.vectors[C, a] = 0.0
        for k in range(K):
            even = slope * product(watched.X[k], watched.even)
            q += even * (even * memory.arms[k, N] - 2.0 * memory.arms[k, L])
            b -= even * memory.readings[s, k, M]
            for a in range(d):
                memory.room.vectors[C, a] += (memory.arms[k, L] - even * memory.arms[k, N]) * watched.X[k, a]
        best = joined(best, of_feature(watched.X, memory.arms, memory.room, s, q, b, enough))
    return best - price


@rare
def of_arm(
    X: Matrix, arms: Matrix, room: Room, s: int, k: int, c: float, q: float, b: float, enough: float, tilted: bool
) -> float:
    """The evidence for a feature of arm k alone, with sums c x_k, q and b; minus infinity if it is not enough.

    Tilted: mixed over that feature less several multiples of the level.
    """
    rest = q - c * c * room.arms[k, LEVER]
    score = b - c * product(X[k], room.weights[s])
    if rest <= UNEXPLAINED * q or not score * score >= 2.0 * enough * rest:
        return -inf
    best = -inf
    for tilt in TILTS:
        t = tilt if tilted else 0.0
        left = c - t * arms[k, N]
        for a in range(X.shape[1]):
            room.vectors[C, a] = left * X[k, a]
        size = q - 2.0 * t * c + t * t * arms[k, N]
        best = joined(best, weighed(X, arms, room, score * score, rest, left * left * room.arms[k, STRAY], size))
        if not tilted:
            return best
    return best - log(float(len(TILTS)))


@rare
def of_feature(X: Matrix, arms: Matrix, room: Room, s: int, q: float, b: float, enough: float) -> float:
    """The evidence for a feature with sums C of the room, q and b; minus infinity if it is not enough."""
    forward(room.matrices[A], room.vectors[C], room.vectors[U])
    rest = q - squares(room.vectors[U])
    score = b - product(room.vectors[C], room.weights[s])
    if rest <= UNEXPLAINED * q or not score * score >= 2.0 * enough * rest:
        return -inf
    backward(room.matrices[A], room.vectors[U], room.vectors[V])
    return weighed(X, arms, room, score * score, rest, squares(room.vectors[V]), q)


@rare
def weighed(X: Matrix, arms: Matrix, room: Room, square: float, rest: float, stray: float, q: float) -> float:
    """The logarithm of the bet that a feature with sums C of the room and q takes part.                       (A2)"""
    best = -inf
    for loose in LOOSE:
        size = regularised(X, arms, loose, room.matrices[B])
        forward(room.matrices[B], room.vectors[C], room.vectors[Y])
        left = max(q - squares(room.vectors[Y]), 0.0)
        for prior in PRIORS:
            gain = square / (rest + prior + loose * stray)
            best = joined(best, (gain - size - log1p(left / prior)) / 2.0)
    return best - log(float(len(LOOSE) * len(PRIORS)))


@rare
def joined(first: float, second: float) -> float:
    """log(e^first + e^second), or a little less: (1 + x/1024)^1024 is below e^x, and is the same on every machine."""
    high, apart = max(first, second), -abs(first - second)
    if not apart > -30.0:
        return high
    share = 1.0 + apart / 1024.0
    for _ in range(10):
        share *= share
    return high + log1p(share)
