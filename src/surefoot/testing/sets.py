"""What policies ask of a confidence set."""

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from surefoot.core.grams import Grams
from surefoot.core.kernel import interpreting, plain
from surefoot.core.layout import leaves
from surefoot.core.learn import absorb, begin, refresh
from surefoot.core.state import Bounds, State
from surefoot.policies.bound import Faced, faced, parts_of
from surefoot.policies.exploration import RoundRobin
from surefoot.policies.guarantee import WITHIN_EPSILON, Guarantee, promise
from surefoot.policies.protocol import Plan
from surefoot.policies.safe_lingape import SafeLinGapE
from surefoot.problem import Problem
from surefoot.sets.protocol import ConfidenceSet
from surefoot.testing.bounds import (
    LEAD,
    LEAD_OF_BEST,
    LOWER,
    ROUNDING,
    UPPER,
    UPPER_AT_BEST,
    Seen,
    bounds_of,
    broken_bounds,
    copied,
)
from surefoot.testing.claims import claim, claim_rate, claim_same
from surefoot.testing.driving import SEED, arena, driven, one_arm, quietly
from surefoot.worlds import Linear

Build = Callable[[Problem], tuple[Grams, ConfidenceSet]]
REFRESHED = 1e-6  # of a bound: what computing anew may change


class SetContract:
    """Define `build(problem)`: the Gram matrices and the set that bounds the reward with error problem.delta and all
    safety signals with error problem.delta_safety. A set that only cuts is linked to one that it cuts."""

    every_arm: bool = True  # False: upper bounds and leads need to hold for the best arm alone
    delta: float = 0.1
    runs: int = 100
    rounds: int = 150

    def build(self, problem: Problem) -> tuple[Grams, ConfidenceSet]:
        """The set for this problem."""
        raise NotImplementedError("define build(self, problem) in the subclass")

    # -- what it is -------------------------------------------------------------------------------------------

    def test_it_has_what_a_set_has(self) -> None:
        grams, found = self.build(self.open_end(arena()[1]))
        claim(isinstance(grams, Grams), "build gives Gram matrices", grams)
        claim(isinstance(found, ConfidenceSet), "build gives a ConfidenceSet", found)
        claim(found.ball is not None, "the first of linked sets has an ellipsoid", found.name)
        for name, version in found.versions.items():
            claim(
                bool(name) and type(version) is int, "a set has a name and a whole number as version", (name, version)
            )
        for what, tuples in (("params", found.params), ("memory", found.memory)):
            whole = isinstance(tuples, tuple) and len(tuples) > 0
            claim(whole, f"the {what} of a set are a NamedTuple, not empty", tuples)
        shapes = [each.dtype for each in leaves(found.memory) if isinstance(each, np.ndarray)]
        claim(all(dtype in (np.float64, np.int64, np.uint64) for dtype in shapes), "memory holds 64-bit words", shapes)

    # -- what it says -----------------------------------------------------------------------------------------

    def test_bounds_hold_the_truth_while_a_policy_chooses_the_pulls(self) -> None:
        self.hold_the_truth(arena()[0], self.open_end(arena()[1]), self.runs, self.rounds)

    def test_bounds_hold_where_they_are_tightest(self) -> None:
        self.hold_the_truth(*one_arm(self.delta), 3 * self.runs, self.rounds)

    def test_a_smaller_error_never_makes_a_bound_narrower(self) -> None:
        seen = self.told(self.rounds)
        problem = self.open_end(arena()[1])
        surer = faced(Driven(self.build), problem.with_(delta=self.delta / 50, delta_safety=self.delta / 50))
        wider = bounds_of(surer, surer.inst, copied(seen.found, seen.state))
        for narrow, wide in ((seen.bounds.upper, wider.upper), (-seen.bounds.lower, -wider.lower),
                             (seen.bounds.lead[1:], wider.lead[1:])):  # fmt: skip
            allowed = ROUNDING * (1.0 + np.abs(narrow))
            claim((narrow <= wide + allowed).all(), "a smaller error never makes a bound narrower", narrow - wide)

    def test_bounds_are_numbers_in_order_from_the_first_round_on(self) -> None:
        for rounds in (0, 1, 2, 5, 30):
            bounds = self.told(rounds).bounds
            claim(not any(np.isnan(each).any() for each in bounds), "bounds are numbers", rounds)
            claim((bounds.lower <= bounds.upper).all(), "a lower bound is not above the upper one", rounds)

    # -- how it is kept ---------------------------------------------------------------------------------------

    def test_computing_anew_changes_bounds_by_rounding_alone(self) -> None:
        seen = self.told(45)
        plain(refresh, parts_of(seen.found.plan))(seen.found.inst, seen.state, seen.found.new_work())
        again = bounds_of(seen.found, seen.found.inst, seen.state)
        for before, after in zip(seen.bounds, again, strict=True):
            close = np.isclose(after, before, rtol=REFRESHED, atol=REFRESHED)
            claim(close.all(), "computing anew changes bounds by rounding alone", (before, after))

    def test_a_copied_state_says_the_same_and_goes_its_own_way(self) -> None:
        seen = self.told(30)
        copy = copied(seen.found, seen.state)
        claim(alike(bounds_of(seen.found, seen.found.inst, copy), seen.bounds), "a copied state says the same")
        take(seen.found, copy, 1, 0.3, 5.0)
        again = bounds_of(seen.found, seen.found.inst, copied(seen.found, seen.state))
        claim(alike(again, seen.bounds), "what a copy learns does not reach the state it was copied from")

    def test_beginning_anew_forgets_everything(self) -> None:
        fresh, used = self.told(0), self.told(30)
        plain(begin, parts_of(used.found.plan))(used.found.inst, used.state, used.found.new_work())
        claim(alike(bounds_of(used.found, used.found.inst, used.state), fresh.bounds), "beginning anew forgets all")

    def test_the_interpreter_bounds_as_compiled_code_does(self) -> None:
        world, problem = arena()
        compiled = driven(world, problem, Driven(self.build), 40)[1]
        with interpreting():
            interpreted = driven(world, problem, Driven(self.build), 40)[1]
        claim_same(interpreted, compiled, "in the interpreter a set leads to the same pulls, bit for bit")

    # -- within -----------------------------------------------------------------------------------------------

    def open_end(self, problem: Problem) -> Problem:
        """The problem with the error that the set is held to, and so small a tolerance that it goes on."""
        return problem.with_(delta=self.delta, delta_safety=self.delta, epsilon=1e-6)

    def hold_the_truth(self, world: Linear, problem: Problem, runs: int, rounds: int) -> None:
        """Holds the share of runs in which a bound was ever false to the error that is allowed."""
        with quietly():
            broken = broken_bounds(Driven(self.build), world, problem, runs, rounds).sum(axis=0)
        upper, lead = (UPPER, LEAD) if self.every_arm else (UPPER_AT_BEST, LEAD_OF_BEST)
        for what, which in (("lower bounds of safety", LOWER), ("upper bounds of safety", upper), ("leads", lead)):
            claim_rate(int(broken[which]), runs, self.delta, f"{what} hold at all rounds at once")

    def told(self, rounds: int) -> Seen:
        """An experiment after so many results, the same ones whatever the set says."""
        world, problem = arena()[0], self.open_end(arena()[1])
        rng = np.random.default_rng(SEED)
        found = faced(Driven(self.build), problem)
        state = found.new_state()
        plain(begin, parts_of(found.plan))(found.inst, state, found.new_work())
        for t in range(rounds):
            take(found, state, t % problem.size, 0.1 + 0.1 * (t % 2), rng.standard_normal(), world)
        return Seen(found, state, bounds_of(found, found.inst, copied(found, state)))


