"""How the course of an experiment is found out: its results are replayed, and what the state says is written down.

Nothing here is a formula of its own. A session, a study and a simulation run one source; the results go through it once
more, and after each the decision, the levels, the estimates and the means that are still possible (E6) are read off.

What is kept is bounded. Every round has its pull, its result and the race after it. Numbers of arms are kept of all
where there are few, of many for those that matter; and where there are very many rounds, after some that lie evenly.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from surefoot.core.loop import ASKED, LEARNED
from surefoot.core.types import DECIDING, Decision
from surefoot.errors import InvalidInput
from surefoot.live.kept import KeptResults
from surefoot.live.learner import Learner
from surefoot.live.readings import in_rows
from surefoot.live.scripts import as_script
from surefoot.live.trace import NOBODY, Counts, Trace
from surefoot.problem import Problem
from surefoot.problem.checks import Floats, check_count

FOLLOWED = 20  # arms whose numbers are kept where nobody names them
MOST_NUMBERS = 200_000  # arms times rounds that are kept
MOST_WORK = 500_000_000  # the same times all arms: every number asks the confidence sets about all of them
ARMS = "Name arms of the problem, or their places from 0."


class Results(NamedTuple):
    """Results in the order in which they were taken in, as the core sees them."""

    numbers: Counts  # of the pulls
    arms: Counts
    levels: Floats
    observed: Floats  # (rounds, 1 + limits)
    readings: Floats  # (rounds, limits) in the user's units


def results_kept(problem: Problem, kept: KeptResults, count: int) -> Results:
    """The first so many results that an account has kept, with the values of now."""
    script, numbers = kept.script(problem, count)
    readings = in_rows(problem, kept.columns()[-1], len(kept.numbers))[:count]
    return Results(np.array(numbers, np.int64), script.arm, script.applied, script.observed, readings)


def traced(learner: Learner, results: Results, followed: Sequence[int], states: int | None = None) -> Trace:
    """The course of an experiment with these results; the learner comes fresh, and goes through all of them.

    `states` is after how many rounds the numbers of the followed arms are kept; the first and the last are among them.
    """
    rounds = len(results.numbers)
    kept = kept_rounds(rounds, states, len(followed), learner.problem.size)
    writer, at = Writer(learner, results, list(followed), kept), 0
    for end in kept:  # the last round is always kept
        writer.go_on(at, end)
        writer.keep(end)
        at = end
    writer.decided(rounds, *race_of(learner.decision))
    return writer.trace()


def known_now(learner: Learner, followed: Sequence[int]) -> Trace:
    """What is known of these arms now, as the course of no rounds: nothing is replayed, and nothing is changed."""
    signals = 1 + len(learner.problem.safety)
    none = np.zeros(0, np.int64)
    nothing = Results(none, none, np.zeros(0), np.zeros((0, signals)), np.zeros((0, signals - 1)))
    writer = Writer(learner, nothing, list(followed), [0])
    writer.keep(0)
    writer.decided(0, *race_of(learner.decision))
    return writer.trace()


def followed_arms(problem: Problem, arms: object, matter: Sequence[int]) -> list[int]:
    """The places of the arms whose numbers are kept: those that are named, all, or of many those that matter."""
    if arms is None:
        return list(range(problem.size)) if problem.size <= FOLLOWED else list(matter)[:FOLLOWED]
    if isinstance(arms, str) or not isinstance(arms, list | tuple | range | np.ndarray):
        raise InvalidInput("arms", arms, "must be a list of arms", ARMS)
    return list(dict.fromkeys(arm_in(problem, each) for each in arms))


def arm_in(problem: Problem, word: object) -> int:
    """The place of the arm that is named."""
    if isinstance(word, str):
        return problem.index_of(word)
    if isinstance(word, bool) or not isinstance(word, int | np.integer) or not 0 <= word < problem.size:
        raise InvalidInput("arms", word, f"must be a name, or a place from 0 to {problem.size - 1}", ARMS)
    return int(word)


def kept_rounds(rounds: int, states: int | None, followed: int, size: int) -> list[int]:
    """After which rounds the numbers of arms are kept, from 0, when nothing is known, to the last."""
    most = rounds + 1
    if states is not None:
        most = min(most, check_count("states", states))
    elif followed:
        most = min(most, MOST_NUMBERS // followed, MOST_WORK // (followed * size))
    places = np.linspace(0.0, rounds, max(most, 1)).tolist() if most > 1 else [rounds]
    return sorted({round(place) for place in places})


def arms_that_matter(learner: Learner) -> list[int]:
    """Who leads and challenges, whose estimate is best, and who was tried, most often first."""
    pulls, decision = learner.pulls_per_arm, learner.decision
    tried = np.flatnonzero(pulls)
    busiest = tried[np.argsort(-pulls[tried], kind="stable")].tolist()
    best = [int(np.argmax(learner.estimates))] if len(tried) else []
    racing = [int(k) for k in (decision.leader, decision.challenger) if k >= 0]
    return list(dict.fromkeys([*racing, *best, *busiest]))


def race_of(decision: Decision) -> tuple[int, int, int, float]:
    """What is written down about a decision."""
    return decision.phase, decision.leader, decision.challenger, decision.gap


class Writer:
    """A learner on its way through results, and what is written down about it."""

    def __init__(self, learner: Learner, results: Results, followed: list[int], kept: list[int]) -> None:
        signals, times = 1 + len(learner.problem.safety), len(results.numbers) + 1
        shape = (len(kept), len(followed))
        self.learner, self.results, self.followed = learner, results, followed
        self.rows = {end: row for row, end in enumerate(kept)}
        self.phase, self.leader, self.challenger = (np.full(times, NOBODY, np.int64) for _ in range(3))
        self.gap = np.full(times, np.nan)
        self.mean_low, self.mean_high = np.full((2, times, signals), np.nan)
        self.pulls = np.zeros(shape, np.int64)
        self.certified, self.possible, self.estimate = np.full((3, *shape), np.nan)
        self.middle, self.low, self.high = np.full((3, *shape, signals), np.nan)

    def go_on(self, first: int, end: int) -> None:
        """Takes in the results after the first so many, up to so many, with the decisions on the way."""
        if end == first:
            return
        part = slice(first, end)
        arms, levels, observed = self.results.arms[part], self.results.levels[part], self.results.observed[part]
        self.decided(first, *race_of(self.learner.decision))
        if end == first + 1:
            self.learner.take(int(arms[0]), float(levels[0]), observed[0].tolist())
            return
        steps, pulls = np.tile([ASKED, LEARNED], end - first), np.repeat(np.arange(end - first), 2)
        answers = self.learner.replay(as_script(steps, pulls, arms, levels, levels, observed))
        race = (answers.phase, answers.leader, answers.challenger, answers.gap)  # each is that before its own result
        self.decided(slice(first + 1, end), *(column[1:] for column in race))

    def decided(self, rounds: int | slice, phase: Any, leader: Any, challenger: Any, gap: Any) -> None:
        """Writes down the race after these rounds; while exploring there is none."""
        deciding = np.asarray(phase) == DECIDING
        self.phase[rounds] = phase
        self.leader[rounds] = np.where(deciding, leader, NOBODY)
        self.challenger[rounds] = np.where(deciding, challenger, NOBODY)
        self.gap[rounds] = np.where(deciding, gap, np.nan)

    def keep(self, end: int) -> None:
        """Writes down what is known of each arm now, and of the pull that comes next."""
        learner, state, row, some = self.learner, self.learner.state, self.rows[end], self.followed
        self.pulls[row] = state.estimate.pulls[some]
        self.certified[row], self.possible[row] = state.levels.low[some], state.levels.high[some]
        for place, arm in enumerate(some):
            level = float(self.certified[row, place])
            self.low[row, place], self.high[row, place] = self.means(arm, level)
            if learner.pulls:  # before the first result an estimate is none
                self.estimate[row, place] = state.estimate.est[0, arm]
                self.middle[row, place] = level * state.estimate.est[:, arm]
        if end < len(self.results.arms):
            arm, level = int(self.results.arms[end]), float(self.results.levels[end])
            self.mean_low[end + 1], self.mean_high[end + 1] = self.means(arm, level)

    def means(self, arm: int, level: float) -> tuple[Floats, Floats]:
        """The lowest and the highest mean of each signal that is possible for this pull. A level that was certified, in
        whatever round, keeps every limit with its mean, though the sets of today alone may not say so.  (E6, S2)"""
        low, high = self.learner.expected(arm, level)
        if self.learner.guarantee.keeps_limits and level <= self.learner.state.levels.low[arm]:
            low[1:] = np.maximum(low[1:], [limit.eta0 for limit in self.learner.problem.safety])
        return low, np.maximum(low, high)

    def trace(self) -> Trace:
        """All that was written, in the user's units."""
        problem, results = self.learner.problem, self.results
        low, high = ranges_in_units(problem, self.low, self.high)
        mean_low, mean_high = ranges_in_units(problem, self.mean_low, self.mean_high)

        def after(nothing: float, values: Any) -> Any:
            """The values of the rounds, after that of round 0."""
            return np.concatenate([np.full((1, *values.shape[1:]), nothing, values.dtype), values])

        return Trace(
            problem=problem, keeps_limits=self.learner.guarantee.keeps_limits, number=after(0, results.numbers),
            arm=after(NOBODY, results.arms), level=after(np.nan, results.levels),
            reward=after(np.nan, results.observed[:, 0]), readings=after(np.nan, results.readings), phase=self.phase,
            leader=self.leader, challenger=self.challenger, gap=self.gap, mean_low=mean_low, mean_high=mean_high,
            kept=np.array(list(self.rows), np.int64),
            arms=np.array(self.followed, np.int64), pulls=self.pulls, certified=self.certified,
            possible=self.possible, estimate=self.estimate, middle=in_units(problem, self.middle), low=low, high=high,
        )  # fmt: skip


def in_units(problem: Problem, signals: Floats) -> Floats:
    """Signals along the last axis, the reward first, as the user reads them."""
    found = np.array(signals)
    for s, limit in enumerate(problem.safety, start=1):
        found[..., s] = limit.reading(signals[..., s])
    return found


def ranges_in_units(problem: Problem, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """The same for two bounds, of which the lower one stays so."""
    ends = in_units(problem, low), in_units(problem, high)
    return np.minimum(*ends), np.maximum(*ends)
