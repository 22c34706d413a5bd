"""Safe-LinGapE as a textbook would write it in numpy, one run: what the compiled core is measured against.

Dynamic levels, conservative selection, greedy pulls, (E4) for the reward and (E3) for safety.
"""

import numpy as np


def textbook_run(X, theta, mu, noise, safety_noise, eta0, gamma0, epsilon, delta, delta_s, lam, D, D_s, explore, rng,
                 max_pulls=200_000):  # fmt: skip
    """The number of pulls and the recommended arm of one run."""
    K, d = X.shape
    L = np.linalg.norm(X, axis=1).max()
    A, b, b_s = lam * np.eye(d), np.zeros(d), np.zeros(d)
    for t in range(max_pulls):
        if t < explore:
            z = gamma0 * X[rng.integers(K)]
        else:
            A_inv = np.linalg.inv(A)
            theta_hat, mu_hat = A_inv @ b, A_inv @ b_s
            beta = safety_noise * np.sqrt(d * np.log((1 + t * L**2 / lam) / delta_s)) + np.sqrt(lam) * D_s
            low = X @ mu_hat - beta * np.sqrt(np.einsum("kd,de,ke->k", X, A_inv, X))
            Z = np.maximum(gamma0, np.where(low >= eta0, 1.0, eta0 / np.minimum(low, eta0)))[:, None] * X
            C = noise * np.sqrt(2 * np.log(1 / delta) + np.linalg.slogdet(A)[1] - d * np.log(lam)) + np.sqrt(lam) * D
            i = np.argmax(Z @ theta_hat)
            Y = Z - Z[i]
            index = Y @ theta_hat + C * np.sqrt(np.einsum("kd,de,ke->k", Y, A_inv, Y))
            index[i] = -np.inf
            j = np.argmax(index)
            if index[j] <= epsilon:
                return t, i
            V = Z @ A_inv
            z = Z[np.argmax((V @ (Z[i] - Z[j])) ** 2 / (1 + (V * Z).sum(axis=1)))]
        A += np.outer(z, z)
        b += (z @ theta + noise * rng.standard_normal()) * z
        b_s += (z @ mu + safety_noise * rng.standard_normal()) * z
    return max_pulls, -1
