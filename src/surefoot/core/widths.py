"""The Gaussian width of differences between arms: how far noise may carry the worst of them on average.     (F15)

With V = C C^T the information and u_k = C^-1 z_k the images of the arms, least squares errs under Gaussian noise of
size 1 by u_k . eta, eta standard normal, so the worst difference is max_k u_k . eta - min_k u_k . eta. Its mean over
drawn noise takes the place of a union over all pairs: arms that move together are counted once.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np

from surefoot.core.kernel import kernel, rare
from surefoot.core.linear import dot
from surefoot.core.phase_design import Design, even_shares, see, step_towards, worst_target
from surefoot.core.random import WIDTHS, normal, philox, uniform
from surefoot.core.types import NULL, Indices, Instance, Matrix, Vector, Words

DRAWS, STEPS = 64, 100


class Widths(NamedTuple):
    """Drawn noise, and room."""

    eta: Matrix  # (DRAWS, d)
    slopes: Vector  # (K,) how fast the width falls as an arm's share grows
    draw: Words  # (4,)


def new_widths(K: int, d: int) -> Widths:
    """Room for K arms in d dimensions."""
    return Widths(np.zeros((DRAWS, d)), np.zeros(K), np.zeros(4, np.uint64))


@rare
def draw_noise(widths: Widths, seed: int, run: int, phase: int) -> None:
    """Noise for this phase, drawn anew."""
    draws, d = widths.eta.shape
    blocks = (d + 3) // 4
    for m in range(draws):
        for a in range(d):
            if a % 4 == 0:
                philox(seed, WIDTHS, run, (phase * draws + m) * blocks + a // 4, widths.draw)
            widths.eta[m, a] = normal(uniform(widths.draw[a % 4]))


@kernel
def extremes(images: Matrix, targets: Indices, eta: Vector) -> tuple[int, int, float]:
    """The targets that this noise lifts most and least, and how far it drives them apart."""
    top, low, most, least = -1, -1, 0.0, 0.0
    for k in range(len(targets)):
        if targets[k] == 1:
            lifted = dot(images[k], eta)
            if top < 0 or lifted > most:
                top, most = k, lifted
            if low < 0 or lifted < least:
                low, least = k, lifted
    return max(top, 0), max(low, 0), most - least


@kernel
def width_of_images(widths: Widths, images: Matrix, targets: Indices) -> float:
    """The mean of the worst difference over the drawn noise.                                                (F15)"""
    total = 0.0
    for m in range(len(widths.eta)):
        total += extremes(images, targets, widths.eta[m])[2]
    return total / len(widths.eta)


@rare
def narrowest_design(inst: Instance, design: Design, widths: Widths, reach: Vector, weight: float) -> None:
    """The shares that make width + weight max |z_i - z_j| smallest, by steps down its slope; its square is the value of
    the design.                                                                                              (F15)"""
    K = len(reach)
    even_shares(design)
    for n in range(1, STEPS + 1):
        if not see(inst, design, reach):
            break
        i, j, worst = worst_target(design, True)
        found = (width_of_images(widths, design.images, design.targets) + weight * sqrt(worst)) ** 2
        if n == 1 or found < design.value[0]:
            design.value[0] = found
            for k in range(K):
                design.shares[k] = design.now[k]
        if worst <= 0.0:
            break
        slope_of_width(design, widths)
        top = NULL
        for k in range(K):
            overlap = 0.0
            for a in range(len(design.y)):
                overlap += design.images[k, a] * (design.images[i, a] - design.images[j, a])
            widths.slopes[k] += weight * overlap * overlap / (2.0 * sqrt(worst))
            if design.pulled[k] == 1 and (top == NULL or widths.slopes[k] > widths.slopes[top]):
                top = k
        step_towards(design.now, top, 2.0 / (n + 1.0 + K))


@kernel
def slope_of_width(design: Design, widths: Widths) -> None:
    """How fast the mean falls as the share of each arm grows: the slope of C^-1 y . eta at the worst y.      (F15)

    C^-1 falls by L C^-1 with L the lower triangle of u u^T, its diagonal halved, since C C^T grows by z z^T.
    """
    K, d = design.images.shape
    for k in range(K):
        widths.slopes[k] = 0.0
    for m in range(len(widths.eta)):
        eta = widths.eta[m]
        i, j, _ = extremes(design.images, design.targets, eta)
        for a in range(d):
            design.y[a] = design.images[i, a] - design.images[j, a]
        for k in range(K):
            u, below = design.images[k], 0.0
            for a in range(d):
                widths.slopes[k] += eta[a] * u[a] * (below + 0.5 * u[a] * design.y[a]) / len(widths.eta)
                below += u[a] * design.y[a]
