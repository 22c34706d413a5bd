"""What a policy promises about its answer: stated by the policy, written out by the certificate."""

from dataclasses import dataclass

from surefoot.errors import InvalidInput
from surefoot.problem import Limit, Problem, Reward
from surefoot.problem.norms import LARGEST, bounds_of, noise_laws, refuse_error, refuse_unknown_noise, signals_of
from surefoot.problem.units import reading_in_words, with_unit

WITHIN_EPSILON = "within-epsilon"  # (b)
PROPOSITION_1 = "proposition-1"  # conservative selection
WITHOUT_LIMITS = "without-limits"  # a policy that knows no limits
SAFE_ANSWER = "safe-answer"  # a policy that keeps no limits while it learns, and whose answer keeps them
WITHIN_RESERVE = "within-reserve"  # against what keeps every limit with a reserve
RESERVE = 0.1  # of the room between baseline and limit
MEASURED = "measured"  # a policy that stops by a threshold without a proof: nothing is promised, or certified

VALUE = {
    WITHIN_EPSILON: "{answer} is within {epsilon} of the best safe option at its highest safe level.",
    PROPOSITION_1: (
        "{answer} is within {epsilon} of every option at the level certified for it so far. Against the best safe "
        "option at its highest safe level g*, of value V* and certified up to g, the shortfall is at most {epsilon} + "
        "(1 - g/g*) V* (Proposition 1)."
    ),
    WITHOUT_LIMITS: (
        "{answer} is within {epsilon} of the best option, each at the top of its dial, safe or not. Nothing is "
        "promised about the limits."
    ),
    SAFE_ANSWER: (
        "{answer} keeps every limit with its mean and is within {epsilon} of the best safe option at its highest safe "
        "level. No limit was kept while learning: pulls were made at the top of the dial, safe or not."
    ),
    WITHIN_RESERVE: (
        "{answer} is within {epsilon} of every option at every level that keeps each limit with a tenth of its room in "
        "reserve."
    ),
    MEASURED: "{answer} looked best when a threshold without a proof was passed. Nothing is promised, or certified.",
}
NOT_NEGATIVE = "the best {} is not negative (the null pull takes no part)"
NO_LIMITS = {  # the same where none are stated: every level is safe, so the highest is that of the dial      (P1)
    WITHIN_EPSILON: "{answer} is within {epsilon} of the best option at any level of its dial. No limits were stated.",
    WITHOUT_LIMITS: (
        "{answer} is within {epsilon} of the best option, each at the top of its dial. No limits were stated."
    ),
}


@dataclass(frozen=True)
class Guarantee:
    """What holds once a policy stops, with which probability, and what that rests on."""

    kind: str  # one of the words above, or one of the policy's own
    value: str  # the promise about the answer, in words, with {answer} and {epsilon} in their places
    confidence: float  # the probability of that at least
    safety: float | None  # at least this is the probability that no pull's mean crosses a limit; None: no limits are
    # known to the policy, or none were stated
    assumptions: tuple[str, ...]  # what it rests on
    leans_on_norms: bool = True  # whether stated norms or largest effects are among it: data that contradict one ring

    linear: bool = True  # whether means are taken to follow the features: data that contradict it ring

    @property
    def keeps_limits(self) -> bool:
        """Whether every pull is certified safe."""
        return self.safety is not None

    @property
    def certifies(self) -> bool:
        """Whether an answer gets a certificate: a threshold that nobody has proved gives none."""
        return self.kind != MEASURED


def promise(
    problem: Problem,
    kind: str,
    *,
    confidence: float,
    keeps_limits: bool = True,
    null_pull: bool = True,
    leans_on_norms: bool = True,
    learns_noise: bool = False,
    bears_error: bool = False,
    rising: tuple[str, ...] = (),
    needs: tuple[str, ...] = (),
) -> Guarantee:
    """One of the three promises, which holds with at least this confidence; delta_safety pays for safe pulls. Only what
    learns the size of the noise can promise anything where that is unknown, and only what bears an error of the linear
    law where one is stated. What takes effects to rise, and not to be linear, says so in place of that; what else the
    proof needs is said too."""
    if not learns_noise:
        refuse_unknown_noise(problem, "what is asked for")
    if not bears_error:
        refuse_error(problem, "what is asked for")
    signals = rising or signal_assumptions(problem, leans_on_norms)
    if not problem.safety:
        kind = WITHIN_EPSILON if kind == PROPOSITION_1 else kind  # all levels are certified from the first round on
        if kind not in NO_LIMITS:
            reason = "holds no limit, and what is asked for promises something about limits"
            raise InvalidInput("safety", problem.safety, reason, "Use SafeGap or LinGapE, which serve such problems.")
    return Guarantee(
        kind=kind,
        value=VALUE[kind] if problem.safety else NO_LIMITS[kind],
        confidence=max(0.0, confidence),
        safety=1.0 - problem.delta_safety if keeps_limits and problem.safety else None,
        assumptions=(*signals, *(limit_assumptions(problem, null_pull) if keeps_limits else ()), *needs),
        leans_on_norms=leans_on_norms,
        linear=not rising,
    )


