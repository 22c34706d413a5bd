"""The alarm: whether the data contradict what the promises rest on, at a stated level, for the whole life of a study.

noise    readings scatter more around every linear model than noise of the stated size can                     (A1)
arms     the arms do not differ as any linear model of their features says                                     (A2)
levels   an effect is not proportional to the level                                                            (A2)
time     an effect changes as the study goes on                                                                (A2)
limit    a safety reading lies further beyond its limit than noise can take a safe pull                        (A3)

Each is an e-process: it starts with 1, and ever reaches 1/alpha with probability at most alpha while the model
is true, whoever chose the pulls. The level is shared evenly by all tests of all signals, so the chance of any false
alarm is at most `level` (beside delta_safety, for the last).
"""

from dataclasses import dataclass
from math import inf, log

import numpy as np

from surefoot.core.types import Indices
from surefoot.live.e_processes import Cells, deviation_evidence, noise_evidence, unexplained
from surefoot.problem import Problem
from surefoot.problem.checks import Floats, number

VERSION = 1  # changes whenever a check changes: a study keeps the one it began with
LEVEL = 0.01
LEVEL_PARTS = 8  # ranges of the level
TIME_PARTS = 40  # stretches of time: pull 1, 2-3, 4-7, ...; more than any study has
LARGEST = 1e60  # in units of the noise: whatever is beyond it is an alarm all the same, and squares stay finite
REMEDY = "Choose the chance of a false alarm that you accept, for example 0.01."
SAID = {
    "noise": "its readings scatter more around every linear model than noise {noise:g} allows",
    "arms": "the arms do not differ as a linear model of their features says",
    "levels": "its effect is not proportional to the level",
    "time": "its effect changes as the study goes on",
    "limit": "a reading lies further beyond the limit than noise {noise:g} can take a safe pull",
}


@dataclass(frozen=True)
class Finding:
    """One test that the data failed."""

    signal: str  # "reward", or the name of a limit
    test: str  # "noise", "arms", "levels", "time" or "limit"
    pulls: int  # how many results had been taken in
    evidence: float  # logarithm of the e-process
    needed: float  # the logarithm at which the alarm is raised
    message: str

    def to_dict(self) -> dict[str, object]:
        """The finding as a table."""
        return vars(self).copy()


class ModelChecks:
    """Running tests of the model's assumptions. Give it every result that is taken in, in that order."""

    def __init__(self, problem: Problem, level: float = LEVEL) -> None:
        self.problem = problem
        self.level = number("level", level, REMEDY, above=0.0, below=1.0)
        self._names = ["reward", *(limit.name for limit in problem.safety)]
        self._R = np.array([problem.reward.noise, *(limit.noise for limit in problem.safety)])
        self._eta0 = np.array([limit.eta0 for limit in problem.safety]) / self._R[1:]
        n, K = len(self._names), problem.size
        self.needed = log((4 * n + n - 1) / self.level)  # four tests for each signal, and one for each limit
        self.pulls = 0
        self._around = np.zeros((n, K))  # squared residuals around each arm's own slope
        self._cells = {"arms": Cells(n, K, 1), "levels": Cells(n, K, LEVEL_PARTS), "time": Cells(n, K, TIME_PARTS)}
        self._beyond = np.full(n - 1, -inf)  # the evidence of the worst reading of each limit
        self._found: dict[tuple[str, str], Finding] = {}

    def take_all(self, arms: Indices, levels: Floats, observed: Floats) -> tuple[Finding, ...]:
        """What is revealed with these results, (P,) and (P, n) as the core sees them, that was not known before.

        All tests are looked at after each of the first 127 pulls, later about once in a hundred: one may look at a
        process as seldom as one likes. A reading beyond its limit is seen at once.
        """
        if not len(arms):
            return ()
        before, numbers = self.pulls, np.arange(self.pulls + 1, self.pulls + len(arms) + 1)
        self.pulls += len(arms)
        observed = np.clip(observed / self._R, -LARGEST, LARGEST)  # in units of the noise
        self._add_scatter(arms, levels, observed)
        of_level = np.clip(np.ceil(levels * LEVEL_PARTS).astype(np.int64) - 1, 0, LEVEL_PARTS - 1)
        of_time = np.frexp(numbers)[1].astype(np.int64) - 1
        for name, parts in (("arms", np.zeros_like(arms)), ("levels", of_level), ("time", of_time)):
            self._cells[name].add(arms, parts, levels, observed)
        excess = np.maximum(self._eta0 - observed[:, 1:], 0.0)
        worst = (excess**2 / 2 - np.log(numbers * (numbers + 1.0))[:, None]).max(axis=0)  # (A3)
        self._beyond = np.maximum(self._beyond, worst)
        every = 1 << max(0, self.pulls.bit_length() - 7)
        due = self.pulls // every > before // every or (worst >= self.needed).any()
        return self._new_findings() if due else ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Every test that was failed so far, each as it was when that was seen first."""
        return tuple(self._found.values())

    def evidence(self) -> dict[str, dict[str, float]]:
        """The logarithm of each process now, by signal and test; at `needed` it is an alarm."""
        arms, X = self._cells["arms"], self.problem.features
        squares = self._around.sum(axis=1) + unexplained(X, arms.N[:, 0], arms.slopes()[:, :, 0])
        evidence = {"noise": noise_evidence(squares, self.pulls)}
        evidence |= {name: deviation_evidence(cells, X) for name, cells in self._cells.items()}
        found = {
            name: {test: float(each[s]) for test, each in evidence.items()} for s, name in enumerate(self._names)
        }  # fmt: skip
        for s, limit in enumerate(self.problem.safety):
            found[limit.name]["limit"] = float(self._beyond[s])
        return found

    def _new_findings(self) -> tuple[Finding, ...]:
        """The tests that are failed now and were not before."""
        new = []
        for s, (signal, tests) in enumerate(self.evidence().items()):
            for test, evidence in tests.items():
                if evidence >= self.needed and (signal, test) not in self._found:
                    message = f"{signal}: {SAID[test].format(noise=self._R[s])}"
                    self._found[signal, test] = Finding(signal, test, self.pulls, evidence, self.needed, message)
                    new.append(self._found[signal, test])
        return tuple(new)

    def _add_scatter(self, arms: Indices, levels: Floats, observed: Floats) -> None:
        """Adds what the new results add to the squared residuals around each arm's own slope."""
        old, new = self._cells["arms"], Cells(*self._around.shape, 1)
        new.add(arms, np.zeros_like(arms), levels, observed)
        residuals = observed - levels[:, None] * new.slopes()[:, arms, 0].T
        for s in range(len(self._names)):
            self._around[s] += np.bincount(arms, residuals[:, s] ** 2, self.problem.size)
        N, M = old.N[:, 0], new.N[:, 0]  # two samples of one arm: the difference of their slopes is scatter too
        weight = np.divide(N * M, N + M, out=np.zeros_like(N), where=N * M > 0.0)
        self._around += weight * (new.slopes() - old.slopes())[:, :, 0] ** 2
