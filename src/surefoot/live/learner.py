"""What a policy has learned in one experiment, and what it decides next. It keeps no account of who was asked what."""

from collections.abc import Sequence
from math import isfinite, nan
from typing import Any, Literal, TypeAlias

import numpy as np

from surefoot.core.locks import Lock
from surefoot.core.loop import AS_DECIDED, ASKED, BEGUN, DECIDED, LEARNED, OPENED
from surefoot.core.records import Answers, Script, decision_of, new_answers
from surefoot.core.types import DECIDING, EXPLORING, NULL, PULL, ROUND, Decision, Indices
from surefoot.errors import InvalidInput
from surefoot.policies import Policy
from surefoot.policies.bound import expect_of, faced, hand_of, replay_of, unchecked
from surefoot.policies.threads import hands_for_a_step, helped
from surefoot.problem import Problem
from surefoot.problem.checks import Floats
from surefoot.progress import compiling

Ending: TypeAlias = Literal["certified", "measured", "contradiction", "breakdown"]
LIVE_RUN = 0  # a live experiment draws what run 0 of a simulation with the same seed draws
ENDINGS: tuple[Ending | None, ...] = (None, "certified", None, "contradiction", "breakdown")  # by status
UNDECIDED_YET = Decision(PULL, EXPLORING, 0, 0.0, NULL, 0.0, NULL, 0.0)


