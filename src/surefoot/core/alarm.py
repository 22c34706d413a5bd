"""The alarm's memory: what it keeps of every result, in a few additions a pull, and when it looks at it.

The alarm knows no policy and no estimate but its own. Readings come in units of their stated noise, and arms in
coordinates in which they are of mean square 1, so nothing depends on the units of features or readings. What the sums
say is weighed in `core.alarm_bets`, at rare pulls: one may look at an e-process as seldom as one likes. A reading
beyond its limit is judged at once.                                                                          (A1-A5)
"""

from typing import NamedTuple

from surefoot.core.alarm_bets import look
from surefoot.core.alarm_memory import (
    BENT,
    BEYOND,
    CROSS,
    LIMIT,
    LOOK,
    M2,
    N3,
    N4,
    NOISE_LOOK,
    PULLS,
    SCATTER,
    SINCE,
    STRAIGHT,
    STRETCH,
    STRETCHES,
    TOTAL,
    TRIED,
    L,
    M,
    Memory,
    N,
    Watched,
)  # fmt: skip
from surefoot.core.kernel import kernel, rare, thin
from surefoot.core.logarithm import log
from surefoot.core.types import Indices, Matrix, Nothing, Vector

LARGEST = 1e60  # in units of the noise: whatever is beyond it is an alarm all the same, and squares stay finite
FIRST_STRETCH = 16  # pulls 1-15, 16-31, 32-63, ...
EVERY_PULL = 64  # up to here the bet on noise is looked at after each pull, and all bets up to a quarter of it


class Results(NamedTuple):
    """Results in the order in which they were taken in."""

    arm: Indices  # (P,)
    level: Vector  # (P,)
    observed: Matrix  # (P, n)
    asked: Indices  # (P,) 1: this experiment asked for it, 0: it was taken over from elsewhere


class Alarm(NamedTuple):
    """The alarm over simulated runs."""

    watched: Watched
    memory: Memory


def weigh_all(watched: Watched, memory: Memory) -> None:
    """The evidence of every test now, whether it is enough or not; a template too."""
    look(watched, memory, True, False)


@rare
def begin_alarm(alarm: Alarm) -> None:
    """Zeros everywhere."""
    for i in range(len(alarm.memory.whole)):
        alarm.memory.whole[i] = 0


@kernel
def rings(alarm: Alarm, k: int, level: float, observed: Vector) -> bool:
    """Whether this result of a pull that was asked for makes the alarm ring."""
    return watch(alarm.watched, alarm.memory, k, level, observed, True)


@thin
def begin_nothing(alarm: Nothing) -> None:
    """Nobody watches."""


@thin
def never_rings(alarm: Nothing, k: int, level: float, observed: Vector) -> bool:
    """Nobody watches."""
    return False


def watch_all(watched: Watched, memory: Memory, results: Results) -> int:
    """How many of the results rang the alarm; a template for who has results from elsewhere than a simulation."""
    rang = 0
    for p in range(len(results.arm)):
        if watch(watched, memory, results.arm[p], results.level[p], results.observed[p], results.asked[p] == 1):
            rang += 1
    return rang


@thin
def watch(watched: Watched, memory: Memory, k: int, level: float, observed: Vector, asked: bool) -> bool:
    """Whether this result reveals something that was not known before."""
    t = memory.clock[PULLS] + 1
    memory.clock[PULLS] = t
    if t >= FIRST_STRETCH << memory.clock[STRETCH] and memory.clock[STRETCH] < STRETCHES - 1:
        memory.clock[STRETCH] += 1
    rings, i = False, row_of(watched, memory, k)
    for s in range(len(watched.R)):
        y = max(-LARGEST, min(LARGEST, observed[s] / watched.R[s]))
        add_reading(memory, s, i, level, y)
        if s > 0 and asked and y < watched.eta0[s - 1]:
            rings = is_far_beyond(watched, memory, s, y, t) or rings
    add_level(memory, i, level)
    if t >= memory.clock[NOISE_LOOK]:
        memory.clock[NOISE_LOOK] = t + 1 + t // EVERY_PULL
        everything = t >= memory.clock[LOOK]
        if everything:
            memory.clock[LOOK] = t + 1 + t * 4 // (EVERY_PULL // 2)
        rings = look(watched, memory, everything, True) or rings
    return rings


