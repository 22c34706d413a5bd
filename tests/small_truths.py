"""Random truths for the tests of (T9), and what the definition says about them."""

from typing import Any

import numpy as np

from surefoot.theory import uncut_evidence
from surefoot.theory.alternatives import Setting


def random_truth(seed: int, arms: int = 6, dim: int = 3, signals: int = 1, **changes: Any) -> dict[str, Any]:
    """What `lower_bound_for` takes, with nothing told."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(arms, dim))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    theta, mu = rng.normal(size=dim), rng.normal(size=(signals, dim))
    mu[0] -= 0.7 * theta  # what pays is dangerous
    given = {
        "arms": x,
        "values": x @ theta,
        "safety": mu @ x.T,
        "eta0": np.full(signals, -0.4),
        "noise": 1.0,
        "safety_noise": np.full(signals, 0.3),
        "epsilon": 0.15,
        "evidence": uncut_evidence(0.05),
        **changes,
    }
    if "levels" not in given:
        eta0 = given["eta0"][:, None]
        dangerous = given["safety"] < eta0
        given["levels"] = np.where(dangerous, eta0 / np.where(dangerous, given["safety"], -1.0), 1.0).min(
            0, initial=1.0
        )
    return given


def told_truth(seed: int, arms: int = 5, dim: int = 3) -> dict[str, Any]:
    """The same with everything told, and tightly: cuts that bind."""
    truth = random_truth(seed, arms, dim, 1 + seed % 2)
    share = np.random.default_rng(1000 + seed).uniform(0.5, 1.0, size=arms)
    theta, mu = weights_of(truth)
    return {**truth, "safe_level": share * truth["levels"], "norm": float(np.linalg.norm(theta)) * 1.05,
            "safety_norm": (np.linalg.norm(mu, axis=1) * 1.05).tolist()}  # fmt: skip


def weights_of(truth: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """theta (d,) and mu (m, d)."""
    x = truth["arms"]
    return np.linalg.lstsq(x, truth["values"], rcond=None)[0], np.linalg.lstsq(x, truth["safety"].T, rcond=None)[0].T


def setting_of(truth: dict[str, Any]) -> Setting:
    """The truth as the search for alternatives takes it."""
    theta, mu = weights_of(truth)
    levels, signals = truth["levels"], len(truth["eta0"])
    norm, norms = truth.get("norm"), truth.get("safety_norm")
    return Setting(
        **{name: truth[name] for name in ("arms", "eta0", "noise", "safety_noise", "epsilon")},
        theta=theta, mu=mu, pulls_at=levels, best_level=levels, cap=np.ones(len(levels)), grid=np.empty(0),
        known=np.zeros(len(levels)) if truth.get("safe_level") is None else truth["safe_level"],
        norm=np.inf if norm is None else norm,
        safety_norm=np.full(signals, np.inf) if norms is None else np.array(norms),
        worse=truth["evidence"].worse, unsafe=truth["evidence"].unsafe,
    )  # fmt: skip


def lawful(truth: dict[str, Any], thetas: np.ndarray, mus: np.ndarray) -> np.ndarray:
    """Whether truths (n, d), (n, m, d) obey what methods are told."""
    keeps = np.ones(len(thetas), dtype=bool)
    if truth.get("safe_level") is not None:
        signals = truth["safe_level"] * (mus @ truth["arms"].T)
        keeps &= (signals >= truth["eta0"][:, None]).all(axis=(1, 2))
    if truth.get("norm") is not None:
        keeps &= np.linalg.norm(thetas, axis=1) <= truth["norm"]
        keeps &= (np.linalg.norm(mus, axis=2) <= truth["safety_norm"]).all(axis=1)
    return keeps


def information(truth: dict[str, Any], w: np.ndarray, thetas: np.ndarray, mus: np.ndarray) -> np.ndarray:
    """What w collects against truths (n, d), (n, m, d)."""
    weight, x = w * truth["levels"] ** 2, truth["arms"]
    reward = (weight * (thetas @ x.T - truth["values"]) ** 2).sum(-1) / (2 * truth["noise"] ** 2)
    moved = (weight * (mus @ x.T - truth["safety"]) ** 2).sum(-1)
    return np.asarray(reward + (moved / (2 * truth["safety_noise"] ** 2)).sum(-1))


def verdict(
    truth: dict[str, Any], thetas: np.ndarray, mus: np.ndarray, arm: int, level: float
) -> tuple[np.ndarray, np.ndarray]:
    """Whether an answer is worse than epsilon, and whether it is unsafe, in truths (n, d), (n, m, d)."""
    values, safety, eta0 = thetas @ truth["arms"].T, mus @ truth["arms"].T, truth["eta0"][:, None]
    levels = np.where(safety < eta0, eta0 / np.minimum(safety, -1e-300), 1.0).min(axis=1)
    best = np.maximum(0.0, (levels * values).max(axis=1))
    unsafe = (level * safety[:, :, arm] < truth["eta0"]).any(axis=1)
    return best - level * values[:, arm] > truth["epsilon"], unsafe