class Learner:
    """The state of one experiment. Every change goes through the compiled replay."""

    def __init__(self, problem: Problem, policy: Policy, seed: int, run: int = LIVE_RUN) -> None:
        self.problem = problem
        self.policy = policy
        self.seed = seed
        self.run = run  # of a simulation; only what a policy draws depends on it
        self.guarantee = policy.guarantee(problem)
        self._faced = faced(policy, problem)
        self._faced.check_memory()
        self._lock = Lock()  # who only reads may find that a step is due, and there is one state
        self._replay = replay_of(self._faced, compiling)
        self._hands = hands_for_a_step(self._faced.inst)
        self._hand = hand_of(self._faced) if self._hands > 0 else None
        self.work = self._faced.new_work()  # first: what making it takes besides is gone before the state comes
        self.state = self._faced.new_state()
        self.decision, self.margin, self.healthy, self._read_pulls = UNDECIDED_YET, 0.0, True, 0
        self._one = new_script(1, 1, len(self._faced.inst.R))
        self._expect, (self._low, self._high, self._noise) = (
            expect_of(self._faced), np.zeros((3, len(self._faced.inst.R))),
        )  # fmt: skip
        self._expected_before = False
        self._step(BEGUN)
        self._replay = unchecked(self._replay)  # from here on every argument is of the type of now: see check_script

    # -- what happened ----------------------------------------------------------------------------------------

    def take(self, arm: int, level: float, observed: Sequence[float]) -> None:
        """Takes in a pull that happened, whatever was asked for; each limit's signal comes after the reward."""
        known = 0 <= arm < self.problem.size and 0.0 <= level <= 1.0 and len(observed) == len(self._faced.inst.R)
        if not known or not all(map(isfinite, observed)):
            reason = "must be an arm of the problem, a level from 0 to 1 and a finite value for each signal"
            raise InvalidInput("pull", (arm, level, list(observed)), reason, "Take in what was measured.")
        one = self._one
        one.arm[0], one.applied[0], one.observed[0] = arm, level, observed
        self._step(LEARNED)

    def begin_anew(self) -> None:
        """Forgets everything."""
        self.healthy = True
        self._step(BEGUN)

    def replay(self, script: Script) -> Answers:
        """Where an experiment would stand after the steps of the script; the decisions that were due on the way."""
        check_script(script, self.problem.size, len(self._faced.inst.R))
        answers = new_answers(len(script.arm))
        with self._lock:
            self._read(self._run(script, answers))
        return answers

    def choose(self, open_pulls: Sequence[tuple[int, float]], n: int = 1) -> list[tuple[Decision, float]]:
        """The next n decisions with their margins, while these (arm, level) are open; nothing is changed."""
        count = len(open_pulls)
        if n == 1 and not count:
            return [(self.decision, self.margin)]
        if not all(0 <= arm < self.problem.size and 0.0 <= level <= 1.0 for arm, level in open_pulls):
            reason = "must be arms of the problem with levels from 0 to 1"
            raise InvalidInput("open_pulls", list(open_pulls), reason, "Pass (arm, level) of each open pull.")
        script = new_script(count + n, count + n, len(self._faced.inst.R))
        script.step[:] = [OPENED] * count + [ASKED] * n
        script.arm[:] = [arm for arm, _ in open_pulls] + [AS_DECIDED] * n
        script.asked[:count] = [level for _, level in open_pulls]
        answers = new_answers(count + n)
        self._run(script, answers)
        gap = self.decision.gap if self.decision.phase == DECIDING else nan  # what is only expected narrows no gap
        found = [decision_of(answers, p) for p in range(count, count + n)]
        return [(decision._replace(gap=gap), margin) for decision, margin in found]

    def make_ready(self) -> None:
        """Compiles what judges a result, if that was not needed yet."""
        if not self._expected_before:
            self.expected(0, 0.0)

    def expected(self, arm: int, level: float) -> tuple[Floats, Floats]:
        """The lowest and the highest mean of each signal, as the core sees it, that is still possible for a pull of
        this arm at this level; infinite where nothing is known.                                             (E6)"""
        low, high, _ = self.expected_with_noise(arm, level)
        return low, high

    def expected_with_noise(self, arm: int, level: float) -> tuple[Floats, Floats, Floats]:
        """The same, and the size of each signal's noise at most.                                        (E6, C9)"""
        if not (0 <= arm < self.problem.size and 0.0 <= level <= 1.0):
            reason = "must be an arm of the problem and a level from 0 to 1"
            raise InvalidInput("pull", (arm, level), reason, "Ask about a pull that can be made.")
        self.problem.check_unchanged()
        with self._lock:
            self._expect(
                self._faced.inst, self.state, self.work, int(arm), float(level), self._low, self._high, self._noise
            )
            if not self._expected_before:
                self._expect, self._expected_before = unchecked(self._expect), True
            return self._low.copy(), self._high.copy(), self._noise.copy()

    # -- to go on elsewhere -----------------------------------------------------------------------------------

    def remembered(self) -> tuple[Any, ...]:
        """All that it knows."""
        return self.state.whole, self.decision, self.margin, self.healthy

    def remember(self, words: Indices, decision: Decision, margin: float, healthy: bool) -> None:
        """Goes on from what another one of the same experiment knew."""
        if words.dtype != self.state.whole.dtype or words.shape != self.state.whole.shape:
            raise ValueError("these are not the words of this state")
        self.state.whole[:] = words
        self.decision, self.margin, self.healthy = decision, margin, healthy
        self._read_pulls = int(self.state.clock[ROUND])

    # -- where it stands --------------------------------------------------------------------------------------

    @property
    def pulls(self) -> int:
        """How many results have been taken in."""
        if self._read_pulls != self.state.clock[ROUND]:  # another thread is at it, or Ctrl-C came after it was absorbed
            with self._lock:
                if self._read_pulls != self.state.clock[ROUND]:
                    self._step(DECIDED)
        return self._read_pulls

    @property
    def ending(self) -> Ending | None:
        """How the policy has ended by itself: "certified", "measured" (by a threshold without a proof), "contradiction"
        (the data rule out every model in the confidence sets) or "breakdown" (the numbers failed); None while it goes
        on."""
        found = ENDINGS[self.decision.status] if self.healthy else "breakdown"
        return "measured" if found == "certified" and not self.guarantee.certifies else found

    @property
    def levels(self) -> Floats:
        """The level at which each arm may be pulled: certified safe, if the policy keeps limits."""
        return self.state.levels.low.copy()

    @property
    def levels_high(self) -> Floats:
        """The highest level of each arm that is still possible, where the selection is optimistic."""
        return self.state.levels.high.copy()

    @property
    def pulls_per_arm(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """How often each arm was pulled."""
        return self.state.estimate.pulls.copy()

    @property
    def estimates(self) -> Floats:
        """The estimated reward of each arm at full level."""
        return np.array(self.state.estimate.est[0])

    # -- within -----------------------------------------------------------------------------------------------

    def _step(self, step: int) -> None:
        """One step about the one pull in `_one`."""
        with self._lock:
            self._one.step[0] = step
            self._read(self._called(self._one, NO_WORDS, NO_WORDS, ONE_PLACE, NO_ANSWER))

    def _run(self, script: Script, answers: Answers) -> tuple[Any, ...]:
        """What the replay returns; the answers are filled in.

        A policy in plain Python can break off while it looks ahead: then all is as before, and nothing that was only
        expected is taken for learned.
        """
        asked = ASKED in script.step  # only who is asked while others are open needs room to look ahead
        real, ahead = (np.zeros_like(self.state.whole) if asked else NO_WORDS for _ in range(2))
        before = self.state.whole.copy() if asked else None
        try:
            return self._called(script, real, ahead, np.zeros(len(script.arm), np.int64), answers)
        except BaseException:
            if before is not None:
                self.state.whole[:] = before
            raise

    def _called(
        self, script: Script, real: Indices, ahead: Indices, queue: Indices, answers: Answers
    ) -> tuple[Any, ...]:
        """What the replay returns."""
        self.problem.check_unchanged()
        found = self._faced
        with self._lock, helped(self._hand, found.inst, self.state, self.work, self._hands):
            result: tuple[Any, ...] = self._replay(
                found.inst, found.plan.rules, self.state, real, ahead, self.work, self.seed, self.run, self.decision,
                script, queue, answers,
            )  # fmt: skip
        return result

    def _read(self, result: tuple[Any, ...]) -> None:
        """Holds what the replay returned."""
        healthy, margin, *fields = result
        self.decision, self.margin = Decision(*fields), float(margin)
        self.healthy = self.healthy and bool(healthy)
        self._read_pulls = int(self.state.clock[ROUND])


NO_ANSWER = new_answers(1)
NO_WORDS, ONE_PLACE = np.zeros(0, np.int64), np.zeros(1, np.int64)


def new_script(steps: int, pulls: int, signals: int) -> Script:
    """A script of zeros; step i is about pull i."""
    real = np.zeros(pulls), np.zeros(pulls), np.zeros((pulls, signals))
    return Script(np.zeros(steps, np.int64), np.arange(steps, dtype=np.int64), np.zeros(pulls, np.int64), *real)


KINDS = tuple((column.dtype.char, column.ndim, True) for column in new_script(1, 1, 1))


def check_script(script: Script, arms: int, signals: int) -> None:
    """Refuses a script that names what is not there: compiled code does not look."""
    pulls, remedy = len(script.arm), "Build it with live.scripts.as_script."
    kinds = tuple((column.dtype.char, column.ndim, column.flags.carray) for column in script)
    if kinds != KINDS:
        raise InvalidInput("script", kinds, "has columns of other types than compiled code reads", remedy)
    shapes = {len(script.asked), len(script.applied), len(script.observed)} == {pulls}
    if not shapes or script.observed.shape[1] != signals or script.step.shape != script.pull.shape:
        raise InvalidInput("script", script.observed.shape, "has columns of different lengths", remedy)
    for field, column, most in (("pull", script.pull, max(pulls, 1)), ("arm", script.arm, arms)):
        if len(column) and not 0 <= column.min() <= column.max() < most:
            raise InvalidInput(f"script.{field}", (column.min(), column.max()), f"must be from 0 to {most - 1}", remedy)