class Driven:
    """Safe-LinGapE with other sets: it pulls where they leave most open."""

    name: ClassVar[str] = "set-contract"
    version: ClassVar[int] = 1

    def __init__(self, build: Build) -> None:
        self._build = build

    def guarantee(self, problem: Problem) -> Guarantee:
        """The promise that the sets are to pay for."""
        return promise(problem, WITHIN_EPSILON, confidence=1.0 - problem.delta - problem.delta_safety)

    def plan(self, problem: Problem) -> Plan:
        """Safe-LinGapE's, with these sets; each arm once first, for sets that say nothing before the pulls span."""
        grams, sets = self._build(problem)
        once = RoundRobin(problem.size)
        plan = SafeLinGapE(levels="dynamic-max", selection="optimistic", null_pull=True, explore=once).plan(problem)
        return plan._replace(grams=grams, sets=sets)


def alike(one: Bounds, other: Bounds) -> bool:
    """Whether two bounds are the same, bit for bit."""
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def take(found: Faced, state: State, k: int, level: float, noise: float, world: Linear | None = None) -> None:
    """Takes in a pull whose every signal is off by so much of its noise."""
    truth = np.zeros(len(found.inst.R)) if world is None else np.append(world.values[k], world.safety_values[:, k])
    observed = level * truth + noise * found.inst.R
    plain(absorb, parts_of(found.plan))(found.inst, state, found.new_work(), k, level, observed)
