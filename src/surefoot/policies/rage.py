"""RAGE: phases that each halve the accuracy asked for, designed for the arms that are still in.

design    the XY design over all pairs of arms that are left                               (F9, F11)
length    so that every such difference is known to half a unit of noise, then a quarter   (F12)
drop      every arm that another one beats, by the pulls of this phase alone               (F10, F12)
stop      when one arm is left, or by our sets                                             (F12)

Fiez, Jain, Jamieson, Ratliff: Sequential experimental design for transductive linear bandits, NeurIPS 2019. Limits play
no part.
"""

from dataclasses import dataclass
from math import log as ln
from math import sqrt
from typing import ClassVar, Literal, NamedTuple

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
    settle,
    turns,
    upwards,
)  # fmt: skip
from surefoot.core.levels import fix_at_ceiling
from surefoot.core.logarithm import log
from surefoot.core.phase_design import Design, ask_about, fewest_pulls, find_design, new_design
from surefoot.core.state import State, Work
from surefoot.core.types import Decision, Instance
from surefoot.policies import stopping
from surefoot.policies.options import option
from surefoot.policies.protocol import Plan
from surefoot.policies.stopping import OfTheField
from surefoot.problem import Problem

Stop = Literal["own", "ours"]
STOPS = {"own": stopping.BY_PHASES, "ours": stopping.OURS}
ROUNDING = 0.1  # what rounding may cost: its authors' choice


class Rules(NamedTuple):
    """What the lengths are found with."""

    log_union: float  # log(2 K^2 / delta)
    alone: bool  # whether it ends when one arm is left, and not by the sets


class Own(NamedTuple):
    """What the phases remember."""

    phases: Phases
    design: Design


@kernel
def decide(inst: Instance, rules: Rules, state: State, work: Work, seed: int, run: int) -> Decision:
    """The pull of round t + 1, or the decision to stop."""
    fix_at_ceiling(inst.dial, state.levels, work.reach)
    if turns(state.estimate, state.own.phases, work.reach, rules.alone):
        turn(inst, rules, state, work, state.own)
    return in_phase(inst, state, work, state.own.phases, rules.alone)


@rare
def turn(inst: Instance, rules: Rules, state: State, work: Work, own: Own) -> None:
    """The end of a phase, and the beginning of the next.                                               (F10, F12)"""
    phases, design, number = own.phases, own.design, float(own.phases.number[0])
    if number > 0.0 and settle(inst, state.estimate, phases, work.reach):
        drop(phases, inst.R[0] * sqrt(2.0 * (rules.log_union + 2.0 * log(number))), 0.0)
    if is_last(phases, rules.alone):
        return
    if number == 0.0 or left(phases) > 1:  # where our sets want more than phases do, the last design goes on
        ask_about(inst, design, phases.alive)
        find_design(inst, design, work.reach, True)
    accuracy = 0.25**number  # squared, in squared units of noise, and four times as large
    need = 8.0 * design.value[0] * (1.0 + ROUNDING) * (rules.log_union + 2.0 * log(number + 1.0)) / accuracy
    open_phase(state.estimate, phases, design.shares, upwards(max(need, fewest_pulls(design, ROUNDING))))


@dataclass(frozen=True)
class RAGE(OfTheField):
    """Phases that halve the accuracy, each designed for the arms that are left; limits ignored."""

    name: ClassVar[str] = "rage"
    version: ClassVar[int] = 1
    stops: ClassVar = STOPS
    all_pairs: ClassVar[bool] = True
    stop: Stop = option("own", "When it stops: own (one arm is left, proved) or ours.", STOPS)

    def plan(self, problem: Problem) -> Plan:
        """The sets of the stopping rule, and phases."""
        found, (K, d) = self.stopping(problem), problem.features.shape
        rules = Rules(ln(2.0 * K * K / problem.delta), self.stop != "ours")
        own = Own(new_phases(K, d), new_design(K, d))
        return Plan(decide, rules, found.grams, found.sets, own=own, begin_own=begin_phases, candidates=True)
