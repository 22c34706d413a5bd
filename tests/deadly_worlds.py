"""Worlds that kill the process they are simulated in: what a worker that is lost in the middle of its work looks like.

Here and not in a test file, because the workers of a cluster have to import it.
"""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from surefoot.core.parts import Response
from surefoot.problem import Problem
from surefoot.worlds import Hard, hard


class Deadly(Hard):
    """The paper's instance; processes other than the one that made it die of it, as often as there are lives."""

    lives: Path
    home: int

    @classmethod
    def taking(cls, lives: Path, count: int) -> Self:
        """The world, and so many files in the folder `lives`, one of which goes with every process."""
        lives.mkdir(exist_ok=True)
        for number in range(count):
            (lives / str(number)).touch()
        papers = hard()
        world = cls(papers.arms, theta_star=papers.theta_star, mu_star=papers.mu_star, name="deadly")
        return world._set(lives=lives, home=os.getpid())

    def default_problem(self) -> Problem:
        """The paper's, with errors that are soon reached."""
        return self.paper_problem(epsilon=0.4, delta=0.05, delta_safety=0.05)

    def response(self) -> Response:
        """As ever, unless a life is left."""
        if os.getpid() != self.home:
            for life in list(self.lives.iterdir()):
                with suppress(FileNotFoundError):  # another process took it at the same moment
                    life.unlink()
                    time.sleep(0.3)  # who dies while it starts is not replaced by Dask
                    os.kill(os.getpid(), signal.SIGKILL)
        return super().response()


def alive(world: Any) -> int:
    """How many lives are left."""
    return len(list(world.lives.iterdir()))
