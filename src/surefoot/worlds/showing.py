"""How a world looks on a screen."""

from typing import TYPE_CHECKING

import numpy as np

from surefoot.problem.checks import Floats

if TYPE_CHECKING:
    from surefoot.worlds.linear import Linear

ARMS_SHOWN = 12


def shown(world: "Linear") -> str:
    """The world in a few lines: its first arms, its truth and its limits."""
    arms = zip(world.names[:ARMS_SHOWN], world.arms[:ARMS_SHOWN], strict=True)
    rows = "\n".join(f"    {name}: {numbers(x)}" for name, x in arms)
    rows += f"\n    ... and {world.size - ARMS_SHOWN} more" if world.size > ARMS_SHOWN else ""
    signals = f"{world.signals} safety signal{'s' * (world.signals > 1)}" if world.signals else "no limits"
    truth = f"  theta_star {numbers(world.theta_star)}, noise {world.noise:g} {world.distribution}"
    if not world.signals:
        return f"<world {world.name}: {world.size} arms, {signals}\n  arms\n{rows}\n{truth}>"
    return (
        f"<world {world.name}: {world.size} arms, {signals}\n"
        f"  arms\n{rows}\n"
        f"{truth}\n"
        f"  mu_star    {numbers(world.mu_star)}, noise {world.safety_noise.tolist()}\n"
        f"  limit      {world.limit.tolist()}>"
    )


def numbers(array: Floats) -> str:
    """The numbers with six digits, the middle of a long array left out."""
    return np.array2string(array, precision=6, separator=", ", threshold=60, edgeitems=2)
