"""The alarm's bets: e-processes that stay small while some linear model is true, whoever chooses the pulls.

noise    readings scatter more around every linear model than noise of the stated size can          (A1)
arms     one arm does not fit the model of the others                                               (A2)
levels   an effect is not proportional to the level                                                 (A2)
time     an effect is another one from some pull on                                                 (A2)
offset   a reading is not 0 where nothing is applied                                                (A2)
norm     the weights are longer than stated: `core.alarm_norm`                                      (A5)

Several bets on one question are averaged.
"""

from math import inf, sqrt

from surefoot.core.alarm_memory import (
    ARMS,
    BENT,
    CROSS,
    LEVELS,
    M2,
    N3,
    N4,
    NOISE,
    NORM,
    OFFSET,
    PULLS,
    SCATTER,
    SINCE,
    STRAIGHT,
    STRETCH,
    STRETCHES,
    TIME,
    TOTAL,
    TRIED,
    A,
    B,
    C,
    L,
    M,
    Memory,
    N,
    U,
    V,
    Watched,
    Y,
)  # fmt: skip
from surefoot.core.alarm_norm import weigh_norm
from surefoot.core.alarm_solving import backward, factor, forward, product, regularised, spanned, squares
from surefoot.core.kernel import kernel, rare
from surefoot.core.logarithm import log, log1p

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
    spans = spanned(memory, memory.room.matrices[A])
    if spans:
        for s in range(len(watched.R)):
            fit(memory, s)
        if everything:
            measure_arms(memory)
    rings = False
    for s in range(len(watched.R)):
        rings = judged(watched, memory, s, NOISE, weigh_noise(memory, s, spans, watched.within[s])) or rings
        if everything and spans:
            for test in range(ARMS, OFFSET + 1):
                rings = judged(watched, memory, s, test, weigh(watched, memory, s, test, briefly)) or rings
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
def fit(memory: Memory, s: int) -> None:
    """The weights of signal s, by the factor that is in the room."""
    room, sums = memory.room, memory.room.vectors[Y]
    for a in range(len(sums)):
        sums[a] = 0.0
    for i in range(memory.clock[TRIED]):
        for a in range(len(sums)):
            sums[a] += memory.readings[s, i, M] * memory.X[i, a]
    forward(room.matrices[A], sums, room.vectors[U])
    backward(room.matrices[A], room.vectors[U], room.weights[s])


@rare
def measure_arms(memory: Memory) -> None:
    """How well each arm that was tried is known: |x|^2 in A^-1."""
    room = memory.room
    for i in range(memory.clock[TRIED]):
        forward(room.matrices[A], memory.X[i], room.vectors[U])
        room.levers[i] = squares(room.vectors[U])


@rare
def guess_effects(watched: Watched, memory: Memory) -> None:
    """The effects as they look now, of mean square 1; features of later pulls are made with them."""
    room, d = memory.room, memory.X.shape[1]
    factor(memory, 1.0, 0.0, room.matrices[A])
    for s in range(len(watched.R)):
        fit(memory, s)
        for a in range(d):
            memory.guess[s, a] = room.weights[s, a]
        memory.guess[s, d] = sqrt(squares(room.weights[s]))


# -- noise ------------------------------------------------------------------------------------------------------------


@rare
def weigh_noise(memory: Memory, s: int, spans: bool, within: float) -> float:
    """That the least squared residuals are larger than noise of size 1 makes them, and means that are off by no more
    than so much.                                                                                        (A1, W5)"""
    least, t, best = 0.0, memory.clock[PULLS], -inf
    for i in range(memory.clock[TRIED]):
        least += memory.readings[s, i, SCATTER]
        if spans and memory.arms[i, N] > 0.0:
            slope = memory.readings[s, i, M] / memory.arms[i, N]
            off = slope - product(memory.X[i], memory.room.weights[s])
            least += memory.arms[i, N] * off * off
    for stake in STAKES:
        allowed = within * within * stake / (1.0 - 2.0 * stake)  # of each result
        best = joined(best, stake * least + t / 2.0 * log(1.0 - 2.0 * stake) - t * allowed)
    return best - log(float(len(STAKES)))


# -- one more feature -------------------------------------------------------------------------------------------------


