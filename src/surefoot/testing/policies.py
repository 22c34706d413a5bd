"""What sessions, simulations and studies ask of a policy."""

import json
from typing import Any
from uuid import uuid4

import numpy as np

from surefoot import policies
from surefoot.core.kernel import MARK, interpreting, is_kernel, with_globals
from surefoot.core.types import CERTIFIED
from surefoot.errors import Finished
from surefoot.live.session import Session
from surefoot.policies import Guarantee, Plan, Policy, check_policy
from surefoot.policies.guarantee import VALUE
from surefoot.problem import Problem
from surefoot.results import Runs
from surefoot.sets import ConfidenceSet
from surefoot.simulation import simulate
from surefoot.studies.lifecycle import create_study, delete_study, load_study
from surefoot.testing.bounds import ROUNDING, Certified
from surefoot.testing.claims import claim, claim_rate, claim_same, refused
from surefoot.testing.driving import SEED, arena, driven, quietly
from surefoot.worlds import World

STEP_ROUNDING = 1.0 + 1e-8


class PolicyContract:
    """Name the policy in a subclass, and where it needs them, a world and a problem of its own in that world: its
    limits with baseline 0, so that readings change units without rounding."""

    policy: Any
    world: Any = None  # one with two limits, where None
    problem: Any = None
    pulls: int = 40  # of a session
    runs: int = 100  # of a simulation that is judged
    most: int = 5_000  # pulls of such a run

    # -- what it is -------------------------------------------------------------------------------------------

    def test_it_has_what_a_policy_has(self) -> None:
        policy, (_, problem) = self.policy, self.place()
        check_policy(policy)
        claim(isinstance(policy, Policy), "a policy fulfils surefoot.policies.Policy", policy)
        claim(isinstance(policy.name, str) and policy.name.strip() == policy.name != "", "it has a name", policy.name)
        claim(type(policy.version) is int, "its version is a whole number", policy.version)
        with quietly():
            plan = policy.plan(problem)
        claim(isinstance(plan, Plan), "plan(problem) is a Plan", plan)
        claim(isinstance(plan.sets, ConfidenceSet), "a plan has a confidence set", plan.sets)
        claim(plan.sets.ball is not None, "its first confidence set has an ellipsoid", plan.sets.name)
        claim(isinstance(plan.rules, tuple) and len(plan.rules), "its rules are a NamedTuple, not empty", plan.rules)

    def test_its_guarantee_is_well_formed(self) -> None:
        _, problem = self.place()
        found = self.policy.guarantee(problem)
        claim(isinstance(found, Guarantee), "guarantee(problem) is a Guarantee", found)
        claim(isinstance(found.kind, str) and found.kind, "a guarantee has a kind", found.kind)
        claim(0.0 <= found.confidence <= 1.0, "its confidence is a probability", found.confidence)
        claim(found.safety is None or 0.0 <= found.safety <= 1.0, "its safety is a probability or None", found.safety)
        claim(all(isinstance(each, str) and each for each in found.assumptions), "assumptions are sentences", found)
        words = found.value.format(answer="THE ANSWER", epsilon="THE EPSILON")
        claim("THE ANSWER" in words and "\n" not in words, "its promise is about {answer}, in one line", found.value)
        claim_same(self.policy.guarantee(problem), found, "a guarantee is the same when asked for again")

    def test_it_is_written_in_a_table_and_read_back(self) -> None:
        policy = self.policy
        table = json.loads(json.dumps(policies.to_dict(policy)))
        again = policies.from_dict(table, {policy.name: type(policy)})
        claim_same(policies.to_dict(again), policies.to_dict(policy), "what is read back has the same options")
        described = policies.describe(policy)
        claim(described.startswith(policy.name) and "\n" not in described, "it is described in one line", described)

    # -- what it decides --------------------------------------------------------------------------------------

    def test_asking_twice_gives_the_same_pull(self) -> None:
        def ask_again(session: Session) -> None:
            if not session.stopped:
                claim_same(session.ask(), session.ask(), "asking twice gives the same pull")

        driven(*self.place(), self.policy, self.pulls, ask_again)

    def test_the_same_results_give_the_same_pulls(self) -> None:
        first, second = (driven(*self.place(), self.policy, self.pulls)[1] for _ in range(2))
        claim_same(second, first, "the same results give the same pulls")

    def test_a_session_is_run_0_of_a_simulation(self) -> None:
        session, pulls = driven(*self.place(), self.policy, self.pulls)
        runs = self.simulated(1, self.pulls, workers=1)
        claim_same(runs.outcomes, [session.outcome], "a session ends as run 0 of a simulation does")
        claim_same(int(runs.pulls[0]), len(pulls), "both make as many pulls")
        claim_same(runs.pulls_per_arm[0].tolist(), session.pulls_per_arm.tolist(), "both pull the same arms")
        claim_same(runs.levels[0].tolist(), session.levels.tolist(), "both certify the same levels, bit for bit")
        claim_same(float(runs.gap[0]), session.ledger.learner.decision.gap, "both find the same gap, bit for bit")

    def test_runs_do_not_depend_on_workers_or_on_other_runs(self) -> None:
        whole = self.simulated(7, self.pulls, workers=1)
        for part, rows in (
            (self.simulated(7, self.pulls, workers=3), slice(None)),
            (self.simulated(3, self.pulls, workers=1, first_run=4), slice(4, None)),
        ):
            for column in ("pulls", "arm", "level", "gap", "pulls_per_arm", "levels"):
                same = np.array_equal(getattr(part, column), getattr(whole, column)[rows], equal_nan=True)
                claim(same, f"a run has the same {column} whatever is run beside it")

    def test_the_interpreter_decides_as_compiled_code_does(self) -> None:
        compiled = driven(*self.place(), self.policy, self.pulls)[1]
        with interpreting():
            plain = driven(*self.place(), self.policy, self.pulls)[1]
        claim_same(plain, compiled, "in the interpreter a policy decides as when it is compiled, bit for bit")

    def test_a_decision_without_its_mark_decides_the_same(self) -> None:
        plan = self.policy.plan
        if is_kernel(plan(self.place()[1]).decide):
            compiled = driven(*self.place(), self.policy, self.pulls)[1]
            plain = driven(*self.place(), Unmarked(self.policy), self.pulls)[1]
            claim_same(plain, compiled, "a decision that is not marked @kernel decides the same, only later")

    # -- what it keeps ----------------------------------------------------------------------------------------

    def test_every_pull_can_be_set_on_the_dial(self) -> None:
        world, problem = self.place()
        last = problem.safe_level.copy()
        keeps = self.policy.guarantee(problem).keeps_limits
        for pull in driven(world, problem, self.policy, self.pulls)[1]:
            highest = float(problem.max_level[pull.arm])
            claim(pull.level <= highest, "no pull is above the top of its dial", pull)
            claim(not problem.level_grid or pull.level in problem.level_grid, "a level is a setting of the dial", pull)
            if keeps and problem.max_step is not None:
                step = max(pull.level - last[pull.arm], 0.0)
                claim(step <= problem.max_step * STEP_ROUNDING, "no level rises by more than max_step", pull)
            last[pull.arm] = pull.level

    def test_no_pull_is_above_the_level_certified_for_it(self) -> None:
        world, problem = self.place()
        if not self.policy.guarantee(problem).keeps_limits:
            return
        with quietly():
            certified = Certified(self.policy, problem)

        def look(session: Session) -> None:
            highest = certified.levels(session.ledger.learner)
            if session.stopped:
                return
            pull = session.ask()
            known = problem.safe_level[pull.arm]
            claim(pull.level <= max(session.levels[pull.arm], known), "no pull is above the certified level", pull)
            claim(pull.level <= highest[pull.arm] + ROUNDING, "what is certified follows from the sets", pull)
            claim(pull.margin >= 0.0, "a certified pull has a margin of at least 0", pull)

        session, _ = driven(world, problem, self.policy, self.pulls, look)
        if session.outcome == "certified":
            claim(session.recommendation is not None, "a certified answer is certified safe")

    def test_several_pulls_may_be_open(self) -> None:
        ordered, reversed_ = (self.in_batches(backwards) for backwards in (False, True))
        claim_same(reversed_[0], ordered[0], "what is asked does not depend on the order in which results came")
        claim_same(reversed_[1], ordered[1], "what is learned does not depend on the order in which results came")

    def test_a_study_can_be_replayed_and_its_audit_is_clean(self) -> None:
        world, problem = self.place()
        name = f"contract-{uuid4()}"
        with quietly():
            study = create_study(problem, self.policy, name=name, storage="memory", seed=SEED, max_pulls=self.pulls)
            try:
                while not study.stopped:
                    for pull in reversed(study.ask(3)):
                        study.tell(pull, **world.measure(pull, seed=SEED, problem=problem))
                again = load_study(name, "memory", policy=self.policy)
                claim(again.audit().clean, "a study's decisions are the same when recomputed", again.audit().statement)
                claim_same(again.status(), study.status(), "a study that is opened again stands where it stood")
            finally:
                delete_study(name, "memory")

    def test_a_spent_budget_ends_undecided(self) -> None:
        session, _ = driven(*self.place(), self.policy, 3)
        if session.outcome not in ("certified", "measured"):
            claim_same(session.outcome, "undecided", "a spent budget ends undecided")
            claim_same(session.recommendation, None, "without certainty there is no recommendation")
        with refused(Finished, "an experiment that has ended gives no pull"):
            session.ask()

    def test_what_it_promises_holds_in_simulation(self) -> None:
        _, problem = self.place()
        guarantee, runs = self.policy.guarantee(problem), self.simulated(self.runs, self.most)
        claim("breakdown" not in runs.outcomes, "the numbers never break down")
        certified = runs.outcome == CERTIFIED
        claim((runs.gap[certified] <= problem.epsilon).all(), "certainty means a gap of at most epsilon")
        if guarantee.kind in VALUE:
            broken, allowed = int(runs.broken_promise.sum()), 1.0 - guarantee.confidence
            claim_rate(broken, len(runs), allowed, "answers are as good as promised")
        if guarantee.safety is not None:
            unsafe = int(((runs.unsafe_pulls > 0) | runs.answer_unsafe).sum())
            claim_rate(unsafe, len(runs), 1.0 - guarantee.safety, "pulls and answers are as safe as promised")

    # -- within -----------------------------------------------------------------------------------------------

    def place(self) -> tuple[World, Problem]:
        """The world and the problem that the policy is held to its promises in."""
        if self.world is None:
            return arena()
        return self.world, self.problem or self.world.default_problem()

    def simulated(self, runs: int, most: int, **more: Any) -> Runs:
        """So many runs."""
        world, problem = self.place()
        with quietly():
            return simulate(world, problem, self.policy, runs=runs, seed=SEED, max_pulls=most, **more)

    def in_batches(self, backwards: bool) -> tuple[list[Any], Any]:
        """The pulls of a session of four at once, whose results come in order or backwards, and where it ends."""
        world, problem = self.place()
        asked, keeps = [], self.policy.guarantee(problem).keeps_limits
        with quietly():
            session = Session(problem, self.policy, seed=SEED, max_pulls=self.pulls, alarm_level=None)
            while not session.stopped:
                batch = session.ask(4)
                for pull in batch if keeps else ():
                    claim(pull.level <= max(session.levels[pull.arm], problem.safe_level[pull.arm]),
                          "beside open pulls no level is above what told results certify", pull)  # fmt: skip
                for pull in reversed(batch) if backwards else batch:
                    session.tell(pull, **world.measure(pull, seed=SEED, problem=problem))
                asked += batch
        return asked, session.status()


class Unmarked:
    """A policy whose decision has lost its mark, so that it runs in the interpreter."""

    def __init__(self, policy: Policy) -> None:
        self.name, self.version, self.guarantee = policy.name, policy.version, policy.guarantee
        self._policy = policy

    def plan(self, problem: Problem) -> Plan:
        """The policy's, with an unmarked copy of its decision."""
        plan = self._policy.plan(problem)
        decide = with_globals(plan.decide, {})
        delattr(decide, MARK)
        return plan._replace(decide=decide)
