"""Ask/tell in memory: one experiment, driven by a person, a script or a laboratory."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal, TypeAlias, overload

import numpy as np

from surefoot.core.play import AS_IT_IS
from surefoot.core.replay import AS_DECIDED, ASKED, OPENED, Answers, Script, decision_of, new_answers, replay_of
from surefoot.core.types import (
    BREAKDOWN,
    CERTIFIED,
    CONTRADICTION,
    DECIDING,
    NULL,
    PULL,
    ROUND,
    Decision,
    new_state,
    new_work,
)
from surefoot.errors import BudgetOpen, Finished, InvalidInput, LevelAlarm, NotOpen, NumericalBreakdown
from surefoot.live.certificate import NOTHING, Certificate, certify_answer
from surefoot.policies import Policy, check_policy
from surefoot.problem import Problem
from surefoot.problem.checks import Floats, check_count, check_seed, number

Outcome: TypeAlias = Literal["certified", "undecided", "contradiction", "breakdown"]
Safety: TypeAlias = float | Floats | list[float] | tuple[float, ...] | Mapping[str, float]
MEASURED = "Tell what was measured; a failed measurement is no result, so repeat the pull."
APPLIED = "Tell the level that was really applied."
LIVE_RUN = 0  # a live session draws what run 0 of a simulation with the same seed draws


@dataclass(frozen=True)
class Pull:
    """What to apply next, and why. Beside open pulls, the reasons are those for which the arm was chosen: as if each
    open pull had returned what is expected of it. Level and margin rest on told results alone."""

    number: int  # counts from 1
    arm: int
    name: str
    level: float
    phase: Literal["explore", "decide"]
    margin: float  # certified distance to the nearest limit; at least 0 for a policy that keeps limits
    leader: str | None  # None while exploring
    challenger: str | None
    gap: float | None  # the most by which the challenger might beat the leader


@dataclass(frozen=True)
class Alarm:
    """A pull that was applied above its certified level."""

    number: int
    name: str
    certified: float
    applied: float


@dataclass(frozen=True)
class Recommendation:
    """The answer: an arm (-1 for the null pull) and a level that is certified safe."""

    arm: int
    name: str
    level: float
    estimate: float  # of its reward


class Session:
    """One experiment. `ask` gives the next pull, `tell` takes its result, `certificate` says what is promised."""

    def __init__(
        self, problem: Problem, policy: Policy | None = None, *, seed: int = 0, max_pulls: int | None = None
    ) -> None:
        if not isinstance(problem, Problem):
            raise InvalidInput("problem", problem, "must be a Problem", "Build one with sf.Problem(...).")
        self.problem = problem
        self.policy = check_policy(policy)
        self.seed = check_seed(seed)
        self.max_pulls = None if max_pulls is None else check_count("max_pulls", max_pulls)
        self._inst = self.policy.instance(problem)
        self._rules = self.policy.rules(problem, self._inst)
        self._state, self._work = new_state(self._inst), new_work(self._inst)
        self._alarms: list[Alarm] = []
        self._opened: dict[int, Pull] = {}  # by ask(n); those told and not yet taken in are still among them
        self._told: dict[int, tuple[float, list[float]]] = {}  # results that wait for an earlier one
        self._healthy = True
        self._turn(NULL, 0.0)

    # -- the two verbs --------------------------------------------------------------------------------------

    @overload
    def ask(self) -> Pull: ...
    @overload
    def ask(self, n: int) -> list[Pull]: ...
    def ask(self, n: int | None = None) -> Pull | list[Pull]:
        """The next pull, the same one until its result is told; or n new pulls, to be applied side by side.

        Of several, each is chosen as if the open ones had returned what is expected of them. Levels, and when to
        stop, follow from told results alone. Where fewer than n are left of max_pulls, so many are given.
        """
        if self.outcome is not None:
            raise Finished(self.outcome, self.pulls)
        if n is None:
            return self._opened.get(self.pulls + 1) or self._held()
        wanted, used = check_count("n", n), self.pulls + len(self._opened)
        if self.max_pulls is not None:
            if used >= self.max_pulls:
                raise BudgetOpen(self.max_pulls, self._untold())
            wanted = min(wanted, self.max_pulls - used)
        new = self.beside([(pull.arm, pull.level) for pull in self._opened.values()], wanted)
        self._opened.update({pull.number: pull for pull in new})
        return new

    def tell(self, pull: Pull | int, *, reward: float, safety: Safety, level: float | None = None) -> None:
        """Takes the result of an open pull; `level` is the level really applied, where it differs.

        Results are taken in by number: a late one holds back later ones, so that what is learned does not depend on
        which came first. What comes in after the end is accepted and changes nothing.
        """
        told, expected = pull.number if isinstance(pull, Pull) else pull, self._untold()
        if isinstance(told, bool) or not isinstance(told, int | np.integer) or told not in expected:
            raise NotOpen(told, expected)
        asked = self._opened.get(int(told)) or self._held()
        if isinstance(pull, Pull) and pull != asked:
            reason = "is not the pull that this session asked for"
            raise InvalidInput("pull", pull, reason, "Tell the session its own pull, or its number.")
        observed = signals_of(self.problem, reward, safety)
        applied = asked.level if level is None else number("level", level, APPLIED, at_least=0.0, at_most=1.0)
        too_high = applied > asked.level and self.policy.keeps_limits
        if too_high:
            self._alarms.append(Alarm(asked.number, asked.name, asked.level, applied))
        before = self.pulls
        self._opened[asked.number] = asked
        self._told[asked.number] = applied, observed
        self._take_what_is_due()
        if too_high:  # after all is recorded: a warning may be an error here
            warn_of_level(asked, applied)
        if self._outcome == "breakdown" and self.pulls != before:
            raise NumericalBreakdown("the estimates", self.pulls)

    # -- for whoever keeps the pulls elsewhere ----------------------------------------------------------------

    def beside(self, open_pulls: Sequence[tuple[int, float]], n: int = 1) -> list[Pull]:
        """The next n pulls while these (arm, level) are open; they are numbered behind the open ones."""
        if self.outcome is not None:
            raise Finished(self.outcome, self.pulls)
        count = len(open_pulls)
        if n == 1 and not count:
            return [self._held()]
        if not all(0 <= arm < self.problem.size and 0.0 <= level <= 1.0 for arm, level in open_pulls):
            reason = "must be arms of the problem with levels from 0 to 1"
            raise InvalidInput("open_pulls", list(open_pulls), reason, "Pass (arm, level) of each open pull.")
        script = Script(
            step=np.array([OPENED] * count + [ASKED] * n, np.int64),
            pull=np.arange(count + n, dtype=np.int64),
            arm=np.array([arm for arm, _ in open_pulls] + [AS_DECIDED] * n, np.int64),
            asked=np.array([level for _, level in open_pulls] + [0.0] * n),
            applied=np.zeros(count + n),
            observed=np.zeros((0, len(self._inst.R))),
        )
        answers = new_answers(count + n)
        self._replay(script, answers)
        due = (decision_of(answers, p) for p in range(count, count + n))
        return [self._pull(self.pulls + 1 + p, *each) for p, each in enumerate(due, start=count)]

    def take(self, arm: int, level: float, observed: Sequence[float]) -> None:
        """Takes in a pull that happened, whatever was asked for; `observed` as `signals_of` gives it."""
        known = 0 <= arm < self.problem.size and 0.0 <= level <= 1.0 and len(observed) == len(self._inst.R)
        if not known or not all(map(isfinite, observed)):
            reason = "must be an arm of the problem, a level from 0 to 1 and a finite value for each signal"
            raise InvalidInput("pull", (arm, level, list(observed)), reason, "Take in what was stored.")
        self._work.observed[:] = observed
        self._turn(arm, level)

    def replay(self, script: Script) -> Answers:
        """Where a live session would stand after the steps of the script; the decisions that were due on the way."""
        check_script(script, self.problem.size, len(self._inst.R))
        answers = new_answers(len(script.arm))
        self._read(self._replay(script, answers))
        return answers

    # -- where it stands ------------------------------------------------------------------------------------

    @property
    def pulls(self) -> int:
        """How many results have been taken in."""
        return self._pulls

    @property
    def open_pulls(self) -> tuple[Pull, ...]:
        """The pulls of `ask(n)` whose results are not told yet."""
        return tuple(pull for number, pull in self._opened.items() if number not in self._told)

    @property
    def outcome(self) -> Outcome | None:
        """None while it runs; then "certified", "undecided" (the budget is spent), "contradiction" (the data rule out
        every model in the confidence sets) or "breakdown" (the numbers failed)."""
        self._catch_up()
        return self._outcome

    @property
    def stopped(self) -> bool:
        """Whether it has ended, in whatever way."""
        return self.outcome is not None

    @property
    def gap(self) -> float | None:
        """B(t), the most by which a challenger might beat the leader; None while exploring."""
        return float(self._decision.gap) if self._decision.phase == DECIDING else None

    @property
    def levels(self) -> Floats:
        """The level at which each arm may be pulled: certified safe, if the policy keeps limits."""
        return self._state.low.copy()

    @property
    def levels_high(self) -> Floats:
        """The highest level of each arm that is still possible, where the selection is optimistic."""
        return self._state.high.copy()

    @property
    def pulls_per_arm(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """How often each arm was pulled."""
        return self._state.pulls.copy()

    @property
    def estimates(self) -> Floats:
        """The estimated reward of each arm at full level."""
        return np.array(self._state.est[0])

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        """Every pull that was applied above its certified level."""
        return tuple(self._alarms)

    @property
    def certificate(self) -> Certificate | None:
        """The answer with its promise; None unless it ended in certainty."""
        if self._outcome != "certified":
            return None
        decision = self._decision
        return certify_answer(
            self.policy, self.problem, int(decision.leader), float(decision.leader_level), float(decision.gap),
            self.pulls, len(self._alarms),
        )  # fmt: skip

    @property
    def recommendation(self) -> Recommendation | None:
        """The answer, only if it is certified and certified safe; otherwise None."""
        found = self.certificate
        if found is None or (self._margin < 0.0 and not self.policy.keeps_limits):
            return None
        estimate = found.level * self._state.est[0, found.arm] if found.arm >= 0 else 0.0
        return Recommendation(found.arm, found.name, found.level, float(estimate))

    def status(self) -> dict[str, Any]:
        """Where the session stands, as a table."""
        return {
            "pulls": self.pulls,
            "phase": "decide" if self._decision.phase == DECIDING else "explore",
            "outcome": self._outcome,
            "gap": self.gap,
            "epsilon": self.problem.epsilon,
            "leader": self._name(self._decision.leader) if self._decision.phase == DECIDING else None,
            "levels": dict(zip(self.problem.names, self._state.low.tolist(), strict=True)),
            "pulls_per_arm": dict(zip(self.problem.names, self._state.pulls.tolist(), strict=True)),
            "alarms": len(self._alarms),
        }

    def __repr__(self) -> str:
        state = self._outcome or "running"
        return f"Session({self.policy.name}, {self.pulls} pulls, {state})"

    # -- within ---------------------------------------------------------------------------------------------

    def _turn(self, arm: int, level: float) -> None:
        """Takes in work.observed and holds the next decision ready."""
        self._read(
            self.policy.engine().turn(
                self._inst, self._rules, self._state, self._work, self.seed, LIVE_RUN, arm, level
            )
        )  # fmt: skip

    def _replay(self, script: Script, answers: Answers) -> tuple[Any, ...]:
        """What the compiled replay returns; the answers are filled in."""
        ahead, trial = new_state(self._inst), new_state(self._inst)
        result: tuple[Any, ...] = replay_of(self.policy.engine())(
            self._inst, self._rules, self._state, ahead, trial, self._work, self.seed, LIVE_RUN, self._decision,
            script, np.zeros(len(script.arm), np.int64), answers,
        )  # fmt: skip
        return result

    def _read(self, result: tuple[Any, ...]) -> None:
        """Holds the decision that compiled code returned, and what follows from it."""
        healthy, margin, *fields = result
        self._decision, self._pulls = Decision(*fields), int(self._state.clock[ROUND])
        self._margin, self._healthy = float(margin), self._healthy and bool(healthy)
        status = self._decision.status
        self._outcome: Outcome | None = None
        if not self._healthy or status == BREAKDOWN:
            self._outcome = "breakdown"
        elif status == CERTIFIED:
            self._outcome = "certified"
        elif status == CONTRADICTION:
            self._outcome = "contradiction"
        elif status == PULL and self.max_pulls is not None and self.pulls >= self.max_pulls:
            self._outcome = "undecided"

    def _held(self) -> Pull:
        """The pull that the state asks for when nothing is open."""
        return self._pull(self.pulls + 1, self._decision, self._margin)

    def _pull(self, number: int, decision: Decision, margin: float) -> Pull:
        """The decision as users see it."""
        deciding = decision.phase == DECIDING
        return Pull(
            number=number,
            arm=int(decision.arm),
            name=self.problem.names[decision.arm],
            level=float(decision.level),
            phase="decide" if deciding else "explore",
            margin=float(margin),
            leader=self._name(decision.leader) if deciding else None,
            challenger=self._name(decision.challenger) if deciding else None,
            gap=float(decision.gap) if deciding else None,
        )

    def _untold(self) -> list[int]:
        """The numbers for which a result may be told."""
        if self._opened:
            return [number for number in self._opened if number not in self._told]
        return [] if self.stopped else [self.pulls + 1]

    def _take_what_is_due(self) -> None:
        """Takes in results as long as the next number has one and the session has not ended."""
        while self._outcome is None and self._pulls + 1 in self._told:
            applied, observed = self._told[self._pulls + 1]
            self.take(self._opened[self._pulls + 1].arm, applied, observed)
            self._forget_what_was_taken()

    def _forget_what_was_taken(self) -> None:
        for taken in [each for each in self._opened if each <= self._pulls]:
            del self._opened[taken]
            self._told.pop(taken, None)

    def _catch_up(self) -> None:
        """Goes on where Ctrl-C broke off: a result may be told and not taken in, or taken in and not decided upon."""
        if self._pulls != self._state.clock[ROUND]:
            self._turn(AS_IT_IS, 0.0)
            self._forget_what_was_taken()
        self._take_what_is_due()

    def _name(self, arm: int) -> str:
        return self.problem.names[arm] if arm != NULL else NOTHING


def signals_of(problem: Problem, reward: object, safety: Safety) -> list[float]:
    """The reward, then the readings in the order of the limits as distances in the sense of (S): larger is safer."""
    limits, names = problem.safety, [limit.name for limit in problem.safety]
    told = number("reward", reward, MEASURED)
    if isinstance(safety, Mapping):
        unknown = [name for name in safety if name not in names]
        missing = [name for name in names if name not in safety]
        if unknown or missing:
            raise InvalidInput(
                "safety", dict(safety), f"must have one value for each of {', '.join(names)}",
                "Tell every limit by its name, and no other.",
            )  # fmt: skip
        readings = [safety[name] for name in names]
    else:
        readings = list(np.atleast_1d(np.asarray(safety, dtype=object)))
    if len(readings) != len(limits):
        raise InvalidInput(
            "safety", safety, f"must have {len(limits)} value(s), one for each of {', '.join(names)}",
            "Pass one number for one limit, or a list or mapping for several.",
        )  # fmt: skip
    return [told] + [
        float(limit.internal(number(f"safety[{limit.name!r}]", reading, MEASURED)))
        for limit, reading in zip(limits, readings, strict=True)
    ]


def check_script(script: Script, arms: int, signals: int) -> None:
    """Refuses a script that names what is not there: compiled code does not look."""
    pulls, remedy = len(script.arm), "Build it with studies.replaying.as_script."
    shapes = {len(script.asked), len(script.applied), len(script.observed)} == {pulls}
    if not shapes or script.observed.shape[1] != signals or script.step.shape != script.pull.shape:
        raise InvalidInput("script", script.observed.shape, "has columns of different lengths", remedy)
    for field, column, most in (("pull", script.pull, max(pulls, 1)), ("arm", script.arm, arms)):
        if len(column) and not 0 <= column.min() <= column.max() < most:
            raise InvalidInput(f"script.{field}", (column.min(), column.max()), f"must be from 0 to {most - 1}", remedy)


def warn_of_level(asked: Pull, applied: float) -> None:
    """Warns that a pull was applied above its certified level."""
    warnings.warn(
        f"Pull {asked.number} of {asked.name} was applied at level {applied:g}, above the certified "
        f"{asked.level:g}. It is recorded; the promise of safety does not cover it.",
        LevelAlarm,
        stacklevel=3,
    )
