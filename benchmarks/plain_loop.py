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


class MatrixProducts:
    """The same round, from level 0 of exploration on, with every quadratic form as a matrix product: O(K d^2)."""

    def __init__(self, X, theta, mu, noise, safety_noise, eta0, gamma0, delta, delta_s, lam, D, D_s, rng):  # fmt: skip
        self.X, self.theta, self.mu, self.rng = X, theta, mu, rng
        self.noise, self.safety_noise, self.eta0, self.gamma0 = noise, safety_noise, eta0, gamma0
        self.delta, self.delta_s, self.lam, self.D, self.D_s = delta, delta_s, lam, D, D_s
        d = X.shape[1]
        self.A_inv, self.b, self.b_s, self.t, self.log_det = np.eye(d) / lam, np.zeros(d), np.zeros(d), 0, 0.0
        self.L = np.linalg.norm(X, axis=1).max()
        self.begin()

    def begin(self):
        """Nothing is kept from round to round but what is learned."""

    def known(self):
        """The widths and the two estimates of every arm."""
        width = np.sqrt(((self.X @ self.A_inv) * self.X).sum(axis=1))
        return width, self.X @ (self.A_inv @ self.b), self.X @ (self.A_inv @ self.b_s)

    def distances(self, level, i, width):
        """The width of the difference between every arm and arm i, at their levels."""
        Y = level[:, None] * self.X - level[i] * self.X[i]
        return np.sqrt(((Y @ self.A_inv) * Y).sum(axis=1))

    def overlaps(self, level, i, j):
        """The product in A^-1 of every arm with the difference of arms i and j."""
        return self.X @ (self.A_inv @ (level[i] * self.X[i] - level[j] * self.X[j]))

    def round(self):
        """One round: levels, leader, challenger, pull."""
        d, t = self.X.shape[1], self.t
        width, value, safety = self.known()
        beta = self.safety_noise * np.sqrt(d * np.log((1 + t * self.L**2 / self.lam) / self.delta_s))
        low = safety - (beta + np.sqrt(self.lam) * self.D_s) * width
        level = np.maximum(self.gamma0, np.where(low >= self.eta0, 1.0, self.eta0 / np.minimum(low, self.eta0)))
        C = self.noise * np.sqrt(2 * np.log(1 / self.delta) + self.log_det) + np.sqrt(self.lam) * self.D
        i = np.argmax(level * value)
        index = level * value - level[i] * value[i] + C * self.distances(level, i, width)
        index[i] = -np.inf
        j = np.argmax(index)
        gain = (level * self.overlaps(level, i, j)) ** 2 / (1 + (level * width) ** 2)
        self.learn(np.argmax(gain), level)
        return index[j]

    def learn(self, k, level):
        """What a pull of arm k changes."""
        z = level[k] * self.X[k]
        reward = z @ self.theta + self.noise * self.rng.standard_normal()
        reading = z @ self.mu + self.safety_noise * self.rng.standard_normal()
        image = self.A_inv @ z
        gain = z @ image
        self.before(k, level[k], image, gain, reward, reading)
        self.A_inv -= np.outer(image, image) / (1 + gain)
        self.b += reward * z
        self.b_s += reading * z
        self.log_det += np.log1p(gain)
        self.t += 1

    def before(self, k, gamma, image, gain, reward, reading):
        """What else is kept up to date."""


class RankOne(MatrixProducts):
    """The same, with widths and estimates updated by the one column that a pull changes: O(K d)."""

    def begin(self):
        """What is kept for every arm."""
        K = len(self.X)
        self.v, self.value, self.safety = (self.X**2).sum(axis=1) / self.lam, np.zeros(K), np.zeros(K)

    def known(self):
        """The widths and the two estimates of every arm, as they are kept."""
        return np.sqrt(np.maximum(self.v, 0)), self.value, self.safety

    def distances(self, level, i, width):
        """The width of every difference, by the column of arm i."""
        column = self.X @ (self.A_inv @ self.X[i])
        square = (level * width) ** 2 + (level[i] * width[i]) ** 2 - 2 * level * level[i] * column
        return np.sqrt(np.maximum(square, 0))

    def before(self, k, gamma, image, gain, reward, reading):
        """The widths and estimates after the pull."""
        column = self.X @ image
        change = column / (1 + gain)
        self.value += change * (reward - gamma * self.value[k])
        self.safety += change * (reading - gamma * self.safety[k])
        self.v -= column * change
