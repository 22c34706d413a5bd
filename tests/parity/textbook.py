"""The algorithm as a textbook would write it, in d dimensions and plain numpy, from the equations alone.

Nothing of the package is imported here. Every round inverts A anew; nothing is kept but sums over pulls. The state is
what (E1) says, the candidates of a race are the arms 0..K-1 and, where asked for, the null pull, numbered -1. A norm
that nobody states is None.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import brentq, linprog
from scipy.stats import norm as normal

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
    epsilon: float = 0.0
    t: int = 0
    history: list = field(default_factory=list)

    def __post_init__(self) -> None:
        (K, d), m = self.X.shape, len(self.eta0)
        self.ceiling = np.ones(K) if self.ceiling is None else np.asarray(self.ceiling, float)
        if len(self.grid):
            self.ceiling = self.rounded_down(self.ceiling)
        self.L = max(np.linalg.norm(x) for x in self.X)
        self.V, self.b, self.own = np.zeros((d, d)), np.zeros((1 + m, d)), np.zeros((1 + m, K))
        self.noise, self.norms = np.array([self.R, *self.R_s]), np.array([self.D, *self.D_s], float)
        self.kinds = [self.reward_radius] + [self.safety_radius] * m
        self.shares = self.split()
        own = np.maximum(d * (self.noise / self.norms) ** 2, 1e-9 * self.L**2)
        self.lams = np.where(np.isin(self.kinds, ["determinant", "norm"]), self.lam, own)
        self.squares, self.last = np.zeros(K), np.array(self.gamma0, float)
        self.best_low, self.best_high = np.zeros((m, K)), np.ones((m, K))
        self.frozen = None

    # (E) -------------------------------------------------------------------------------------------------------------

    def split(self) -> Any:
        """The error of each signal's ellipsoid: half of it where two sets are intersected."""
        m = len(self.eta0)
        whole = np.array([self.delta] + [self.delta_s / m] * m)
        return np.where(np.isin(self.kinds, ["bias-free", "own-pulls"]), whole / 2, whole)

    def absorb(self, k: int, gamma: float, reward: float, safety: Any) -> None:
        z, seen = gamma * self.X[k], np.array([reward, *safety])
        self.V += np.outer(z, z)  # (E1)
        self.b += np.outer(seen, z)
        self.own[:, k] += gamma * seen
        self.squares[k] += gamma**2
        self.last[k] = gamma
        self.t += 1

    def estimates(self) -> None:
        self.A_of = [lam * np.eye(len(self.V)) + self.V for lam in self.lams]
        self.inverse = [np.linalg.inv(A) for A in self.A_of]
        self.hats = [inverse @ b for inverse, b in zip(self.inverse, self.b, strict=True)]  # (E2)
        self.radii = [self.radius(s, delta) for s, delta in enumerate(self.shares)]
        known = "bias-free" in self.kinds and invertible(self.V, 1e-9)
        self.V_inverse = np.linalg.inv(self.V) if known else None

    def radius(self, s: int, delta: float) -> float:
        d, R, D, lam = self.X.shape[1], self.noise[s], self.norms[s], self.lams[s]
        if self.kinds[s] == "norm" and d >= 2:  # (E3)
            return R * np.sqrt(d * np.log((1 + self.t * self.L**2 / lam) / delta)) + np.sqrt(lam) * D
        square = 2 * np.log(1 / delta) + np.linalg.slogdet(self.A_of[s])[1] - d * np.log(lam)
        if self.kinds[s] in ("determinant", "norm"):  # (E4)
            return R * np.sqrt(square) + np.sqrt(lam) * D
        return np.sqrt(R**2 * square + lam * D**2)  # (C1)

    def norm(self, y: Any, s: int) -> float:
        return float(np.sqrt(max(y @ self.inverse[s] @ y, 0.0)))

    def interval(self, s: int, y: Any, arm: int | None = None) -> tuple[float, float]:
        """The least and the most that y . weights of signal s can be; `arm` says that y is that arm.     (E5)"""
        middle, width = float(y @ self.hats[s]), self.radii[s] * self.norm(y, s)
        low, high = middle - width, middle + width
        for middle, width in [*self.bias_free(s, y), *self.own_pulls(s, arm)]:
            low, high = max(low, middle - width), min(high, middle + width)
        return low, high

    def bias_free(self, s: int, y: Any) -> list[tuple[float, float]]:
        """Centre and width of the bias-free set, as soon as V can be inverted.                           (C2)"""
        if self.kinds[s] != "bias-free" or self.V_inverse is None:
            return []
        c, inverse = 0.3 * self.planned_information()[s], self.V_inverse
        grown = np.linalg.slogdet(np.eye(len(self.V)) + self.V / c)[1]
        radius = self.noise[s] * np.sqrt(2 * np.log(1 / self.shares[s]) + grown)
        width = radius * np.sqrt(max(y @ inverse @ y + c * (inverse @ y) @ (inverse @ y), 0.0))
        return [(float(y @ inverse @ self.b[s]), float(width))]

    def own_pulls(self, s: int, arm: int | None) -> list[tuple[float, float]]:
        """Centre and width by the arm's own pulls.                                                       (C4)"""
        if self.kinds[s] != "own-pulls" or arm is None or self.squares[arm] == 0.0:
            return []
        N, R, K = self.squares[arm], self.noise[s], len(self.X)
        spread = 1 / (R * np.sqrt(self.planned_information()[s]))
        height = mixture_boundary(self.shares[s] / (2 * K), R, 0.0, spread)(N)
        return [(float(self.own[s, arm] / N), float(height / N))]

    def largest_value(self) -> float:
        """S, about the largest reward there can be; without norm and epsilon the noise is the only scale.     (C7)"""
        if self.D is None:
            return 30 * self.epsilon or self.R
        return float(self.D * self.L)

    def planned_information(self) -> list[float]:
        """The information at which each signal's question is likely to be decided.                       (C7)"""
        S = self.largest_value()
        if S == 0.0:
            return [1.0] * (1 + len(self.eta0))
        fine = max(self.epsilon, 1e-3 * S)
        return [self.R**2 / (S * fine)] + [
            R**2 * S / (eta0**2 * fine) for R, eta0 in zip(self.R_s, self.eta0, strict=True)
        ]

    # (S) -------------------------------------------------------------------------------------------------------------

    def rounded_down(self, level: Any) -> Any:
        points = np.array([0.0, *sorted(self.grid)])
        return points[np.searchsorted(points, level, side="right") - 1]

    def raw_levels(self) -> tuple[Any, Any]:
        """(m, K) pessimistic and optimistic levels by each signal, before minima, known levels and dials."""
        m, K = len(self.eta0), len(self.X)
        low, high = np.ones((m, K)), np.ones((m, K))
        for s in range(m):
            for k, x in enumerate(self.X):
                least, most = self.interval(1 + s, x, arm=k)  # (S1)
                if least < self.eta0[s]:
                    low[s, k] = self.eta0[s] / least
                if most < self.eta0[s]:
                    high[s, k] = self.eta0[s] / most
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
        self.low_of = low
        low, high = np.minimum(low.min(axis=0), self.ceiling), np.minimum(high.min(axis=0), self.ceiling)
        self.unrounded = low, high
        if len(self.grid):
            low, high = self.rounded_down(low), self.rounded_down(high)
        low = np.maximum(self.gamma0, low)
        self.frozen = low, np.maximum(low, high)
        return self.frozen

    def contradicted(self, slack: float = 5e-10) -> bool:
        """Whether the data refute what was stated, by more than the slack."""
        return self.levels_crossed(slack) or self.known_level_refuted(slack) or self.estimate_impossible()

    def levels_crossed(self, slack: float) -> bool:
        """Whether a remembered pessimistic level lies above a remembered optimistic one: no mu fits."""
        return bool((self.best_low > self.best_high + slack).any())

    def known_level_refuted(self, slack: float) -> bool:
        """Whether the sets rule out that some arm is safe at its known level."""
        for s in range(len(self.eta0)):
            highest = [self.interval(1 + s, x, arm=k)[1] for k, x in enumerate(self.X)]
            if (self.gamma0 * highest < self.eta0[s] * (1 + slack)).any():
                return True
        return False

    def estimate_impossible(self) -> bool:
        """Whether an estimate lies grossly beyond what the norm bounds allow."""
        return any(
            abs(x @ hat) > 9.999 * np.linalg.norm(x) * self.norms[s] + self.radii[s] * self.norm(x, s)
            for s, hat in enumerate(self.hats)
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
        found = {k: float(low[k] * (x @ self.hats[0])) for k, x in enumerate(self.X)}
        return found | ({NULL: 0.0} if self.null_pull else {})

    def pull_of(self, k: int, level: Any) -> Any:
        return np.zeros(self.X.shape[1]) if k == NULL else level[k] * self.X[k]

    def scores(self, low: Any, high: Any, i: int) -> dict[int, tuple[float, float]]:
        """For each candidate, by how much it might beat leader i, and the width in that.                  (G2)"""
        found, z_i = {}, self.pull_of(i, low)
        for k in self.values(low):
            level = high if self.selection == "optimistic" else low
            if k == i and (k == NULL or level[k] <= low[k]):
                continue
            y = self.pull_of(k, level) - z_i
            most = self.interval(0, y)[1]
            found[k] = most, most - float(y @ self.hats[0])
        return found

    def direction(self, low: Any, high: Any, i: int, j: int) -> Any:
        level = high if self.selection == "optimistic" else low
        return self.pull_of(i, low) - self.pull_of(j, level)

    def level_decides(self, low: Any, high: Any, j: int, width: float) -> float:
        """Above 0 when the unlearned level of j costs more than the reward is uncertain.                  (G6)"""
        if self.selection != "optimistic" or j == NULL:
            return -np.inf
        return float((high[j] - low[j]) * abs(self.X[j] @ self.hats[0]) - width)

    def gains(self, reach: Any, y: Any, s: int = 0) -> Any:
        """By how much a pull of each arm shrinks y^T A^-1 y, by inverting every A + z z^T.                (G4)"""
        now = y @ self.inverse[s] @ y
        after = []
        for level, x in zip(reach, self.X, strict=True):
            after.append(y @ np.linalg.solve(self.A_of[s] + level**2 * np.outer(x, x), y))
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
        slopes = (Z @ np.linalg.solve(self.A_of[0] + (Z.T * nu) @ Z, y)) ** 2  # minus the gradient
        value = y @ np.linalg.solve(self.A_of[0] + (Z.T * nu) @ Z, y)
        return float((slopes.max() - slopes @ nu) / value)


@dataclass
class SafeGapBook(Textbook):
    """SafeGap, with the weights and results of all pulls kept as they came and every sum taken anew.

    No norm is in any of its sets: D only plans (C7).
    """

    even: Any = None  # (K, d) the arms in other coordinates, which the sets are computed in
    late: bool = True  # whether aims are opened when their questions come up, or all at once

    def __post_init__(self) -> None:
        super().__post_init__()  # the largest value is in the coordinates of the norm
        self.X = self.X if self.even is None else self.even
        (K, d), m = self.X.shape, len(self.eta0)
        self.priors = np.array([1.0] + [0.3] * m) * self.planned_information()  # c of (C2)
        self.start = 1e-6 * min(self.gamma0) ** 2
        self.spanned, self.least_most = False, np.full((m, K), np.inf)
        self.signal = [0] * (K + 1) + [1 + s for s in range(m) for _ in range(K)]  # of each aim
        self.Z, self.seen, self.H = (np.zeros((0, width)) for width in (d, 1 + m, len(self.signal)))
        self.asked: list[int] = [] if self.late else list(range(K + 1))  # targets of the reward that are open
        self.watched: list[int] = [] if self.late else list(range(K))  # arms at which limits are asked about, in order
        self.close, self.tried = False, set[int]()
        self.set_boundaries()

    def split(self) -> Any:
        """0.05 of delta for the reward's ellipsoid, 0.2 of each delta_s / m for a limit's, as it bounds from below."""
        m = len(self.eta0)
        return np.array([0.05 * self.delta] + [0.2 * self.delta_s / m] * m)

    def set_boundaries(self) -> None:
        """The mixtures of every aim.                                                                 (C3, C7)"""
        m, K, R, S = len(self.eta0), len(self.X), self.R, self.largest_value()
        fine, planned = max(self.epsilon, 1e-3 * S), self.planned_information()
        near = mixture_boundary(0.85 * 0.9 * self.delta, R, 2 * fine / R**2, fine / R**2)
        far = mixture_boundary(0.85 * 0.1 * self.delta, R, 0.0, 1 / (R * np.sqrt(0.03 * planned[0])))
        self.near, self.far, self.switch = near, far, crossing_of(near, far, rho=R**2 / fine**2)
        alpha, positive = min(0.85 * 0.9 * self.delta, 0.25), normal.cdf(2.0)
        self.constant = 2 * np.log(positive / alpha / (1 - alpha / positive / 2)) + 4.0  # of NEAR
        shares = 1 / np.arange(1, K + 1) / (1 / np.arange(1, K + 1)).sum() if self.late else np.full(K, 1 / K)
        self.low_height, self.high_height = [None], [None]
        for s in range(1, 1 + m):
            spread = 1 / (self.noise[s] * np.sqrt(planned[s]))
            too_high, too_low = 0.8 * self.delta_s / m * shares, 0.8 * 0.1 * self.delta / m
            self.low_height.append([mixture_boundary(alpha, self.noise[s], 0.0, spread) for alpha in too_high])
            self.high_height.append(mixture_boundary(too_low, self.noise[s], 0.0, spread))

    def absorb(self, k: int, gamma: float, reward: float, safety: Any) -> None:
        if self.spanned:
            race = self.decided[2:] if self.close else ()
            for each in (k, *race) if k in self.tried else race:
                if each != NULL and each not in self.watched:
                    self.watched.append(each)
        self.tried.add(k)
        weights = self.weights(gamma * self.X[k])
        super().absorb(k, gamma, reward, safety)
        self.Z = np.vstack([self.Z, gamma * self.X[k]])
        self.seen = np.vstack([self.seen, [reward, *safety]])
        self.H = np.vstack([self.H, weights])

    def estimates(self) -> None:
        """Least squares, and a trace of regularisation until the pulls span.                             (C2, S0)"""
        m, d = len(self.eta0), len(self.V)
        self.spanned = self.spanned or invertible(self.V, 1e-12)
        A = self.V if self.spanned else self.V + self.start * np.eye(d)
        inverse = np.linalg.inv(A)
        self.A_of, self.inverse = [A] * (1 + m), [inverse] * (1 + m)
        self.hats = [inverse @ b for b in self.b]
        self.metric = [inverse + c * inverse @ inverse for c in self.priors]  # B of (C6)
        self.radii = [self.radius(s, delta) for s, delta in enumerate(self.shares)]
        self.radii_high = [None] + [self.radius(1 + s, 0.2 * 0.1 * self.delta / m) for s in range(m)]
        self.radii_most = [None] + [self.radius(1 + s, 0.1 * self.delta_s / m) for s in range(m)]
        self.q = self.H.T @ self.Z
        self.information = (self.H**2).sum(axis=0)
        own = [self.seen[:, s] for s in self.signal]
        self.rest = [
            h @ seen - q @ self.hats[s] for h, seen, q, s in zip(self.H.T, own, self.q, self.signal, strict=True)
        ]

    def radius(self, s: int, delta: float) -> float:
        """Infinite until the pulls span.                                                                 (C2)"""
        if not self.spanned:
            return np.inf
        grown = np.linalg.slogdet(np.eye(len(self.V)) + self.V / self.priors[s])[1]
        return float(self.noise[s] * np.sqrt(2 * np.log(1 / delta) + grown))

    def width(self, y: Any, s: int, radius: float) -> float:
        """What the ellipsoid allows y . weights to be away from its middle; nothing, where y is zero.        (C2)"""
        if not y.any() or np.isinf(radius):
            return radius if y.any() else 0.0
        return radius * float(np.sqrt(max(y @ self.metric[s] @ y, 0.0)))

    def spanning_gains(self, reach: Any) -> Any:
        """The squared part of each arm's pull outside the span of what was pulled, about.                    (S0)"""
        return np.array([g**2 * (x @ self.inverse[0] @ x) for g, x in zip(reach, self.X, strict=True)])

    def remember(self, low: Any, high: Any, i: int, j: int) -> None:
        """The decision that the weights of the next pull follow, and whose aim is opened by it.               (C5)"""
        self.decided = low, high, i, NULL if j == i else j
        K, scores, leads = len(self.X), self.scores(low, high, i), {}
        for k in scores:
            y = self.pull_of(k, high) - self.pull_of(i, low)
            if k == i or (k if k != NULL else K) not in self.asked:
                leads[k if k != NULL else K] = y @ self.hats[0] + self.width(y, 0, self.radii[0]), y
        if not leads:
            self.close = False
            return
        most = max(lead for lead, _ in leads.values())
        far = min(k for k, (lead, _) in leads.items() if lead >= most - 1e-10 * max(1.0, abs(most)))  # of equal arms
        y = leads[far][1]
        width = self.R * np.sqrt(self.constant * max(y @ self.inverse[0] @ y, 0.0))
        self.close = bool(width <= 10.0 * (self.epsilon + max(-float(y @ self.hats[0]), 0.0)))
        if self.close and far != i and most >= max(score for score, _ in scores.values()):
            self.asked.append(far)

    def question(self, a: int) -> Any:
        """What aim a asks about, y; nothing, where two pulls differ by rounding only or before the pulls span.  (C5)"""
        (K, d), inverse = self.X.shape, self.inverse[0]
        if not self.spanned:
            return np.zeros(d)
        if a > K:
            return self.X[(a - K - 1) % K]
        low, high, i, j = self.decided
        one, other = high[a] * self.X[a] if a < K else np.zeros(d), self.pull_of(j if a == i else i, low)
        y = one - other
        asks = y @ inverse @ y > 1e-13 * (one @ inverse @ one + other @ inverse @ other)
        return y if asks else np.zeros(d)

    def weights(self, z: Any) -> Any:
        """The weight of every aim in the pull z.                                                         (C5)"""
        found = np.zeros(len(self.signal))
        for a, s in enumerate(self.signal):
            y, inverse, K = self.question(a), self.inverse[s], len(self.X)
            is_open = a in self.asked if a <= K else (a - K - 1) % K in self.watched
            if not (is_open and y.any()):
                continue
            plain = z @ inverse @ y / (y @ inverse @ y)
            correction = 4.0 * (max(self.q[a] @ inverse @ y, 0.0) * plain - z @ inverse @ self.q[a])
            most = abs(plain) + np.sqrt(self.information[a] / (self.t + 1))
            found[a] = plain + np.clip(correction, -most, most)
        return found

    def furthest(self, y: Any, a: int, bound: float, radius: float) -> float:
        """The largest y . v in the ellipsoid of radius and in the half-space q . v <= bound.             (C6)"""
        B, q = self.metric[self.signal[a]], self.q[a]
        full = self.width(y, self.signal[a], radius)
        if not self.spanned:
            return full
        along, fit = y @ B @ q, q @ B @ q
        if along <= 0.0 or bound <= -radius * np.sqrt(fit) or q @ B @ y * radius**2 <= bound * full:
            return float(full)
        across = y - along / fit * q
        left = max(across @ B @ across, 1e-15 * (y @ B @ y))  # nobody computes with more digits
        return float(min(full, bound * along / fit + np.sqrt(left * (radius**2 - bound**2 / fit))))

    def interval(self, s: int, y: Any, arm: int | None = None) -> tuple[float, float]:
        """The bounds of safety signal s at an arm, cut by its aim.                                   (S1, C6)"""
        assert arm is not None
        a, middle = len(self.X) * s + 1 + arm, float(y @ self.hats[s])
        if arm not in self.watched:
            return middle - self.width(y, s, self.radii[s]), middle + self.width(y, s, self.radii_high[s])
        low = self.low_height[s][self.watched.index(arm)](self.information[a]) - self.rest[a]
        high = self.high_height[s](self.information[a]) + self.rest[a]
        return middle - self.furthest(y, a, low, self.radii[s]), middle + self.furthest(y, a, high, self.radii_high[s])

    def certify(self) -> tuple[Any, Any]:
        """The levels, and the least that each signal could ever be at most, by an ellipsoid of its own."""
        for s in range(len(self.eta0)):
            most = [x @ self.hats[1 + s] + self.width(x, 1 + s, self.radii_most[1 + s]) for x in self.X]
            self.least_most[s] = np.minimum(self.least_most[s], most)
        return super().certify()

    def contradicted(self, slack: float = 5e-10) -> bool:
        """Whether some limit is surely crossed at a level that is stated or was certified for it."""
        claimed = np.maximum(self.best_low, self.gamma0)
        return bool((claimed * self.least_most < self.eta0[:, None] * (1 + slack)).any())

    def scores(self, low: Any, high: Any, i: int) -> dict[int, tuple[float, float]]:
        """For each candidate, by how much it might beat leader i, and the width in that.             (G2, C6)"""
        found = {}
        for k in self.values(low):
            if k == i and (k == NULL or high[k] <= low[k]):
                continue
            y, a = self.pull_of(k, high) - self.pull_of(i, low), k if k != NULL else len(self.X)
            width = self.ellipsoid_width(low, high, i, k)
            if k != i and a in self.asked:
                Q = self.information[a]
                bound = (self.near if self.switch <= Q else self.far)(Q) + self.rest[a]
                width = self.furthest(y, a, bound, self.radii[0])
            found[k] = float(y @ self.hats[0]) + width, width
        return found

    def ellipsoid_width(self, low: Any, high: Any, i: int, k: int) -> float:
        return self.width(self.pull_of(k, high) - self.pull_of(i, low), 0, self.radii[0])

    def narrowing(self, low: Any, high: Any, reach: Any, i: int, j: int, width: float) -> Any:
        """By how much the pull of each arm narrows the gap.                                              (G7)"""
        y = self.direction(low, high, i, j)
        found = max(width, 0.0) * self.gain_shares(reach, y, 0)
        for k in {i, j} - {NULL}:
            cost = (high[k] - low[k]) * abs(self.X[k] @ self.hats[0])
            found = found + cost * self.gain_shares(reach, self.X[k], 1 + int(np.argmin(self.best_low[:, k])))
        return found

    def gain_shares(self, reach: Any, y: Any, s: int) -> Any:
        square = y @ self.inverse[s] @ y
        return self.gains(reach, y, s) / square if square > 0.0 else np.zeros(len(self.X))


def mixture_boundary(alpha: float, R: float, centre: float, spread: float) -> Any:
    """The boundary of a normal mixture over effects, cut off at zero, as a function of the information.      (C3)"""
    alpha = min(alpha, 0.25)
    positive = normal.cdf(centre / spread)
    wealth = positive / alpha / (1 - alpha / positive / 2)

    def height(Q: float) -> float:
        precision = R**2 * Q + 1 / spread**2
        exponent = 2 * np.log(wealth * np.sqrt(precision) * spread) + (centre / spread) ** 2
        return float(np.sqrt(precision * exponent) - centre / spread**2)

    return height


def crossing_of(near: Any, far: Any, rho: float) -> float:
    """The information from which on the first boundary is the lower one."""

    def above(power: float) -> float:
        return near(rho * np.exp(power)) - far(rho * np.exp(power))

    if above(60.0) > 0.0:
        return np.inf
    if above(-60.0) <= 0.0:
        return 0.0
    return float(rho * np.exp(brentq(above, -60.0, 60.0, xtol=1e-12)))


def invertible(V: Any, share: float) -> bool:
    """Whether the eigenvalues of V have a harmonic mean above this share of their sum: more than rounding errors."""
    sizes = np.linalg.eigvalsh(V)
    return bool(sizes.min() > 0.0 and len(V) / (1.0 / sizes).sum() > share * sizes.sum())


def exploration_draw(seed: int, run: int, t: int, K: int) -> int:
    """The arm that uniform exploration draws in round t, from numpy's own Philox."""
    counter = ((run << 64) + t - 1) % 2**256  # numpy counts up before it draws
    word = np.random.Philox(counter=counter, key=(1 << 64) + seed).random_raw()
    return int((float(word >> 12) * 2.0**-52 + 2.0**-53) * K)
