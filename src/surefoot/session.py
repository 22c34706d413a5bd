"""Ask/tell in memory: one experiment, driven by a person, a script or a laboratory."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from surefoot.certificate import NOTHING, Certificate, certify_answer
from surefoot.checks import Floats, check_count, check_seed, number
from surefoot.core.play import AS_IT_IS
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
from surefoot.errors import Finished, InvalidInput, LevelAlarm, NotOpen, NumericalBreakdown
from surefoot.policies import Policy, check_policy
from surefoot.problem import Problem

Outcome: TypeAlias = Literal["certified", "undecided", "contradiction", "breakdown"]
Safety: TypeAlias = float | Floats | list[float] | tuple[float, ...] | Mapping[str, float]
MEASURED = "Tell what was measured; a failed measurement is no result, so repeat the pull."
APPLIED = "Tell the level that was really applied."
LIVE_RUN = 0  # a live session draws what run 0 of a simulation with the same seed draws


@dataclass(frozen=True)
class Pull:
    """What to apply next, and why."""

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
        self._turn(NULL, 0.0)

    # -- the two verbs --------------------------------------------------------------------------------------

    def ask(self) -> Pull:
        """The next pull; the same one until its result is told."""
        if self.outcome is not None:
            raise Finished(self.outcome, self.pulls)
        decision, deciding = self._decision, self._decision.phase == DECIDING
        return Pull(
            number=self.pulls + 1,
            arm=int(decision.arm),
            name=self.problem.names[decision.arm],
            level=float(decision.level),
            phase="decide" if deciding else "explore",
            margin=self._margin,
            leader=self._name(decision.leader) if deciding else None,
            challenger=self._name(decision.challenger) if deciding else None,
            gap=float(decision.gap) if deciding else None,
        )

    def tell(self, pull: Pull | int, *, reward: float, safety: Safety, level: float | None = None) -> None:
        """Takes the result of the open pull; `level` is the level really applied, where it differs."""
        told = pull.number if isinstance(pull, Pull) else pull
        expected = [] if self.stopped else [self.pulls + 1]
        if isinstance(told, bool) or not isinstance(told, int | np.integer) or told not in expected:
            raise NotOpen(told, expected)
        asked = self.ask()
        if isinstance(pull, Pull) and pull != asked:
            reason = "is not the pull that this session asked for"
            raise InvalidInput("pull", pull, reason, "Tell the session its own pull, or its number.")
        observed = [number("reward", reward, MEASURED), *self._internal(safety)]
        applied = asked.level if level is None else number("level", level, APPLIED, at_least=0.0, at_most=1.0)
        too_high = applied > asked.level and self.policy.keeps_limits
        if too_high:
            self._alarms.append(Alarm(asked.number, asked.name, asked.level, applied))
        self._work.observed[:] = observed
        self._turn(asked.arm, applied)
        if too_high:  # after all is recorded: a warning may be an error here
            warn_of_level(asked, applied)
        if self._outcome == "breakdown":
            raise NumericalBreakdown("the estimates", self.pulls)

    # -- where it stands ------------------------------------------------------------------------------------

    @property
    def pulls(self) -> int:
        """How many results have been told."""
        return self._pulls

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
        healthy, margin, *fields = self.policy.engine().turn(
            self._inst, self._rules, self._state, self._work, self.seed, LIVE_RUN, arm, level
        )
        decision = Decision(*fields)
        self._decision, self._pulls = decision, int(self._state.clock[ROUND])
        self._margin = float(margin)
        self._outcome: Outcome | None = None
        if not healthy or decision.status == BREAKDOWN:
            self._outcome = "breakdown"
        elif decision.status == CERTIFIED:
            self._outcome = "certified"
        elif decision.status == CONTRADICTION:
            self._outcome = "contradiction"
        elif decision.status == PULL and self.max_pulls is not None and self.pulls >= self.max_pulls:
            self._outcome = "undecided"

    def _catch_up(self) -> None:
        """Decides anew if Ctrl-C came after a result was absorbed and before its decision was read."""
        if self._pulls != self._state.clock[ROUND]:
            self._turn(AS_IT_IS, 0.0)

    def _name(self, arm: int) -> str:
        return self.problem.names[arm] if arm != NULL else NOTHING

    def _internal(self, safety: Safety) -> list[float]:
        """The readings in the order of the limits, as distances in the sense of (S): larger is safer."""
        limits = self.problem.safety
        names = [limit.name for limit in limits]
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
        return [
            float(limit.internal(number(f"safety[{limit.name!r}]", reading, MEASURED)))
            for limit, reading in zip(limits, readings, strict=True)
        ]


def warn_of_level(asked: Pull, applied: float) -> None:
    """Warns that a pull was applied above its certified level."""
    warnings.warn(
        f"Pull {asked.number} of {asked.name} was applied at level {applied:g}, above the certified "
        f"{asked.level:g}. It is recorded; the promise of safety does not cover it.",
        LevelAlarm,
        stacklevel=3,
    )