@thin
def row_of(watched: Watched, memory: Memory, k: int) -> int:
    """The row of arm k; the next one that is free, where it was never tried. There is room: whoever holds the memory
    sees to that."""
    return memory.row[k] - 1 if memory.row[k] > 0 else begin_row(watched, memory, k)


@rare
def begin_row(watched: Watched, memory: Memory, k: int) -> int:
    """A row for arm k, which is tried for the first time."""
    i, d = memory.clock[TRIED], watched.features.shape[1]
    memory.clock[TRIED] = memory.row[k] = i + 1
    for b in range(d):
        for a in range(d):
            memory.X[i, a] += watched.features[k, b] * watched.axes[b, a]
    return int(i)


@kernel
def add_reading(memory: Memory, s: int, i: int, level: float, y: float) -> None:
    """The sums over the readings of signal s, with one more; those over the levels are still the ones before it."""
    n, square, j = memory.arms[i, N], level * level, memory.clock[STRETCH]
    sums = memory.readings[s, i]
    if n > 0.0:
        off = y - level * sums[M] / n
        sums[SCATTER] += off * off * (n / (n + square))
    elif level == 0.0:
        sums[SCATTER] += y * y
    sums[M] += level * y
    sums[M2] += square * y
    memory.signals[s, TOTAL] += y
    memory.then[1 + s, i, j] += level * y
    effect = guessed(memory, s, i)
    add_feature(memory, s, BENT, i, level, effect * square, y)
    add_feature(memory, s, STRAIGHT, i, level, effect * level, y)
    add_feature(memory, s, SINCE + j, i, level, effect * level, y)
    memory.signals[s, CROSS] += effect * effect * square * level


@kernel
def guessed(memory: Memory, s: int, i: int) -> float:
    """The effect of the arm in row i on signal s as it last looked, where all effects are of mean square 1."""
    guess, d, total = memory.guess[s], memory.X.shape[1], 0.0
    for a in range(d):
        total += memory.X[i, a] * guess[a]
    return total / guess[d] if guess[d] > 0.0 else 0.0


@kernel
def add_feature(memory: Memory, s: int, f: int, i: int, level: float, value: float, y: float) -> None:
    """The sums of one feature of the pulls, which was known before the reading y."""
    sums, d = memory.features[s, f], memory.X.shape[1]
    for a in range(d):
        sums[a] += value * level * memory.X[i, a]
    sums[d] += value * value
    sums[d + 1] += value * y


@kernel
def add_level(memory: Memory, i: int, level: float) -> None:
    """The sums over the levels of the arm in row i, with one more."""
    sums, square = memory.arms[i], level * level
    sums[N] += square
    sums[L] += level
    sums[N3] += square * level
    sums[N4] += square * square
    memory.then[0, i, memory.clock[STRETCH]] += square


@rare
def is_far_beyond(watched: Watched, memory: Memory, s: int, y: float, t: int) -> bool:
    """Whether a reading is further beyond its limit than noise takes a safe pull, for the first time.          (A3)"""
    excess = watched.eta0[s - 1] - y
    evidence = excess * excess / 2.0 - log(t * (t + 1.0))
    memory.signals[s, BEYOND] = max(memory.signals[s, BEYOND], evidence)
    if not evidence >= watched.needed[s, LIMIT] or memory.found[s, LIMIT] > 0:
        return False
    memory.found[s, LIMIT] = t
    memory.weight[s, LIMIT] = evidence
    return True
