"""What is promised when a policy stops, in words and numbers: no more than the mathematics gives."""

from dataclasses import asdict, dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import Any

from surefoot.policies import Policy
from surefoot.problem import Problem

NOTHING = "(nothing)"  # the null pull: leave every dial at 0

WITHIN_EPSILON = "within-epsilon"  # (b)
PROPOSITION_1 = "proposition-1"  # conservative selection
WITHOUT_LIMITS = "without-limits"  # a policy that knows no limits


@dataclass(frozen=True)
class Certificate:
    """The answer, the promise about it, and what the promise rests on."""

    arm: int  # -1: the null pull
    name: str
    level: float
    guarantee: str  # "within-epsilon", "proposition-1" or "without-limits"
    confidence: float  # the promise about the value holds with at least this probability
    epsilon: float
    delta: float
    delta_safety: float
    gap: float  # B(t) when it stopped
    pulls: int
    keeps_limits: bool
    alarms: int  # pulls that were applied above their certified level
    statement: str
    assumptions: tuple[str, ...]
    data: tuple[str, ...] = ()  # what became of every pull, where a study has kept count

    def to_dict(self) -> dict[str, Any]:
        """The certificate as a table."""
        return asdict(self) | {"assumptions": list(self.assumptions), "data": list(self.data)}


def guarantee_of(policy: Policy) -> str:
    """The kind of promise that the policy's stopping rule gives."""
    if not policy.keeps_limits:
        return WITHOUT_LIMITS
    return WITHIN_EPSILON if policy.selection == "optimistic" else PROPOSITION_1


def confidence_of(policy: Policy, problem: Problem) -> float:
    """The probability with which the promise about the value holds at least.

    Optimistic selection in the paper's form needs the reward event and the safety event: 1 - delta - delta_safety.
    SafeGap pays for both out of delta.
    """
    both = guarantee_of(policy) == WITHIN_EPSILON and not policy.delta_covers_levels
    return max(0.0, 1.0 - problem.delta - (problem.delta_safety if both else 0.0))


def certify_answer(
    policy: Policy, problem: Problem, arm: int, level: float, gap: float, pulls: int, alarms: int
) -> Certificate:
    """The certificate of an answer at the moment the policy stops."""
    name = problem.names[arm] if arm >= 0 else NOTHING
    return Certificate(
        arm=arm,
        name=name,
        level=level,
        guarantee=guarantee_of(policy),
        confidence=confidence_of(policy, problem),
        epsilon=problem.epsilon,
        delta=problem.delta,
        delta_safety=problem.delta_safety,
        gap=gap,
        pulls=pulls,
        keeps_limits=policy.keeps_limits,
        alarms=alarms,
        statement=statement(policy, problem, name, level, alarms),
        assumptions=assumptions(policy, problem),
    )


def statement(policy: Policy, problem: Problem, name: str, level: float, alarms: int) -> str:
    """The promise in words."""
    confidence = f"With probability at least {rounded_down(confidence_of(policy, problem), 6)}"
    answer = f"{name} at level {rounded_down(level)}" if name != NOTHING else "doing nothing"
    epsilon = rounded_up(problem.epsilon)
    promise = {
        WITHIN_EPSILON: (
            f"{confidence}, {answer} is within {epsilon} of the best safe option at its highest safe level."
        ),
        PROPOSITION_1: (
            f"{confidence}, {answer} is within {epsilon} of every option at the level certified for it so far. "
            "Against the best safe option at its highest safe level g*, of value V* and certified up to g, the "
            f"shortfall is at most {epsilon} + (1 - g/g*) V* (Proposition 1)."
        ),
        WITHOUT_LIMITS: (
            f"{confidence}, {answer} is within {epsilon} of the best option at full level, safe or not. "
            "Nothing is promised about the limits."
        ),
    }[guarantee_of(policy)]
    if not policy.keeps_limits:
        return promise
    safely = rounded_down(1.0 - problem.delta_safety, 6)
    safe = f"With probability at least {safely}, no pull crossed a limit and the answer crosses none."
    if alarms:
        safe += f" This leaves out {alarms} pull(s) applied above the certified level."
    return f"{promise} {safe}"


def rounded_down(value: float, digits: int = 4) -> str:
    """The number with so many significant digits, never more than it is: a printed level must stay certified."""
    return in_digits(value, digits, ROUND_FLOOR)


def rounded_up(value: float, digits: int = 4) -> str:
    """The number with so many significant digits, never less than it is."""
    return in_digits(value, digits, ROUND_CEILING)


def in_digits(value: float, digits: int, rounding: str) -> str:
    """The number as people write it (0.95, not the nearest binary fraction), with at most so many digits."""
    return f"{float(Context(prec=digits, rounding=rounding).create_decimal(repr(float(value)))):.{digits}g}"


def assumptions(policy: Policy, problem: Problem) -> tuple[str, ...]:
    """What the promise rests on."""
    signals = [("reward", problem.reward.noise, problem.reward.norm)]
    signals += [(limit.name, limit.noise, limit.norm) for limit in problem.safety]
    found = [
        f"{name}: linear in the applied features, noise {noise:g}-sub-Gaussian given the past, weights of norm at most "
        f"{norm:g}"
        for name, noise, norm in signals
    ]
    if policy.keeps_limits:
        found.append("every arm is safe at its known level")
        if not policy.null_pull:
            found.append("the best safe value is not negative (the null pull takes no part)")
    return tuple(found)
