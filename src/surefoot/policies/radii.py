"""The confidence sets of the paper's policies, by the words that name them."""

from typing import Literal

import numpy as np

from surefoot.core.grams import Grams, multiples_of_identity
from surefoot.core.types import Vector
from surefoot.policies.leaning import Leaning, leaned_on
from surefoot.problem import Problem
from surefoot.problem.norms import noise_sizes
from surefoot.problem.settings import LEAST_REGULARIZATION
from surefoot.sets import bias_free, ellipsoid, mixtures, own_pulls
from surefoot.sets.linked import linked
from surefoot.sets.protocol import ConfidenceSet

Radius = Literal["determinant", "norm", "squared-sum", "bias-free"]
SafetyRadius = Literal["determinant", "norm", "squared-sum", "bias-free", "own-pulls"]
BIAS_FREE, OWN_PULLS = "bias-free", "own-pulls"
RADII = (*ellipsoid.RADII, BIAS_FREE)
SAFETY_RADII = (*RADII, OWN_PULLS)
RENAMED = {"mixture": BIAS_FREE}  # the word of earlier versions -> today's


def sets_for(problem: Problem, reward: str, safety: str) -> tuple[Grams, ConfidenceSet]:
    """The Gram matrices and the sets with these radii. All three sets are there whatever the words, and each bounds the
    signals that ask for it: one compiled form serves every choice. Where largest effects are stated they are in even
    coordinates, which go along with the Gram matrices.

    delta_safety is split evenly over the limits. Where two sets are intersected each gets half of the error: the
    squared-sum ellipsoid and the bias-free set, or the ellipsoid and the arms' own pulls, whose half is split evenly
    over the arms and over both sides.
    """
    leaning, (K, d), m = leaned_on(problem), problem.features.shape, len(problem.safety)
    words = [reward] + [safety] * m
    cut = np.array([word in (BIAS_FREE, OWN_PULLS) for word in words])
    form = [ellipsoid.SQUARED_SUM if word in (BIAS_FREE, OWN_PULLS) else ellipsoid.RADII[word] for word in words]
    own = np.array(form) == ellipsoid.SQUARED_SUM
    grams = multiples_of_identity(np.where(own, own_regularization(problem, leaning), problem.regularization), d)
    grams = grams._replace(features=leaning.features if leaning.even else None)
    delta = np.array([problem.delta, *(problem.delta_safety / m for _ in range(m))])
    delta[cut] /= 2.0
    ball = ellipsoid.ellipsoid(ellipsoid.params_of(leaning.features, leaning.bounds, grams, form, delta))
    prior = bias_free.PRIOR * np.array(mixtures.planned_information(problem))
    asked = np.array([word == BIAS_FREE for word in words], np.int64)
    least_squares = bias_free.bias_free(bias_free.Params(asked, prior, -np.log(delta)), K, d)
    asked = np.array([word == OWN_PULLS for word in words], np.int64)
    by_arm = own_pulls.own_pulls(own_pulls.Params(asked, boundaries_for(problem, delta)))
    return grams, linked(ball, least_squares, by_arm)


def own_regularization(problem: Problem, leaning: Leaning) -> Vector:
    """The regularisation that suits each signal by itself, R^2 d / D^2, where its set pays no bias for another."""
    noise, X = noise_sizes(problem), leaning.features
    longest = float(np.sqrt((X * X).sum(axis=1).max()))
    least: Vector = np.maximum(X.shape[1] * (noise / leaning.bounds) ** 2, LEAST_REGULARIZATION * longest * longest)
    return least


def boundaries_for(problem: Problem, delta: Vector) -> Vector:
    """(2 n, 3) the boundaries of every arm's own pulls; those of the reward are not used."""
    information = mixtures.planned_information(problem)
    table = np.ones((2 * len(delta), 3))
    for s, R in enumerate(noise_sizes(problem).tolist()[1:], start=1):
        alpha = delta[s] / (2 * problem.size)
        table[2 * s] = table[2 * s + 1] = mixtures.half_normal(alpha, R, information[s])
    return table
