"""What to rescale: units in which the bounds say nothing, because lengths and norms mix what differs in size.

The bounds lean on the length of arms and of weights. A pressure in pascal beside a share in per cent makes one feature
a million times as long as another, and every bound pays for it with a power of that ratio.
"""

from math import ceil

import numpy as np

from surefoot.problem import Problem
from surefoot.problem.norms import signals_of

UNLIKE = 30.0  # between the sizes of two features: beyond, units are a likelier reason than the options
SOMEWHAT_UNLIKE = 3.0  # reason enough where the bounds are beyond use
WIDE = 1e4  # between the largest value that norms allow and what has to be told apart
BEYOND_USE = 1e9  # pulls that nobody makes


def unit_notes(problem: Problem, pulls: float = 0.0) -> list[str]:
    """A sentence for each thing to rescale; one in any case where the bounds come to so many pulls."""
    if any(signal.largest is not None for signal in signals_of(problem)):
        return wide_effects(problem) or beyond_use(pulls)  # no bound has the units of the features in it
    sizes = np.abs(problem.arms).max(axis=0)
    longest = float(np.linalg.norm(problem.arms, axis=1).max())
    notes = []
    used = np.flatnonzero(sizes > 0.0)
    small, large = used[sizes[used].argmin()], used[sizes[used].argmax()]
    if sizes[large] > (UNLIKE if pulls <= BEYOND_USE else SOMEWHAT_UNLIKE) * sizes[small]:
        notes.append(
            f"Rescale the features: feature {large + 1} goes up to {sizes[large]:.3g} and feature {small + 1} only to "
            f"{sizes[small]:.3g}. Divide each by its largest value, and state norms for the new units."
        )
    signals = [("reward", problem.reward.norm, problem.epsilon, "epsilon", ", or raise epsilon")]
    signals += [(limit.name, limit.norm, -limit.eta0, "the room up to its limit", "") for limit in problem.safety]
    for name, norm, room, words, otherwise in signals:
        if norm is not None and room > 0.0 and norm * longest > WIDE * room:
            notes.append(
                f"Rescale {name}: weights of length {norm:.3g} on arms up to {longest:.3g} long allow values of "
                f"{norm * longest:.3g}, and {words} is {room:.3g}. Bring the features to about 1 and lower its norm"
                f"{otherwise}."
            )
    return notes or beyond_use(pulls)


def wide_effects(problem: Problem) -> list[str]:
    """A sentence for each largest effect that is stated far beyond what has to be told apart."""
    signals = [("reward", problem.reward.largest, problem.epsilon, "epsilon")]
    signals += [(limit.name, limit.largest, -limit.eta0, "the room up to its limit") for limit in problem.safety]
    return [
        f"State a smaller largest of {name}, if one is true: {most:.3g} is allowed, and {words} is {room:.3g}."
        for name, most, room, words in signals
        if most is not None and room > 0.0 and most > WIDE * room
    ]


def beyond_use(pulls: float) -> list[str]:
    """What to do about bounds that come to so many pulls."""
    if pulls <= BEYOND_USE:
        return []
    return [
        f"Bounds of {pulls:.2g} pulls say nothing about an experiment: raise epsilon or safe_level, or state "
        "smaller norms and noise where they are true."
    ]


def in_pulls(count: float) -> str:
    """The number of pulls; beyond use, only its size is told."""
    return f"{ceil(count):,}" if count <= BEYOND_USE else f"{count:.1e}"
