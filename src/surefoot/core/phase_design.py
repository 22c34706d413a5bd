"""Designs of phases: shares of pulls by which the worst known arm, or difference of two, is known best.    (F9, F11)

The shares play against nature. She names the worst target y for the shares of the moment, and is remembered as the mean
H of y y^T over what she named, later names counting more; the shares take a step towards the pull that tells most
against H. Every H bounds the best value from below, which says when to stop.
"""

from math import inf
from typing import NamedTuple

import numpy as np

from surefoot.core.kernel import kernel, rare
from surefoot.core.levels import can_be_tried
from surefoot.core.linear import add_information, cholesky, dot, fill_diagonal, forward_solve, transposed_solve
from surefoot.core.match import LEAST_SHARE
from surefoot.core.types import NULL, Indices, Instance, Matrix, Vector

FEWEST = 1e-5  # a share below this is none
OUTSIDE = 1e-3 / LEAST_SHARE  # a square that only the evenly spread share holds down: outside the span
CLOSE, MOST_STEPS = 0.02, 2000  # of the best value; a design that is not there by then is taken as it is


class Design(NamedTuple):
    """The shares that were found last, and room."""

    shares: Vector  # (K,) the best so far
    value: Vector  # (1,) the square of their worst target
    now: Vector  # (K,) the shares of the moment
    targets: Indices  # (K,) 1 for arms that are asked about
    pulled: Indices  # (K,) 1 for arms that may be pulled
    images: Matrix  # (K, d)
    C: Matrix  # (d, d)
    H: Matrix  # (d, d)
    y: Vector  # (d,)
    information: Vector  # (K,)


def new_design(K: int, d: int) -> Design:
    """Room for K arms in d dimensions."""
    return Design(
        np.zeros(K), np.zeros(1), np.zeros(K), np.zeros(K, np.int64), np.zeros(K, np.int64), np.zeros((K, d)),
        np.zeros((d, d)), np.zeros((d, d)), np.zeros(d), np.zeros(K),
    )  # fmt: skip


@rare
def find_design(inst: Instance, design: Design, reach: Vector, pairs: bool) -> None:
    """The shares among design.pulled that make the worst of design.targets, or of their differences, smallest. (F11)"""
    K = len(reach)
    even_shares(design)
    fill_diagonal(design.H, 0.0)
    best, bound = inf, 0.0
    for n in range(1, MOST_STEPS + 1):
        if not see(inst, design, reach):
            break
        i, j, worst = worst_target(design, pairs)
        if worst <= 0.0:  # there is nothing to tell apart
            best = min(best, 0.0)
            break
        if worst < best:
            best = worst
            for k in range(K):
                design.shares[k] = design.now[k]
        remember(inst, design, i, j, 2.0 / (n + 1.0))
        top, most, mean = tells_most(inst, design, reach)
        bound = max(bound, mean * mean / most) if most > 0.0 else bound
        if best - bound <= CLOSE * best or most <= 0.0:
            break
        step_towards(design.now, top, 2.0 / (n + 1.0 + K))
    design.value[0] = best


@rare
def ask_about(inst: Instance, design: Design, alive: Indices) -> None:
    """The targets are the arms that are still in; every arm may be pulled that can be tried.           (F11, P2)"""
    for k in range(len(alive)):
        design.targets[k], design.pulled[k] = alive[k], 1 if can_be_tried(inst.dial, k) else 0


@rare
def ask_within_span(inst: Instance, design: Design, alive: Indices, reach: Vector) -> None:
    """Targets, and what may be pulled, are the arms in the span of those that are still in."""
    for k in range(len(alive)):
        design.pulled[k] = alive[k]
    even_shares(design)
    seen = see(inst, design, reach)
    for k in range(len(alive)):
        inside = seen and dot(design.images[k], design.images[k]) < OUTSIDE
        design.targets[k] = design.pulled[k] = 1 if inside else alive[k]


@kernel
def fewest_pulls(design: Design, rounding: float) -> float:
    """As many as keep the cost of rounding within this share: 2/rounding for each arm in the design.          (F11)"""
    support = 0.0
    for k in range(len(design.shares)):
        support += 1.0 if design.shares[k] > FEWEST else 0.0
    return 2.0 / rounding * support


@kernel
def even_shares(design: Design) -> None:
    """Even shares of what may be pulled."""
    total = 0.0
    for k in range(len(design.now)):
        total += float(design.pulled[k])
    for k in range(len(design.now)):
        design.now[k] = design.shares[k] = float(design.pulled[k]) / max(total, 1.0)


@kernel
def step_towards(shares: Vector, best: int, share: float) -> None:
    """The shares after a step towards one arm."""
    for k in range(len(shares)):
        shares[k] = (1.0 - share) * shares[k] + (share if k == best else 0.0)


@kernel
def see(inst: Instance, design: Design, reach: Vector) -> bool:
    """The images of the arms at full level by the shares of the moment; False if the numbers broke down. Where an arm
    cannot be tried its reach is 0, and it tells nothing."""
    K, d = inst.X.shape
    for k in range(K):
        design.information[k] = (design.now[k] + LEAST_SHARE / K) * reach[k] * reach[k]
    fill_diagonal(design.C, 0.0)
    add_information(inst.X, design.information, design.C)
    if not cholesky(design.C, 0.0):
        return False
    for k in range(K):
        forward_solve(design.C, inst.X[k], design.images[k])
        for a in range(d):
            design.images[k, a] *= inst.dial.ceiling[k]
    return True


@kernel
def worst_target(design: Design, pairs: bool) -> tuple[int, int, float]:
    """The target with the largest square: two arms, or one and NULL; and that square."""
    K, d = design.images.shape
    first, second, worst = 0, NULL, 0.0
    for i in range(K):
        if design.targets[i] == 0:
            continue
        if not pairs:
            square = dot(design.images[i], design.images[i])
            first, worst = (i, square) if square > worst else (first, worst)
            continue
        for j in range(i + 1, K):
            if design.targets[j] == 1:
                square = 0.0
                for a in range(d):
                    square += (design.images[i, a] - design.images[j, a]) ** 2
                if square > worst:
                    first, second, worst = i, j, square
    return first, second, worst


@kernel
def remember(inst: Instance, design: Design, i: int, j: int, share: float) -> None:
    """Takes the target into the mean."""
    d, ceiling = inst.X.shape[1], inst.dial.ceiling
    for a in range(d):
        design.y[a] = ceiling[i] * inst.X[i, a] - (ceiling[j] * inst.X[j, a] if j != NULL else 0.0)
    for a in range(d):
        for b in range(d):
            design.H[a, b] = (1.0 - share) * design.H[a, b] + share * design.y[a] * design.y[b]


@kernel
def tells_most(inst: Instance, design: Design, reach: Vector) -> tuple[int, float, float]:
    """The pull that tells most against the mean target, what it tells, and what the shares tell on average.   (F11)"""
    top, most, mean = 0, 0.0, 0.0
    d = inst.X.shape[1]
    for k in range(len(reach)):
        transposed_solve(design.C, design.images[k], design.y)
        told = 0.0
        for a in range(d):
            told += design.y[a] * dot(design.H[a], design.y)
        mean += design.now[k] * told
        if design.pulled[k] == 1 and told > most:
            top, most = k, told
    return top, most, mean
