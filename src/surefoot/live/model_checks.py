"""The alarm: whether the data contradict what the promises rest on, at a stated level, for the whole life of an
experiment.

noise    readings scatter more around every linear model than noise of the stated size can                     (A1)
arms     an arm does not fit the model of the others                                                           (A2)
levels   an effect is not proportional to the level                                                            (A2)
time     an effect changes as the experiment goes on                                                           (A2)
offset   a signal is not at its baseline when nothing is applied                                               (A2)
limit    a safety reading lies further beyond its limit than noise can take a safe pull                        (A3)
norm     the weights are longer than the norm that the policy was told, or an arm changes more than was stated (A5)

Each is an e-process: it starts with 1, and ever reaches 1/alpha with probability at most alpha while the model
is true, whoever chose the pulls. The level is shared evenly by all tests of all signals, so the chance of any false
alarm is at most `level` (beside delta_safety, for the limits).                                                (A4)

All are in units of a size that the noise surely does not exceed. A signal whose noise is unknown and has no such bound
is not tested. Where means are linear only within a stated error, each allows for the worst that this can do.  (W5)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, log
from typing import TypeAlias

import numpy as np

from surefoot.core import alarm
from surefoot.core.alarm_memory import (
    ARMS,
    BEYOND,
    LEAST,
    LEVELS,
    LIMIT,
    NOISE,
    NORM,
    OFFSET,
    PULLS,
    TESTS,
    TIME,
    TRIED,
    Watched,
    new_memory,
    with_room,
)
from surefoot.core.coordinates import far_apart
from surefoot.core.parts import Watch
from surefoot.core.types import Indices, Nothing
from surefoot.policies.bound import bound, unchecked
from surefoot.policies.guarantee import Guarantee
from surefoot.policies.leaning import even_arms, leaned_on
from surefoot.problem import Problem
from surefoot.problem.checks import Floats, number, some_rows
from surefoot.problem.norms import noise_laws, noise_sizes, signals_of
from surefoot.problem.span import triangle_of
from surefoot.progress import compiling

# Arms, levels and signals of results, as the core sees them.
Results: TypeAlias = tuple[
    Sequence[int] | Indices, Sequence[float] | Floats, Sequence[Sequence[float]] | Floats
]  # fmt: skip
VERSION = 2  # changes whenever a check changes: a study keeps the one it began with
LEVEL = 0.01
ROOM = 128  # arms that are tried before the memory grows
FURTHEST = 1e100  # a norm that so much as this is beyond is none
REMEDY = "Choose the chance of a false alarm that you accept, for example 0.01."
NAMES = {NOISE: "noise", ARMS: "arms", LEVELS: "levels", TIME: "time", OFFSET: "offset", LIMIT: "limit", NORM: "norm"}
SAID = {
    NOISE: "its readings scatter more around every linear model than noise {noise:g} allows",
    ARMS: "an arm does not differ from the others as a linear model of their features says",
    LEVELS: "its effect is not proportional to the level",
    TIME: "its effect changes as the experiment goes on",
    OFFSET: "it is not at its baseline where nothing is applied",
    LIMIT: "a reading lies further beyond the limit than noise {noise:g} can take a safe pull",
    NORM: "norm {bound:g} is stated, and weights of a norm below {least:.3g} cannot have given these readings",
}
LARGEST = (
    "no option is stated to change it by more than {bound:g}, and none that change it by less than {least:.3g} can "
    "have given these readings"
)


@dataclass(frozen=True)
class Finding:
    """One test that the data failed."""

    signal: str  # "reward", or the name of a limit
    test: str  # "noise", "arms", "levels", "time", "offset", "limit" or "norm"
    pulls: int  # how many results had been taken in
    evidence: float  # logarithm of the e-process
    needed: float  # the logarithm at which the alarm is raised
    message: str

    def to_dict(self) -> dict[str, object]:
        """The finding as a table."""
        return vars(self).copy()


def watched(problem: Problem, guarantee: Guarantee, level: float) -> Watched:
    """What the alarm reads: the problem, in its units, and the tests that fit what the policy promises."""
    level = number("alarm_level", level, REMEDY, above=0.0, below=1.0)
    n, K = 1 + len(problem.safety), problem.size
    bounds = np.array([law.bound for law in noise_laws(problem)])
    R = np.where(bounds < inf, bounds, noise_sizes(problem))
    features, bounded = told(problem, guarantee)
    _, sizes, turns = np.linalg.svd(triangle_of(some_rows(features)), full_matrices=False)
    axes = turns.T / sizes * np.sqrt(K)
    reach = np.zeros((n, len(sizes)))
    made = np.ones((n, TESTS), bool)
    made[0, LIMIT], made[1:, LIMIT] = False, guarantee.keeps_limits
    if not guarantee.linear:  # nothing but the limits is stated that these tests could contradict
        made[:, :LIMIT] = made[:, LIMIT + 1 :] = False
    for s, longest in enumerate(bounded if guarantee.linear else ()):
        made[s, NORM] = longest is not None
        if longest is not None:
            with np.errstate(over="ignore", divide="ignore"):
                reach[s] = np.minimum(np.sqrt(K) * (R[s] / longest) / sizes, FURTHEST)
    made[bounds == inf] = False  # every test is one in units of a size that the noise surely does not exceed
    return Watched(
        features=features,
        axes=np.ascontiguousarray(axes),
        even=features.sum(axis=0) @ axes / K,
        R=R,
        within=np.array([signal.within for signal in signals_of(problem)]) / R,
        eta0=np.array([limit.eta0 for limit in problem.safety]) / R[1:],
        reach=reach,
        needed=np.where(made, log(max(made.sum(), 1) / level), inf),
    )


def told(problem: Problem, guarantee: Guarantee) -> tuple[Floats, list[float | None]]:
    """The arms, and for each signal how long its weights may be in these coordinates by what the promise leans on;
    None where it leans on nothing. A largest effect is such a length in even coordinates.                     (E7)"""
    if guarantee.leans_on_norms and all(signal.largest is not None for signal in signals_of(problem)):
        even = leaned_on(problem)
        return even.features, even.bounds.tolist()
    norms = [signal.norm if guarantee.leans_on_norms else None for signal in signals_of(problem)]
    far = far_apart(problem.features) and not any(norms)
    return even_arms(problem).arms if far else problem.features, norms


def simulated_watch(problem: Problem, guarantee: Guarantee, level: float | None, max_pulls: int | None = None) -> Watch:
    """The alarm over simulated runs, or none; no more arms are tried than there are pulls."""
    if level is None:
        return Watch(alarm.begin_nothing, alarm.never_rings, Nothing)
    read = watched(problem, guarantee, level)
    return Watch(alarm.begin_alarm, alarm.rings, lambda: alarm.Alarm(read, new_memory(read, max_pulls)))


class ModelChecks:
    """Running tests of the model's assumptions. Give it every result that is taken in, in that order."""

    def __init__(self, problem: Problem, guarantee: Guarantee, level: float = LEVEL) -> None:
        self.problem = problem
        self.level = level
        self._read = watched(problem, guarantee, level)
        self._memory = new_memory(self._read, ROOM)
        self._watch = bound(alarm.watch_all, {}, (self._read, self._memory), "the alarm", compiling, problem.size)
        self._names = ["reward", *(limit.name for limit in problem.safety)]
        self._found: dict[tuple[int, int], Finding] = {}
        self.take_all([], [], np.zeros((0, len(self._names))), [])
        self._watch = unchecked(self._watch)

    @property
    def pulls(self) -> int:
        """How many results were given to it."""
        return int(self._memory.clock[PULLS])

    @property
    def needed(self) -> float:
        """The logarithm of the evidence at which a test is failed."""
        return float(self._read.needed.min())

    def take_all(
        self, arms: Sequence[int] | Indices, levels: Sequence[float] | Floats,
        observed: Sequence[Sequence[float]] | Floats, asked: Sequence[bool],
    ) -> tuple[Finding, ...]:  # fmt: skip
        """What is revealed with these results, in the order and as the core sees them, that was not known before.

        A result that this experiment did not ask for says nothing about how it keeps limits.
        """
        self._make_room(np.array(arms, np.int64))
        results = alarm.Results(
            np.array(arms, np.int64), np.array(levels, np.float64),
            np.array(observed, np.float64, order="C", ndmin=2), np.array(asked, np.int64),
        )  # fmt: skip
        return self._new_findings() if self._watch(self._read, self._memory, results) else ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Every test that was failed so far, each as it was when that was seen first."""
        return tuple(self._found.values())

    def evidence(self) -> dict[str, dict[str, float]]:
        """The logarithm of each process now, by signal and test; at `needed` it is an alarm."""
        tuples, arms = (self._read, self._memory), self.problem.size
        bound(alarm.weigh_all, {}, tuples, "the alarm's evidence", compiling, arms)(*tuples)
        found: dict[str, dict[str, float]] = {}
        for s, signal in enumerate(self._names):
            made = [test for test in NAMES if self._read.needed[s, test] < inf]
            found[signal] = {NAMES[test]: self._evidence(s, test) for test in made}
        return found

    def remembered(self) -> tuple[int, Indices, dict[tuple[int, int], Finding]]:
        """All that it knows, and for how many arms it has room."""
        return len(self._memory.X), self._memory.whole, self._found

    def remember(self, room: int, words: Indices, found: dict[tuple[int, int], Finding]) -> None:
        """Goes on from what another one of the same experiment knew."""
        self._memory = new_memory(self._read, room)
        if words.dtype != self._memory.whole.dtype or words.shape != self._memory.whole.shape:
            raise ValueError("these are not the words of this alarm")
        self._memory.whole[:] = words
        self._found = found

    def _make_room(self, arms: Indices) -> None:
        """Grows the memory, if that many arms have not been tried before."""
        new = np.count_nonzero(self._memory.row[np.unique(arms)] == 0)
        needed = int(self._memory.clock[TRIED] + new)
        if needed > len(self._memory.X):
            self._memory = with_room(self._read, self._memory, max(needed, 2 * len(self._memory.X)))

    def _evidence(self, s: int, test: int) -> float:
        beyond = test == LIMIT and not self._memory.found[s, test]
        return float(self._memory.signals[s, BEYOND] if beyond else self._memory.weight[s, test])

    def _new_findings(self) -> tuple[Finding, ...]:
        """The tests that are failed now and were not before, in the order in which they were."""
        memory = self._memory
        failed = [(int(s), int(test)) for s, test in np.argwhere(memory.found > 0)]
        new = sorted((key for key in failed if key not in self._found), key=lambda key: memory.found[key])
        for key in new:
            self._found[key] = self._finding(*key)
        return tuple(self._found[key] for key in new)

    def _finding(self, s: int, test: int) -> Finding:
        memory, stated = self._memory, self.problem.safety[s - 1] if s else self.problem.reward
        bound = (stated.norm or stated.largest or 0.0) if test == NORM else 0.0
        words = LARGEST if test == NORM and stated.largest is not None else SAID[test]
        said = words.format(noise=stated.law.bound, bound=bound, least=memory.signals[s, LEAST] * bound)
        return Finding(
            signal=self._names[s], test=NAMES[test], pulls=int(memory.found[s, test]),
            evidence=float(memory.weight[s, test]), needed=self.needed, message=f"{self._names[s]}: {said}",
        )  # fmt: skip
