"""What a pull returns: the truth plus noise with an address. Only worlds and the simulator call this."""

from math import sqrt

from surefoot.core.kernel import kernel
from surefoot.core.random import NOISE, normal, philox, uniform
from surefoot.core.types import Indices, Truth, Vector, Words

GAUSSIAN, UNIFORM, RADEMACHER = 0, 1, 2
TOLERANCE = 1e-12  # relative: a level that meets the limit exactly is safe, whatever the last digit


@kernel
def observe(
    truth: Truth,
    seed: int,
    run: int,
    number: int,
    arm: int,
    level: float,
    words: Words,
    block: Indices,
    observed: Vector,
) -> None:
    """The reward and the safety signals of pull `number`, into `observed`.

    Signal s of that pull takes word number * n + s of the run's stream; `words` holds the four of one block, and
    `block` says which (a negative one: none).
    """
    n = len(observed)
    for s in range(n):
        position = number * n + s
        if position >> 2 != block[0]:
            block[0] = position >> 2
            philox(seed, NOISE, run, block[0], words)
        observed[s] = level * truth.value[s, arm] + truth.scale[s] * shape(truth.noise, uniform(words[position & 3]))


@kernel
def shape(noise: int, u: float) -> float:
    """Noise that is 1-sub-Gaussian, from a number between 0 and 1."""
    if noise == GAUSSIAN:
        return normal(u)
    if noise == UNIFORM:
        return sqrt(3.0) * (2.0 * u - 1.0)
    return 1.0 if u > 0.5 else -1.0


@kernel
def is_unsafe(truth: Truth, arm: int, level: float) -> bool:
    """Whether the pull truly crosses a limit."""
    unsafe = False
    for s in range(len(truth.eta0)):
        unsafe = unsafe or level * truth.value[s + 1, arm] < truth.eta0[s] * (1.0 + TOLERANCE)
    return unsafe
