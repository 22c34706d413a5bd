"""What simulations ask of a world."""

from typing import Any, NamedTuple

import numpy as np

from surefoot.core.kernel import plain
from surefoot.errors import InvalidInput
from surefoot.live.session import Session
from surefoot.problem import Problem
from surefoot.problem.checks import Floats
from surefoot.problem.norms import noise_sizes
from surefoot.simulation import simulate
from surefoot.testing.claims import claim, claim_same, refused
from surefoot.testing.driving import SEED, quietly
from surefoot.worlds import World, check_world

LEVELS = np.linspace(0.0, 1.0, 41)
FAR = 5.0  # standard errors between a mean and the average of its measurements: never, by chance


class Applied(NamedTuple):
    """A pull, as little as a world needs of it."""

    arm: int
    level: float
    number: int


class WorldContract:
    """Name the world in a subclass, and a problem that is posed in it unless it has a `default_problem()`."""

    world: Any
    problem: Any = None
    policy: Any = None  # the default one, where None
    pulls: int = 30
    samples: int = 400  # measurements that are averaged

    def test_it_has_what_a_world_has(self) -> None:
        check_world(self.world)
        claim(isinstance(self.world, World), "a world fulfils surefoot.worlds.World", self.world)
        claim(isinstance(self.world.name, str) and self.world.name, "a world has a name", self.world.name)
        response = self.world.response()
        claim_same(response.signals, 1 + len(self.posed().safety), "it answers for the reward and each limit")

    def test_a_problem_that_is_not_posed_in_it_is_refused(self) -> None:
        problem = self.posed()
        self.world.matches(problem)
        with quietly():
            other = problem.with_(arms=1.5 * problem.arms)
        with refused(InvalidInput, "a problem with other arms is refused"):
            self.world.matches(other)

    # -- what it measures -------------------------------------------------------------------------------------

    def test_a_measurement_has_an_address(self) -> None:
        pulls = [Applied(0, 0.2, number) for number in (3, 1, 2, 3)]
        first, *_, again = [self.measured(pull) for pull in pulls]
        claim_same(again, first, "the same pull, seed and run give the same numbers, whatever was measured between")
        others = [self.measured(pulls[1]), self.measured(pulls[0], SEED + 1), self.measured(pulls[0], run=1)]
        claim(first not in others, "another number, seed or run gives other noise", first)

    def test_a_measurement_is_what_tell_takes(self) -> None:
        with quietly():
            session = Session(self.posed(), self.policy, seed=SEED, alarm_level=None)
        pull = session.ask()
        found = self.measured(pull)
        claim_same(sorted(found), ["reward", "safety"], "a measurement has a reward and safety")
        claim_same(len(found["safety"]), len(session.problem.safety), "safety has a reading for each limit")
        session.tell(pull, **found)
        claim_same(session.pulls, 1, "a session takes it")

    def test_the_simulator_draws_what_is_measured(self) -> None:
        problem, response = self.posed(), self.world.response()
        respond, out = plain(response.respond, {}), np.zeros(response.signals)
        for run in (0, 3):
            for number in range(1, self.pulls):
                pull = Applied(number % problem.size, 0.1 + 0.9 / number, number)
                respond(response.truth, response.room, SEED, run, number, pull.arm, pull.level, out)
                drawn = [limit.reading(x) for limit, x in zip(problem.safety, out[1:].tolist(), strict=True)]
                expected = {"reward": float(out[0]), "safety": drawn}
                claim_same(self.measured(pull, run=run), expected, "the simulator draws what is measured, bit for bit")

    def test_simulated_runs_are_the_same_again(self) -> None:
        with quietly():
            runs = [simulate(self.world, self.posed(), self.policy, runs=4, seed=SEED, workers=w, max_pulls=self.pulls)
                    for w in (1, 2)]  # fmt: skip
        claim_same(runs[0].gap.tolist(), runs[1].gap.tolist(), "runs do not depend on the number of workers")

    # -- what is true in it -----------------------------------------------------------------------------------

    def test_measurements_average_to_what_the_judge_says(self) -> None:
        problem = self.posed()
        judge, size = self.world.judge(problem), noise_sizes(problem)
        for arm in range(min(problem.size, 4)):
            level = float(problem.safe_level[arm])
            found = [self.measured(Applied(arm, level, 1), run=run) for run in range(self.samples)]
            signals = [[each["reward"], *internal(problem, each["safety"])] for each in found]
            off = np.mean(signals, axis=0) - judge.means(arm, level)
            claim((np.abs(off) <= FAR * size / np.sqrt(self.samples)).all(),
                  "measurements average to the judge's means, with noise as the problem states it", off)  # fmt: skip

    def test_the_judges_best_is_safe_and_nothing_safe_is_better(self) -> None:
        problem = self.posed()
        judge = self.world.judge(problem)
        claim(judge.is_safe(judge.best_arm, judge.best_level), "the best answer is safe", judge)
        claim(not judge.is_wrong(judge.best_arm, judge.best_level), "the best answer is not wrong", judge)
        arms, levels = np.meshgrid(np.arange(problem.size), settings(problem), indexing="ij")
        allowed = judge.is_safe(arms, levels) & (levels <= problem.max_level[:, np.newaxis])
        better = judge.value(arms, levels) - judge.best_value
        slack = 1e-3 * max(1.0, abs(judge.best_value))  # best by a search
        claim(not (allowed & (better > slack)).any(), "no safe pull is better than the best", judge.best_value)
        claim(judge.best_without_limits >= judge.best_value - slack, "limits never make the best better", judge)

    def test_the_simulator_and_the_judge_agree_about_what_is_unsafe(self) -> None:
        problem, response = self.posed(), self.world.response()
        judge, crosses = self.world.judge(problem), plain(response.crosses, {})
        for arm in range(problem.size):
            for level in LEVELS.tolist():
                crossed, safe = bool(crosses(response.truth, arm, level)), bool(judge.is_safe(arm, level))
                claim(crossed != safe, "simulator and judge agree about what crosses a limit", (arm, level))

    def test_every_arm_is_truly_safe_at_its_known_level(self) -> None:
        problem = self.posed()
        safe = self.world.judge(problem).is_safe(np.arange(problem.size), problem.safe_level)
        claim(np.all(safe), "every arm is truly safe at the level that the problem says is known", safe)

    # -- within -----------------------------------------------------------------------------------------------

    def posed(self) -> Problem:
        """The problem that is posed."""
        problem: Problem = self.problem or self.world.default_problem()
        return problem

    def measured(self, pull: Any, seed: int = SEED, run: int = 0) -> Any:
        """What the world answers."""
        return self.world.measure(pull, seed, run=run, problem=self.posed())


def settings(problem: Problem) -> Floats:
    """Levels that the dial of the problem has."""
    return np.array(problem.level_grid) if problem.level_grid else LEVELS


def internal(problem: Problem, readings: Any) -> list[float]:
    """The readings as the core sees them."""
    return [float(limit.internal(reading)) for limit, reading in zip(problem.safety, readings, strict=True)]
