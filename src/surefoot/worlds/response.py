"""What a pull returns in a linear world: the truth plus noise with an address."""

from math import sqrt
from typing import NamedTuple

import numpy as np

from surefoot.core.kernel import kernel
from surefoot.core.random import NOISE, normal, philox, uniform
from surefoot.core.types import Indices, Matrix, Vector, Words
from surefoot.worlds.judge import TOLERANCE

GAUSSIAN, UNIFORM, RADEMACHER = 0, 1, 2


class Truth(NamedTuple):
    """What only nature knows; the policies never see it."""

    value: Matrix  # (n, K) x_k . theta* in row 0, x_k . mu* of each limit below
    scale: Vector  # (n,) size of the noise
    noise: int  # GAUSSIAN, UNIFORM or RADEMACHER
    eta0: Vector  # (m,)


class Room(NamedTuple):
    """The random words at hand."""

    words: Words  # (4,) of one block of the stream
    block: Indices  # (1,) which block; negative for none


def new_room() -> Room:
    """Nothing drawn yet."""
    return Room(np.zeros(4, np.uint64), np.full(1, -1, np.int64))


@kernel
def respond(
    truth: Truth, room: Room, seed: int, run: int, number: int, arm: int, level: float, observed: Vector
) -> None:
    """The reward and the safety signals of pull `number`, into `observed`."""
    draw_noise(room, truth.noise, seed, run, number, observed)
    for s in range(len(observed)):
        observed[s] = level * truth.value[s, arm] + truth.scale[s] * observed[s]


@kernel
def draw_noise(room: Room, noise: int, seed: int, run: int, number: int, out: Vector) -> None:
    """The noise of every signal in pull `number`, 1-sub-Gaussian, into `out`."""
    draw_uniform(room, seed, run, number, out)
    for s in range(len(out)):
        out[s] = shape(noise, out[s])


@kernel
def draw_uniform(room: Room, seed: int, run: int, number: int, out: Vector) -> None:
    """A number between 0 and 1 for every signal in pull `number`, into `out`.

    Signal s of that pull takes word number * n + s of the run's stream.
    """
    n = len(out)
    if number == 1:  # a new run
        room.block[0] = -1
    for s in range(n):
        position = number * n + s
        if position >> 2 != room.block[0]:
            room.block[0] = position >> 2
            philox(seed, NOISE, run, room.block[0], room.words)
        out[s] = uniform(room.words[position & 3])


@kernel
def shape(noise: int, u: float) -> float:
    """Noise that is 1-sub-Gaussian, from a number between 0 and 1."""
    if noise == GAUSSIAN:
        return normal(u)
    if noise == UNIFORM:
        return sqrt(3.0) * (2.0 * u - 1.0)
    return 1.0 if u > 0.5 else -1.0


@kernel
def crosses(truth: Truth, arm: int, level: float) -> bool:
    """Whether the pull truly crosses a limit."""
    unsafe = False
    for s in range(len(truth.eta0)):
        unsafe = unsafe or level * truth.value[s + 1, arm] < truth.eta0[s] * (1.0 + TOLERANCE)
    return unsafe
