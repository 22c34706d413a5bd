"""What policies and confidence sets are built from, under one roof. These names stay; where they live may change.

Import the functions by their names, `from surefoot.building import certify, find_race`: what is written behind a dot,
`building.certify`, is not found by what binds a policy into the loops.

marks       kernel, rare, thin: how a function is compiled
a policy    Plan, Guarantee, promise, option; `sets_for` gives sets that are ready
a decision  reads Instance, State and Work, and returns a Decision
questions   bound_safety and bound_leads ask the sets; column, diagonal, squared_norm and widths the estimate
levels      certify, reachable, stepped, known_levels_hold, fix_at_ceiling
the race    find_leader, find_race, verdict
the pull    greedy, decisive_pull
a set       ConfidenceSet, linked, Bounds, Ball, Scratch, Grams
chance      philox, uniform, normal: random numbers with an address

A world is built from `surefoot.worlds`, a store from `surefoot.storage.protocol`.
"""

from surefoot.core.estimate import arm_width, column, diagonal, difference_width, squared_norm
from surefoot.core.grams import Grams, multiples_of_identity, regularized_by
from surefoot.core.kernel import kernel, rare, thin
from surefoot.core.levels import (
    DYNAMIC,
    DYNAMIC_MAX,
    STATIC,
    certify,
    fix_at_ceiling,
    known_levels_hold,
    reachable,
    stepped,
)
from surefoot.core.parts import ball_of, bound_leads, bound_safety
from surefoot.core.pulls import decisive_pull, greedy
from surefoot.core.race import Race, find_leader, find_race, verdict
from surefoot.core.random import EXPLORE, normal, philox, uniform
from surefoot.core.state import Bounds, Scratch, State, Work
from surefoot.core.types import (
    BREAKDOWN,
    CERTIFIED,
    CONTRADICTION,
    DECIDING,
    EXPLORING,
    NULL,
    PULL,
    ROUND,
    Ball,
    Decision,
    Instance,
    Nothing,
)
from surefoot.policies.guarantee import PROPOSITION_1, WITHIN_EPSILON, WITHOUT_LIMITS, Guarantee, promise
from surefoot.policies.leaning import leaned_on
from surefoot.policies.options import option
from surefoot.policies.protocol import Plan, Policy
from surefoot.policies.radii import sets_for
from surefoot.problem.norms import norms_of
from surefoot.sets.linked import linked
from surefoot.sets.protocol import ConfidenceSet

__all__ = [
    "BREAKDOWN", "CERTIFIED", "CONTRADICTION", "DECIDING", "DYNAMIC", "DYNAMIC_MAX", "EXPLORE", "EXPLORING", "NULL",
    "PROPOSITION_1", "PULL", "ROUND", "STATIC", "WITHIN_EPSILON", "WITHOUT_LIMITS", "Ball", "Bounds", "ConfidenceSet",
    "Decision", "Grams", "Guarantee", "Instance", "Nothing", "Plan", "Policy", "Race", "Scratch", "State", "Work",
    "arm_width", "ball_of", "bound_leads", "bound_safety", "certify", "column", "decisive_pull", "diagonal",
    "difference_width", "find_leader", "find_race", "fix_at_ceiling", "greedy", "kernel", "known_levels_hold",
    "leaned_on", "linked",
    "multiples_of_identity", "normal", "norms_of", "option", "philox", "promise", "rare", "reachable",
    "regularized_by", "sets_for", "squared_norm", "stepped", "thin", "uniform", "verdict",
]  # fmt: skip
