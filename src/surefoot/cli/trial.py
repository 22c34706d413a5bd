"""One experiment against a simulated world, pull by pull, and what the truth says of it afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from surefoot import policies
from surefoot.cli.scenario import Scenario
from surefoot.live.session import Session
from surefoot.policies import Policy
from surefoot.worlds import Linear


@dataclass(frozen=True)
class Verdict:
    """How a finished experiment looks to one who knows the truth."""

    unsafe_pulls: int
    first_unsafe: int | None
    answer_safe: bool | None  # None without an answer
    shortfall: float | None  # of a safe answer's value from the best safe one


@dataclass(frozen=True)
class Trial:
    """A finished experiment."""

    session: Session
    verdict: Verdict

    @property
    def unsafe_share(self) -> float:
        """The share of pulls that crossed a limit."""
        return self.verdict.unsafe_pulls / self.session.pulls if self.session.pulls else 0.0

    def to_dict(self) -> dict[str, Any]:
        """The experiment as a table."""
        session, certificate, answer = self.session, self.session.certificate, self.session.recommendation
        return {
            "policy": policies.to_dict(session.policy),
            "outcome": session.outcome,
            "pulls": session.pulls,
            "gap": session.gap,
            "recommendation": vars(answer) if answer else None,
            "certificate": certificate.to_dict() if certificate else None,
            "levels": dict(zip(session.problem.names, session.levels, strict=True)),
            "pulls_per_arm": dict(zip(session.problem.names, session.pulls_per_arm, strict=True)),
            "judged": {**vars(self.verdict), "unsafe_share": self.unsafe_share},
        }


def carried_out(
    scenario: Scenario, policy: Policy, seed: int, max_pulls: int, watch: Callable[[Session], None]
) -> Trial:
    """The experiment from first pull to last; `watch` is called before the first and after each.

    With the same seed it is run 0 of `surefoot simulate`. Every reading goes the way of a user's: in the user's units.
    """
    world, limits = scenario.world, scenario.problem.safety
    session = Session(scenario.problem, policy, seed=seed, max_pulls=max_pulls)
    applied: list[tuple[int, float]] = []
    watch(session)
    try:
        while not session.stopped:
            pull = session.ask()
            reward, signals = world.observe(pull.arm, pull.level, pull.number, seed=seed)
            readings = [float(limit.reading(signal)) for limit, signal in zip(limits, signals, strict=True)]
            session.tell(pull, reward=reward, safety=readings)
            applied.append((pull.arm, pull.level))
            watch(session)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"Interrupted after {session.pulls:,} pulls; nothing is certified.") from None
    return Trial(session, judged(world, session, applied))


def judged(world: Linear, session: Session, applied: list[tuple[int, float]]) -> Verdict:
    """What the truth says of these pulls and of the answer."""
    safe = {pull: world.is_safe(*pull) for pull in set(applied)}
    unsafe = [number for number, pull in enumerate(applied, start=1) if not safe[pull]]
    found = session.certificate
    answer_safe = None if found is None else found.arm < 0 or world.is_safe(found.arm, found.level)
    shortfall = None
    if found is not None and answer_safe:
        value = world.value(found.arm, found.level) if found.arm >= 0 else 0.0
        shortfall = world.best_value(session.problem) - value
    return Verdict(len(unsafe), unsafe[0] if unsafe else None, answer_safe, shortfall)
