"""A world as an environment of Gymnasium (`surefoot[gymnasium]`), for agents that are written against that interface.

An action is an option and the level at which it is applied. There is no state to move through: an episode is a row of
independent trials, and what is observed are the safety readings of the last one. Nothing keeps an agent from crossing
a limit; `info` says whether it truly did, which only a simulation can know.
"""

from typing import Any, NamedTuple

import numpy as np

from surefoot.errors import MissingExtra
from surefoot.problem import Problem
from surefoot.problem.checks import check_count
from surefoot.worlds.protocol import World, check_world

try:
    import gymnasium
except ImportError as error:
    raise MissingExtra("gymnasium", "gymnasium") from error


class Pulled(NamedTuple):
    """A trial as a world measures it."""

    arm: int
    level: float
    number: int


class WorldEnv(gymnasium.Env[Any, Any]):
    """Trials in a world, so many in an episode. Episode n of a seed has the noise of the simulator's run n."""

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012, as Gymnasium declares it

    def __init__(self, world: World, problem: Problem, *, max_pulls: int = 1000) -> None:
        self.world, self.problem = check_world(world), problem
        self.world.matches(problem)
        self.max_pulls = check_count("max_pulls", max_pulls)
        self.action_space = gymnasium.spaces.Dict(
            {
                "arm": gymnasium.spaces.Discrete(problem.size),
                "level": gymnasium.spaces.Box(0.0, 1.0, (), np.float64),
            }
        )
        limits = len(problem.safety)
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (limits,), np.float64)
        self._judge = self.world.judge(problem)
        self._seed, self._run, self._pulls = 0, -1, 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray[Any, Any], dict[str, Any]]:
        """A new episode, before its first trial: what the signals read with nothing applied."""
        super().reset(seed=seed)
        if seed is not None:
            self._seed, self._run = seed, -1
        self._run, self._pulls = self._run + 1, 0
        return np.array([limit.baseline for limit in self.problem.safety]), {"run": self._run}

    def step(self, action: Any) -> tuple[np.ndarray[Any, Any], float, bool, bool, dict[str, Any]]:
        """The readings, the reward and what is truly safe after one more trial."""
        self._pulls += 1
        pull = Pulled(int(action["arm"]), float(action["level"]), self._pulls)
        found = self.world.measure(pull, self._seed, run=self._run, problem=self.problem)
        info = {
            "name": self.problem.names[pull.arm],
            "unsafe": not bool(self._judge.is_safe(pull.arm, pull.level)),
            "regret": float(self._judge.shortfall(pull.arm, pull.level)),
        }
        readings = np.array(found["safety"], dtype=np.float64)
        return readings, float(found["reward"]), False, self._pulls >= self.max_pulls, info
