"""What the core computes with: plain tuples of numbers and arrays, readable by interpreter and compiler alike.

Letters are the paper's: K arms, d dimensions, n = 1 + m signals of which signal 0 is the reward and 1..m are safety.
A Gram matrix is kept for each different regularisation; with one for all signals there is one. What a part of the loop
remembers stands in the file of that part.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Tensor = NDArray[np.float64]
Indices = NDArray[np.int64]
Words = NDArray[np.uint64]
Flags = NDArray[np.bool_]

PULL, CERTIFIED, UNDECIDED, CONTRADICTION, BREAKDOWN = 0, 1, 2, 3, 4  # what a decision says
ALARM, MEASURED = 5, 6  # how a run ends besides: the data contradict the problem; a stop without a proof
EXPLORING, DECIDING = 0, 1  # phases
NULL = -1  # "do nothing": the arm of the null pull
ROUND, SINCE_REFRESH, PHASE, CONTRADICTED, LEADER, CHALLENGER = 0, 1, 2, 3, 4, 5  # entries of State.clock


class Dial(NamedTuple):
    """The levels that may be set."""

    gamma0: Vector  # (K,) known to be safe
    ceiling: Vector  # (K,) highest that the dial allows
    grid: Vector  # the settings of a discrete dial, ascending; empty for a continuous one
    step: float  # largest increase of an arm's level between its pulls; infinite when free
    step_from: Vector  # levels, ascending, where that depends on the level; empty where it does not
    step_to: Vector  # how far a step reaches from each of them; in between, straight lines
    pullable: Vector  # (K,) 1, or 0 where the arm may be the answer and cannot be tried; empty where all can be


class Instance(NamedTuple):
    """A problem as numbers, together with what the policy's confidence sets read."""

    X: Matrix  # (K, d) arms
    R: Vector  # (n,) sub-Gaussian size of the noise
    eta0: Vector  # (m,) safety limits, all negative
    within: Vector  # (n,) how far the mean of each signal may be from the linear law (W1)
    dial: Dial
    epsilon: float
    regularization: Tensor  # (g, d, d) of each Gram matrix
    log_det: Vector  # (g,) logarithm of its determinant
    gram_of: Indices  # (n,) the Gram matrix that signal s is estimated with
    fades: Indices  # (g,) 1 where the regularisation holds only until the pulls span
    few_columns: bool  # whether so many arms are there that only the columns in question are held
    sets: Any  # parameters of the confidence sets
    board: Indices  # where jobs for several threads are put up; see core.crew
    ties: float = 0.0  # scores that differ by no more than this share are equal, and the first arm is taken


class Ball(NamedTuple):
    """An ellipsoid around the estimate of one signal's weights that holds the truth, for all rounds at once.

    Its half-width along y is radius |y| in A^-1 + prior A^-2, and drift |y| in A^-1 besides.
    """

    s: int  # the signal
    g: int  # its Gram matrix
    radius: float  # infinite while nothing is known
    norm: float  # the bound on the norm of the weights that the radius leans on; infinite where it leans on none
    prior: float  # c of (C2); 0 for an ellipsoid in A^-1 alone
    drift: float = 0.0  # what means that are not quite linear add (W2); 0 where they are


class Decision(NamedTuple):
    """The next pull or the end, with its reasons."""

    status: int
    phase: int
    arm: int  # to pull
    level: float
    leader: int  # NULL for the null pull
    leader_level: float
    challenger: int
    gap: float  # B(t)


class Nothing(NamedTuple):
    """The memory of a part that has none; compiled code cannot take an empty tuple."""

    nothing: int = 0
