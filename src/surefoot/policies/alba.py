"""ALBA: eliminations that each halve how many arms are left beside the dimension, with a design for each of them.

epoch     until no more than d, d/2, d/4, ... arms are left                                (F14)
design    the G design over the arms in the span of those that are left when it begins     (F11, F14)
length    so that every difference is known to half a unit of noise, then a quarter        (F14)
drop      every arm that another one beats, by the pulls of this phase alone               (F10, F14)
stop      when one arm is left, or by our sets                                             (F14)

Tao, Blanco, Zhou: Best arm identification in linear bandits with linear dimension dependency, ICML 2018. Limits play no
part.
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
    settle,
    turns,
    upwards,
)  # fmt: skip
from surefoot.core.levels import fix_at_ceiling
from surefoot.core.logarithm import log
from surefoot.core.phase_design import Design, ask_within_span, fewest_pulls, find_design, new_design
from surefoot.core.state import State, Work
from surefoot.core.types import Decision, Indices, Instance
from surefoot.policies import stopping
from surefoot.policies.options import option
from surefoot.policies.protocol import Plan
from surefoot.policies.stopping import OfTheField
from surefoot.problem import Problem

Stop = Literal["own", "ours"]
STOPS = {"own": stopping.BY_PHASES, "ours": stopping.OURS}
ROUNDING = 0.1  # what rounding may cost
SHARED = log(5.0 * (pi * pi / 6.0) ** 2 / 2.0)  # of the errors, over epochs, and over the phases of each


class Rules(NamedTuple):
    """What the lengths are found with."""

    log_inv_delta: float
    alone: bool  # whether it ends when one arm is left, and not by the sets


class Own(NamedTuple):
    """What the phases remember."""

    phases: Phases
    design: Design
    epoch: Indices  # (1,) its number, from 0
    step: Indices  # (1,) the phase in the epoch, from 1
    size: Indices  # (1,) how many arms the epoch began with


@kernel
def decide(inst: Instance, rules: Rules, state: State, work: Work, seed: int, run: int) -> Decision:
    """The pull of round t + 1, or the decision to stop."""
    fix_at_ceiling(inst.dial, state.levels, work.reach)
    if turns(state.estimate, state.own.phases, work.reach, rules.alone):
        turn(inst, rules, state, work, state.own)
    return in_phase(inst, state, work, state.own.phases, rules.alone)


@rare
def turn(inst: Instance, rules: Rules, state: State, work: Work, own: Own) -> None:
    """The end of a phase, and the beginning of the next.                                               (F10, F14)"""
    phases, design, first = own.phases, own.design, own.phases.number[0] == 0
    if not first and settle(inst, state.estimate, phases, work.reach):
        drop(phases, inst.R[0] * sqrt(2.0 * log_union(rules, own)), 0.0)
    if is_last(phases, rules.alone):
        return
    if first or (left(phases) > 1 and left(phases) <= goal(inst, own)):  # where our sets want more, the last goes on
        while left(phases) > 1 and left(phases) <= goal(inst, own):
            own.epoch[0] += 1
        own.step[0], own.size[0] = 0, left(phases)
        ask_within_span(inst, design, phases.alive, work.reach)
        find_design(inst, design, work.reach, False)
    own.step[0] += 1
    accuracy = 0.25 ** float(own.step[0])  # squared, in squared units of noise
    need = 8.0 * design.value[0] * (1.0 + ROUNDING) * log_union(rules, own) / accuracy
    open_phase(state.estimate, phases, design.shares, upwards(max(need, fewest_pulls(design, ROUNDING))))


@kernel
def goal(inst: Instance, own: Own) -> int:
    """How many arms may be left for the epoch to end."""
    return int(inst.X.shape[1] // (1 << min(own.epoch[0], 62)))


@kernel
def log_union(rules: Rules, own: Own) -> float:
    """log(5 n^2 / (2 delta_rs)) with the errors shared out over epochs and phases.                          (F14)"""
    n, r, s = float(own.size[0]), float(own.epoch[0]) + 1.0, float(own.step[0])
    return rules.log_inv_delta + SHARED + 2.0 * (log(n) + log(r) + log(s))


@dataclass(frozen=True)
class ALBA(OfTheField):
    """Eliminations that halve the arms beside the dimension, with a design for each; limits ignored."""

    name: ClassVar[str] = "alba"
    version: ClassVar[int] = 1
    stops: ClassVar = STOPS
    stop: Stop = option("own", "When it stops: own (one arm is left, proved) or ours.", STOPS)

    def plan(self, problem: Problem) -> Plan:
        """The sets of the stopping rule, and phases."""
        found, (K, d), counter = self.stopping(problem), problem.features.shape, np.zeros(1, np.int64)
        rules = Rules(-ln(problem.delta), self.stop != "ours")
        own = Own(new_phases(K, d), new_design(K, d), counter, counter, counter)
        return Plan(decide, rules, found.grams, found.sets, own=own, begin_own=begin_phases)