@rare
def weigh(watched: Watched, memory: Memory, s: int, test: int, briefly: bool) -> float:
    """That a feature takes part besides the arms' own: one that all arms share, or one of a single arm.        (A2)

    arms     the level of one arm
    levels   effect * level^2, or level^2 of one arm: effects bend
    time     effect * level, or the level of one arm, from some pull on: effects are others from then on
    offset   1: there is a reading where nothing is applied
    """
    best, price = -inf, log(max(1.0, (1.0 if test == OFFSET else 2.0) * shared_features(test, STRETCHES)))
    enough = watched.needed[s, test] + price if briefly else -inf
    for i in range(shared_features(test, memory.clock[STRETCH])):
        q, b = load_shared(watched, memory, s, test, i)
        best = joined(best, weighed(memory, s, q, b, enough, watched.within[s]) - price)
    cuts, tilts = (memory.clock[STRETCH] if test == TIME else 1), (1 if test == ARMS else len(TILTS))
    ways = float(len(watched.features) * (2 * STRETCHES if test == TIME else 2 if test == LEVELS else 1))
    price = log(ways * tilts)
    enough = watched.needed[s, test] + log(ways) if briefly else -inf
    for n in range(memory.clock[TRIED] if test != OFFSET else 0):
        c, q, b = 0.0, 0.0, 0.0
        for cut in range(cuts):
            if test == LEVELS:
                c, q, b = memory.arms[n, N3], memory.arms[n, N4], memory.readings[s, n, M2]
            elif test == TIME:
                j = memory.clock[STRETCH] - cut
                c, b = c + memory.then[0, n, j], b + memory.then[1 + s, n, j]
                q = c
            else:
                c, q, b = memory.arms[n, N], memory.arms[n, N], memory.readings[s, n, M]
            score, rest = b - c * product(memory.X[n], memory.room.weights[s]), q - c * c * memory.room.levers[n]
            if rest <= UNEXPLAINED * q:
                continue
            score = beyond_error(memory, score, rest, watched.within[s])
            if score * score >= 2.0 * enough * rest:  # whatever the tilt is
                for i in range(tilts):
                    tilt = TILTS[i] if test != ARMS else 0.0
                    left = c - tilt * memory.arms[n, N]
                    for a in range(memory.X.shape[1]):
                        memory.room.vectors[C, a] = left * memory.X[n, a]
                    found = weighed(
                        memory, s, q - 2.0 * tilt * c + tilt * tilt * memory.arms[n, N],
                        b - tilt * memory.readings[s, n, M], -inf, watched.within[s],
                    )  # fmt: skip
                    best = joined(best, found - price)
    return best


@kernel
def shared_features(test: int, stretches: int) -> int:
    """How many features there are that all arms share."""
    if test == LEVELS:
        return len(TILTS)
    if test == TIME:
        return stretches * len(TILTS)
    return len(SLOPES) if test == OFFSET else 0


@rare
def load_shared(watched: Watched, memory: Memory, s: int, test: int, i: int) -> tuple[float, float]:
    """The sums of the i-th feature f that all arms share: of f z in the room's C, and of f^2 and f * reading."""
    d, into = memory.X.shape[1], memory.room.vectors[C]
    straight, tilt = memory.features[s, STRAIGHT], TILTS[i % len(TILTS)]
    if test == OFFSET:
        q, b = float(memory.clock[PULLS]), memory.signals[s, TOTAL]
        for a in range(d):
            into[a] = 0.0
        for n in range(memory.clock[TRIED]):
            even = SLOPES[i] * product(memory.X[n], watched.even)
            q += even * (even * memory.arms[n, N] - 2.0 * memory.arms[n, L])
            b -= even * memory.readings[s, n, M]
            for a in range(d):
                into[a] += (memory.arms[n, L] - even * memory.arms[n, N]) * memory.X[n, a]
        return q, b
    for a in range(d):
        into[a] = -tilt * straight[a]
    q, b = tilt * tilt * straight[d], -tilt * straight[d + 1]
    if test == LEVELS:
        first, last, cross = BENT, BENT, memory.signals[s, CROSS]
    else:
        first, last, cross = SINCE + memory.clock[STRETCH] - i // len(TILTS), SINCE + memory.clock[STRETCH], 0.0
    for f in range(first, last + 1):
        part = memory.features[s, f]
        for a in range(d):
            into[a] += part[a]
        q, b = q + part[d], b + part[d + 1]
        if test == TIME:
            cross += part[d]
    return q - 2.0 * tilt * cross, b


@rare
def weighed(memory: Memory, s: int, q: float, b: float, enough: float, within: float) -> float:
    """The logarithm of the bet on a feature with sums C of the room, q and b; minus infinity if it is not enough.

    That is before the price of not knowing the weights.                                                 (A2, W5)
    """
    room = memory.room
    forward(room.matrices[A], room.vectors[C], room.vectors[U])
    rest, score = q - squares(room.vectors[U]), b - product(room.vectors[C], room.weights[s])
    if rest <= UNEXPLAINED * q:
        return -inf
    score = beyond_error(memory, score, rest, within)
    if not score * score >= 2.0 * enough * rest:
        return -inf
    backward(room.matrices[A], room.vectors[U], room.vectors[V])
    stray, best = squares(room.vectors[V]), -inf
    for loose in LOOSE:
        size = regularised(memory, loose, room.matrices[B])
        forward(room.matrices[B], room.vectors[C], room.vectors[Y])
        left = max(q - squares(room.vectors[Y]), 0.0)
        for prior in PRIORS:
            gain = score * score / (rest + prior + loose * stray)
            best = joined(best, (gain - size - log1p(left / prior)) / 2.0)
    return best - log(float(len(LOOSE) * len(PRIORS)))


@kernel
def beyond_error(memory: Memory, score: float, rest: float, within: float) -> float:
    """What is left of the score of a feature, whose unexplained part has this sum of squares, when means are off by no
    more than so much: that moves it by within sqrt(t rest) at most.                                          (W5)"""
    if within == 0.0:
        return score
    return max(abs(score) - within * sqrt(memory.clock[PULLS] * rest), 0.0)


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
