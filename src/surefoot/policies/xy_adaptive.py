"""XY-Adaptive: phases that each know the worst difference alpha times better, designed for the arms that are still in.

design    the XY design over all pairs of arms that are left                               (F9, F11)
length    until the worst square is alpha times what it was after the phase before         (F13)
drop      every arm that another one beats, by the pulls of this phase alone               (F10, F13)
stop      when one arm is left, or by our sets                                             (F13)

Soare, Lazaric, Munos: Best-arm identification in linear bandits, NeurIPS 2014. Limits play no part.
"""

from dataclasses import dataclass
from math import log as ln
from math import pi, sqrt
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from surefoot.core.kernel import kernel, rare
from surefoot.core.knockout import (
    Phases,
    begin_phases,
    drop,
    in_phase,
    is_last,
    left,
    new_phases,
    open_phase,
    planned_pulls,
    settle,
    turns,
    upwards,
)  # fmt: skip
from surefoot.core.levels import fix_at_ceiling
from surefoot.core.logarithm import log
from surefoot.core.phase_design import Design, ask_about, find_design, new_design
from surefoot.core.state import State, Work
from surefoot.core.types import Decision, Instance, Vector
from surefoot.errors import InvalidInput
from surefoot.policies import stopping
from surefoot.policies.options import option
from surefoot.policies.protocol import Plan
from surefoot.policies.stopping import OfTheField
from surefoot.problem import Problem

Stop = Literal["own", "plain", "ours"]
STOPS = {"own": stopping.BY_PHASES, "plain": stopping.BY_PHASES, "ours": stopping.OURS}
LEAST = 1e-300  # of what is divided by
MOST_ALPHA = 0.9  # a phase is to be longer than the one before


class Rules(NamedTuple):
    """What arms are dropped by: scale R^2 (log_union + 2 log n), n the pulls of the phase, or its number."""

    log_union: float
    scale: float
    by_pulls: bool
    alpha: float  # the worst square after a phase, as a share of that before it
    alone: bool  # whether it ends when one arm is left, and not by the sets


class Own(NamedTuple):
    """What the phases remember."""

    phases: Phases
    design: Design
    worst: Vector  # (1,) the largest square after the last phase


@kernel
def decide(inst: Instance, rules: Rules, state: State, work: Work, seed: int, run: int) -> Decision:
    """The pull of round t + 1, or the decision to stop."""
    fix_at_ceiling(inst.dial, state.levels, work.reach)
    if turns(state.estimate, state.own.phases, work.reach, rules.alone):
        turn(inst, rules, state, work, state.own)
    return in_phase(inst, state, work, state.own.phases, rules.alone)


@rare
def turn(inst: Instance, rules: Rules, state: State, work: Work, own: Own) -> None:
    """The end of a phase, and the beginning of the next.                                               (F10, F13)"""
    phases, design, number, d = own.phases, own.design, float(own.phases.number[0]), inst.X.shape[1]
    if number > 0.0 and settle(inst, state.estimate, phases, work.reach):
        counted = planned_pulls(phases) if rules.by_pulls else number
        drop(phases, inst.R[0] * sqrt(rules.scale * (rules.log_union + 2.0 * log(counted))), 0.0)
    if is_last(phases, rules.alone):
        return
    if number == 0.0:
        own.worst[0] = 1.0 / (d * (d + 1.0) + 1.0)
    if number == 0.0 or left(phases) > 1:  # where our sets want more than phases do, the last design goes on
        ask_about(inst, design, phases.alive)
        find_design(inst, design, work.reach, True)
    open_phase(state.estimate, phases, design.shares, upwards(design.value[0] / (rules.alpha * own.worst[0])))
    own.worst[0] = max(design.value[0], LEAST) / planned_pulls(phases)


@dataclass(frozen=True)
class XYAdaptive(OfTheField):
    """Phases that sharpen the worst difference by alpha, each designed for the arms that are left; limits ignored."""

    name: ClassVar[str] = "xy-adaptive"
    version: ClassVar[int] = 1
    stops: ClassVar = STOPS
    all_pairs: ClassVar[bool] = True
    stop: Stop = option(
        "own", "When it stops: own (one arm is left, as printed), plain (the same with its smallest constant) or ours.",
        STOPS,
    )  # fmt: skip

    alpha: float = option(0.1, "How much sharper the worst difference gets in a phase: its share of what it was.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.alpha, (int, float)) or not 0.0 < self.alpha <= MOST_ALPHA:
            reason, remedy = f"must lie above 0 and up to {MOST_ALPHA:g}", "Its authors take 0.1."
            raise InvalidInput("alpha", self.alpha, reason, remedy)

    def plan(self, problem: Problem) -> Plan:
        """The sets of the stopping rule, and phases."""
        found, (K, d) = self.stopping(problem), problem.features.shape
        union = max(K, 2) ** 2 / problem.delta
        if self.stop == "own":
            rules = Rules(ln(6.0 * union / pi**2), 8.0, True, self.alpha, True)
        else:
            rules = Rules(ln(pi**2 * union / 3.0), 2.0, False, self.alpha, self.stop != "ours")
        own = Own(new_phases(K, d), new_design(K, d), np.zeros(1))
        return Plan(decide, rules, found.grams, found.sets, own=own, begin_own=begin_phases, candidates=True)
