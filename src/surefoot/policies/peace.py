"""Peace: RAGE's phases, with the width of what Gaussian noise does to all differences in place of a union over pairs.

design    the shares with the smallest width of differences between arms that are left     (F15)
length    so that every such difference is known to half a unit of noise, then a quarter   (F15)
drop      every arm that another one beats, by the pulls of this phase alone               (F10, F15)
stop      when one arm is left, which is proved for Gaussian noise alone, or by our sets   (F15)

Katz-Samuels, Jain, Karnin, Jamieson: An empirical process approach to the union bound, NeurIPS 2020, fixed confidence.
Limits play no part.
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
    widest,
)  # fmt: skip
from surefoot.core.levels import fix_at_ceiling
from surefoot.core.logarithm import log
from surefoot.core.phase_design import Design, ask_about, fewest_pulls, new_design
from surefoot.core.state import State, Work
from surefoot.core.types import Decision, Instance
from surefoot.core.widths import DRAWS, Widths, draw_noise, narrowest_design, new_widths, width_of_images
from surefoot.policies import stopping
from surefoot.policies.options import option
from surefoot.policies.protocol import Plan
from surefoot.policies.stopping import OfTheField
from surefoot.problem import Problem

Stop = Literal["own", "ours"]
STOPS = {"own": stopping.BY_PHASES_UNPROVED, "ours": stopping.OURS}
ROUNDING = 0.1  # what rounding may cost
DRAWN = 1.0 + 1.0 / sqrt(DRAWS)  # a mean over draws may be off, too


class Rules(NamedTuple):
    """What the lengths are found with."""

    log_union: float  # log(4 / delta)
    alone: bool  # whether it ends when one arm is left, and not by the sets


class Own(NamedTuple):
    """What the phases remember."""

    phases: Phases
    design: Design
    widths: Widths


@kernel
def decide(inst: Instance, rules: Rules, state: State, work: Work, seed: int, run: int) -> Decision:
    """The pull of round t + 1, or the decision to stop."""
    fix_at_ceiling(inst.dial, state.levels, work.reach)
    if turns(state.estimate, state.own.phases, work.reach, rules.alone):
        turn(inst, rules, state, work, state.own, seed, run)
    return in_phase(inst, state, work, state.own.phases, rules.alone)


@rare
def turn(inst: Instance, rules: Rules, state: State, work: Work, own: Own, seed: int, run: int) -> None:
    """The end of a phase, and the beginning of the next.                                               (F10, F15)"""
    phases, design, number = own.phases, own.design, float(own.phases.number[0])
    draw_noise(own.widths, seed, run, int(phases.number[0]))
    if number > 0.0 and settle(inst, state.estimate, phases, work.reach):
        wide = width_of_images(own.widths, phases.images, phases.alive)
        drop(phases, 0.0, inst.R[0] * (wide + beyond(rules, number) * sqrt(widest(phases))))
    if is_last(phases, rules.alone):
        return
    if number == 0.0 or left(phases) > 1:  # where our sets want more than phases do, the last design goes on
        ask_about(inst, design, phases.alive)
        narrowest_design(inst, design, own.widths, work.reach, beyond(rules, number + 1.0))
    need = design.value[0] * (1.0 + ROUNDING) * 4.0 ** (number + 1.0)
    open_phase(state.estimate, phases, design.shares, upwards(max(need, fewest_pulls(design, ROUNDING))))


@kernel
def beyond(rules: Rules, number: float) -> float:
    """How many of its own deviations the worst difference may be beyond its mean over draws.                (F15)"""
    return DRAWN * sqrt(2.0 * (rules.log_union + 2.0 * log(number)))


@dataclass(frozen=True)
class Peace(OfTheField):
    """Phases that halve the accuracy, with the Gaussian width of all differences; limits ignored."""

    name: ClassVar[str] = "peace"
    version: ClassVar[int] = 1
    stops: ClassVar = STOPS
    all_pairs: ClassVar[bool] = True
    stop: Stop = option("own", "When it stops: own (one arm is left, proved for Gaussian noise alone) or ours.", STOPS)

    def plan(self, problem: Problem) -> Plan:
        """The sets of the stopping rule, and phases."""
        found, (K, d) = self.stopping(problem), problem.features.shape
        rules = Rules(ln(4.0 / problem.delta), self.stop != "ours")
        own = Own(new_phases(K, d), new_design(K, d), new_widths(K, d))
        return Plan(decide, rules, found.grams, found.sets, own=own, begin_own=begin_phases, candidates=True)
