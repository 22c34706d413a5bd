"""Coordinates in which no direction is longer than another: what the units and the mixing of features leave."""

import numpy as np

from surefoot.core.types import Matrix, Vector

STEPS = 200
CLOSE = 0.05  # stop once no leverage exceeds d by more than this share


def evened(X: Matrix) -> Matrix:
    """The arms, (K, d) and spanning, as S^-1/2 x with S = sum nu_k x_k x_k^T for the D-optimal design nu.

    No arm is then much longer than sqrt(d), and identities such as c I mean the same whatever units the features have.
    Any invertible map would be valid; this one only tunes.
    """
    U: Matrix = np.linalg.svd(X / np.abs(X).max(), full_matrices=False)[0]  # even for every unit, if not by design
    sizes, axes = np.linalg.eigh((U.T * d_optimal(U)) @ U)
    _, first, same = np.unique(X, axis=0, return_index=True, return_inverse=True)
    even: Matrix = ((U @ axes) / np.sqrt(sizes))[first[same.ravel()]]  # equal arms stay equal to the last digit
    return even


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