def no_promise(problem: Problem) -> Guarantee:
    """What a policy says that stops by a threshold without a proof."""
    refuse_unknown_noise(problem, "what is asked for")
    refuse_error(problem, "what is asked for")
    return Guarantee(MEASURED, VALUE[MEASURED], confidence=0.0, safety=None, assumptions=(), leans_on_norms=False)


def signal_assumptions(problem: Problem, leans_on_norms: bool) -> tuple[str, ...]:
    """What is stated about the reward and each limit, as far as the promise rests on it."""
    names = ["reward", *(limit.name for limit in problem.safety)]
    bounds = bound_assumptions(problem, names) if leans_on_norms else [""] * len(names)
    return tuple(
        f"{name}: {law_in_words(signal)}, {law.said}{bound}"
        for name, signal, law, bound in zip(names, signals_of(problem), noise_laws(problem), bounds, strict=True)
    )


def rising_assumptions(problem: Problem) -> tuple[str, ...]:
    """What is taken of signals whose effects rise with the level in whatever way, no faster than stated.        (S9)"""
    names = ["reward", *(limit.name for limit in problem.safety)]
    kind, sizes = bounds_of(problem)
    per = "" if kind == LARGEST else " and unit of features"
    units = [problem.reward.unit, *(limit.unit for limit in problem.safety)]
    ways = ["does not fall"] + ["does not move away from its limit"] * len(problem.safety)
    return tuple(
        f"{name}: {way} as the level rises, and changes by at most {with_unit(f'{size:g}', unit)} for a full turn of "
        f"the dial{per} (the promise leans on it), {law.said}"
        for name, way, size, unit, law in zip(names, ways, sizes.tolist(), units, noise_laws(problem), strict=True)
    )


def law_in_words(signal: Reward | Limit) -> str:
    """How the mean of the signal follows the features."""
    if signal.within == 0.0:
        return "linear in the applied features"
    error = with_unit(f"{signal.within:g}", signal.unit)
    return f"linear in the applied features within {error} at every arm, level and time"


def bound_assumptions(problem: Problem, names: list[str]) -> list[str]:
    """The stated norm or largest effect of each signal, as a promise names it that leans on it."""
    kind, sizes = bounds_of(problem)
    units = [problem.reward.unit, *(limit.unit for limit in problem.safety)]
    if kind == LARGEST:
        said = [
            f"no option changes {name} by more than {with_unit(f'{size:g}', unit)} at full strength"
            for name, size, unit in zip(names, sizes.tolist(), units, strict=True)
        ]
    else:
        said = [f"weights of norm at most {size:g}" for size in sizes.tolist()]
    return [f", {each} (the promise leans on it)" for each in said]


def limit_assumptions(problem: Problem, null_pull: bool) -> tuple[str, ...]:
    """What a policy that keeps limits rests on besides."""
    if not problem.safety:
        return () if null_pull else (NOT_NEGATIVE.format("value"),)
    nearly = any(limit.within > 0.0 for limit in problem.safety)
    known = f"every arm is safe at its known level{' and at every one below it' if nearly else ''}"
    tightened = [
        f"mean {limit.name} {'at least' if limit.sign > 0 else 'at most'} "
        f"{reading_in_words(limit.mean_limit, limit.unit)}"
        for limit in problem.safety
        if limit.reading_risk is not None
    ]
    if tightened:
        known += f", by the limits tightened for single readings ({', '.join(tightened)})"
    return (known,) if null_pull else (known, NOT_NEGATIVE.format("safe value"))
