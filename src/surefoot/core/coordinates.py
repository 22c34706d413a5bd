"""Coordinates in which no direction is longer than another: what the units and the mixing of features leave.

Any invertible map of the features would be valid, and a good one only tunes. So the map is rounded: libraries differ in
the last digits from machine to machine, and with it a study would be another one elsewhere.
"""

import numpy as np

from surefoot.core.types import Matrix, Vector

STEPS = 200
CLOSE = 0.05  # stop once no leverage exceeds d by more than this share
ROUGH = 3  # rounds of evening by equal shares: one does as much as the digits of a square hold
BITS = 26  # of the entries of a map


def evened(X: Matrix) -> Matrix:
    """The arms, (K, d) and spanning, as S^-1/2 x with S = sum nu_k x_k x_k^T for about the D-optimal design nu.

    No arm is then much longer than sqrt(d), and identities such as c I mean the same whatever units the features have.
    """
    even: Matrix = X / np.abs(X).max()
    for _ in range(ROUGH):
        even = mapped(even, np.full(len(X), 1.0 / len(X)))
    return mapped(even, d_optimal(even))


def mapped(X: Matrix, nu: Vector) -> Matrix:
    """S^-1/2 x of every arm, for S by these shares. One product after the other, so that equal arms stay equal, and
    the digits are the same on every machine."""
    sizes, axes = np.linalg.eigh((X.T * nu) @ X)
    root = (axes / np.sqrt(np.maximum(sizes, np.finfo(np.float64).eps * sizes[-1]))) @ axes.T
    mantissa, power = np.frexp(root)
    rounded = np.ldexp(np.round(np.ldexp(mantissa, BITS)), power - BITS)
    total = np.zeros_like(X)
    for column, row in zip(X.T, rounded, strict=True):
        total = total + column[:, None] * row
    return total


def d_optimal(Z: Matrix) -> Vector:
    """Shares nu that about maximise det(sum nu_k z_k z_k^T): each is raised by its leverage, from equal ones on."""
    K, d = Z.shape
    nu = np.full(K, 1.0 / K)
    for _ in range(STEPS):
        leverage = np.einsum("kd,kd->k", Z, np.linalg.solve((Z.T * nu) @ Z, Z.T).T)
        if leverage.max() <= d * (1.0 + CLOSE):
            break
        nu = nu * leverage / d
    shares: Vector = nu / nu.sum()
    return shares
