"""The algorithm as a textbook would write it, in d dimensions and plain numpy, from the equations alone.

Nothing of the package is imported here. Every round inverts A anew; nothing is kept but sums over pulls. The state is
what (E1) says, the candidates of a race are the arms 0..K-1 and, where asked for, the null pull, numbered -1.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import linprog

NULL = -1


@dataclass
class Textbook:
    """One run, fed pull by pull."""

    X: Any  # (K, d)
    R: float
    D: float
    R_s: Any  # (m,)
    D_s: Any  # (m,)
    eta0: Any  # (m,)
    gamma0: Any  # (K,)
    delta: float
    delta_s: float
    lam: float = 1.0
    ceiling: Any = None  # (K,)
    grid: Any = ()
    step: float = np.inf
    levels: str = "dynamic"  # or "static", "dynamic-max", "fixed" (LinGapE)
    selection: str = "conservative"
    reward_radius: str = "determinant"
    safety_radius: str = "norm"
    null_pull: bool = False
    t: int = 0
    history: list = field(default_factory=list)

    def __post_init__(self) -> None:
        (K, d), m = self.X.shape, len(self.eta0)
        self.ceiling = np.ones(K) if self.ceiling is None else np.asarray(self.ceiling, float)
        if len(self.grid):
            self.ceiling = self.rounded_down(self.ceiling)
        self.L = max(np.linalg.norm(x) for x in self.X)
        self.A, self.b, self.b_s = self.lam * np.eye(d), np.zeros(d), np.zeros((m, d))
        self.squares, self.last = np.zeros(K), np.array(self.gamma0, float)
        self.best_low, self.best_high = np.zeros((m, K)), np.ones((m, K))
        self.frozen = None

    # (E) -------------------------------------------------------------------------------------------------------------

    def absorb(self, k: int, gamma: float, reward: float, safety: Any) -> None:
        z = gamma * self.X[k]
        self.A += np.outer(z, z)  # (E1)
        self.b += reward * z
        self.b_s += np.outer(safety, z)
        self.squares[k] += gamma**2
        self.last[k] = gamma
        self.t += 1

    def estimates(self) -> None:
        self.A_inv = np.linalg.inv(self.A)
        self.theta_hat, self.mu_hat = self.A_inv @ self.b, self.b_s @ self.A_inv  # (E2)

    def radius(self, R: float, D: float, delta: float, kind: str) -> float:
        d = self.X.shape[1]
        if kind == "norm" and d >= 2:  # (E3)
            return R * np.sqrt(d * np.log((1 + self.t * self.L**2 / self.lam) / delta)) + np.sqrt(self.lam) * D
        log_det = np.linalg.slogdet(self.A)[1]  # (E4)
        return R * np.sqrt(2 * np.log(1 / delta) + log_det - d * np.log(self.lam)) + np.sqrt(self.lam) * D

    def norm(self, y: Any) -> float:
        return float(np.sqrt(max(y @ self.A_inv @ y, 0.0)))

    # (S) -------------------------------------------------------------------------------------------------------------

    def rounded_down(self, level: Any) -> Any:
        points = np.array([0.0, *sorted(self.grid)])
        return points[np.searchsorted(points, level, side="right") - 1]

    def raw_levels(self) -> tuple[Any, Any]:
        """(m, K) pessimistic and optimistic levels by each signal, before minima, known levels and dials."""
        m, K = len(self.eta0), len(self.X)
        low, high = np.ones((m, K)), np.ones((m, K))
        for s in range(m):
            beta = self.radius(self.R_s[s], self.D_s[s], self.delta_s / m, self.safety_radius)
            for k, x in enumerate(self.X):
                middle, width = x @ self.mu_hat[s], beta * self.norm(x)  # (S1)
                if middle - width < self.eta0[s]:
                    low[s, k] = self.eta0[s] / (middle - width)
                if middle + width < self.eta0[s]:
                    high[s, k] = self.eta0[s] / (middle + width)
        return low, high

    def certify(self) -> tuple[Any, Any]:
        """g- and g+ of every arm.                                                                     (S2, S3)"""
        if self.levels == "fixed":
            return self.ceiling.copy(), self.ceiling.copy()
        if self.levels == "static" and self.frozen is not None:
            return self.frozen
        low, high = self.raw_levels()
        if self.levels == "dynamic-max":
            low = self.best_low = np.maximum(self.best_low, low)
            high = self.best_high = np.minimum(self.best_high, high)
        low, high = np.minimum(low.min(axis=0), self.ceiling), np.minimum(high.min(axis=0), self.ceiling)
        self.unrounded = low, high
        if len(self.grid):
            low, high = self.rounded_down(low), self.rounded_down(high)
        low = np.maximum(self.gamma0, low)
        self.frozen = low, np.maximum(low, high)
        return self.frozen

    def levels_crossed(self) -> bool:
        """Whether a remembered pessimistic level lies above a remembered optimistic one: no mu fits."""
        return bool((self.best_low > self.best_high + 5e-10).any())

    def known_level_refuted(self) -> bool:
        """Whether the sets rule out that some arm is safe at its known level."""
        m = len(self.eta0)
        for s in range(m):
            beta = self.radius(self.R_s[s], self.D_s[s], self.delta_s / m, self.safety_radius)
            highest = [x @ self.mu_hat[s] + beta * self.norm(x) for x in self.X]
            if (self.gamma0 * highest < self.eta0[s] * (1 + 5e-10)).any():
                return True
        return False

    def estimate_impossible(self) -> bool:
        """Whether an estimate lies grossly beyond what the norm bounds allow."""
        kinds = [(self.theta_hat, self.R, self.D, self.delta, self.reward_radius)]
        m = len(self.eta0)
        kinds += [(self.mu_hat[s], self.R_s[s], self.D_s[s], self.delta_s / m, self.safety_radius) for s in range(m)]
        return any(
            abs(x @ estimate) > 9.999 * np.linalg.norm(x) * D + self.radius(R, D, delta, kind) * self.norm(x)
            for estimate, R, D, delta, kind in kinds
            for x in self.X
        )

    def reach(self, low: Any) -> Any:
        """The level at which each arm may be pulled now.                                                  (S4)"""
        allowed = self.last + self.step
        if self.levels == "fixed":
            return low
        short = allowed < low
        if len(self.grid):
            allowed = np.maximum(self.rounded_down(allowed), self.grid[0])
        return np.where(short, allowed, low)

    # (G) -------------------------------------------------------------------------------------------------------------

    def values(self, low: Any) -> dict[int, float]:
        """What each candidate for the lead is worth by the estimates.                                     (G1)"""
        found = {k: float(low[k] * (x @ self.theta_hat)) for k, x in enumerate(self.X)}
        return found | ({NULL: 0.0} if self.null_pull else {})

    def pull_of(self, k: int, level: Any) -> Any:
        return np.zeros(self.X.shape[1]) if k == NULL else level[k] * self.X[k]

    def scores(self, low: Any, high: Any, i: int) -> dict[int, tuple[float, float]]:
        """For each candidate, by how much it might beat leader i, and the width in that.                  (G2)"""
        C = self.radius(self.R, self.D, self.delta, self.reward_radius)
        found, z_i = {}, self.pull_of(i, low)
        for k in self.values(low):
            level = high if self.selection == "optimistic" else low
            if k == i and (k == NULL or level[k] <= low[k]):
                continue
            y = self.pull_of(k, level) - z_i
            found[k] = float(y @ self.theta_hat + C * self.norm(y)), C * self.norm(y)
        return found

    def direction(self, low: Any, high: Any, i: int, j: int) -> Any:
        level = high if self.selection == "optimistic" else low
        return self.pull_of(i, low) - self.pull_of(j, level)

    def level_decides(self, low: Any, high: Any, j: int, width: float) -> float:
        """Above 0 when the unlearned level of j costs more than the reward is uncertain.                  (G6)"""
        if self.selection != "optimistic" or j == NULL:
            return -np.inf
        return float((high[j] - low[j]) * abs(self.X[j] @ self.theta_hat) - width)

    def gains(self, reach: Any, y: Any) -> Any:
        """By how much a pull of each arm shrinks y^T A^-1 y, by inverting every A + z z^T.                (G4)"""
        now = y @ self.A_inv @ y
        after = []
        for level, x in zip(reach, self.X, strict=True):
            after.append(y @ np.linalg.solve(self.A + level**2 * np.outer(x, x), y))
        return now - np.array(after)

    def owed(self, reach: Any, weights: Any) -> Any:
        """n_k / nu_k of each arm, infinite where nu_k = 0.                                                (G5)"""
        nu = np.abs(weights) / np.abs(weights).sum()
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(nu > 1e-12, self.squares / reach**2 / np.where(nu > 0, nu, 1.0), np.inf)

    def shortest(self, reach: Any, y: Any) -> float:
        """The optimum |w|_1 of the linear program, by HiGHS.                                              (G5)"""
        Z = reach[:, None] * self.X
        found = linprog(np.ones(2 * len(Z)), A_eq=np.hstack([Z.T, -Z.T]), b_eq=y, method="highs")
        assert found.status == 0, found.message
        return float(found.fun)

    def design_gap(self, reach: Any, y: Any, weights: Any) -> float:
        """How far from optimal the shares are at most, relative: the Frank-Wolfe gap of the convex program.   (G5')"""
        Z, nu = reach[:, None] * self.X, np.abs(weights) / np.abs(weights).sum()
        slopes = (Z @ np.linalg.solve(self.A + (Z.T * nu) @ Z, y)) ** 2  # minus the gradient
        value = y @ np.linalg.solve(self.A + (Z.T * nu) @ Z, y)
        return float((slopes.max() - slopes @ nu) / value)


def exploration_draw(seed: int, run: int, t: int, K: int) -> int:
    """The arm that uniform exploration draws in round t, from numpy's own Philox."""
    counter = ((run << 64) + t - 1) % 2**256  # numpy counts up before it draws
    word = np.random.Philox(counter=counter, key=(1 << 64) + seed).random_raw()
    return int((float(word >> 12) * 2.0**-52 + 2.0**-53) * K)
