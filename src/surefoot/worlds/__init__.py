"""Worlds to simulate in: a truth, its noise, and the problem it poses; and what a world of your own is built from."""

from surefoot.core.parts import Response
from surefoot.worlds.bounded import Bounded
from surefoot.worlds.gallery import WORLDS, Hard, base_station, clusters, doses, hard, limited, make, sphere
from surefoot.worlds.judge import TOLERANCE, Judge, Verdict, judge_of, keeps_limits
from surefoot.worlds.linear import Linear
from surefoot.worlds.measuring import measured
from surefoot.worlds.monotone import Monotone
from surefoot.worlds.nearly_linear import NearlyLinear
from surefoot.worlds.protocol import Measurement, World, check_world
from surefoot.worlds.response import GAUSSIAN, RADEMACHER, UNIFORM, Room, draw_noise, new_room

__all__ = [
    "GAUSSIAN", "RADEMACHER", "TOLERANCE", "UNIFORM", "WORLDS", "Bounded", "Hard", "Judge", "Linear", "Measurement",
    "Monotone", "NearlyLinear", "Response", "Room", "Verdict", "World", "base_station", "check_world", "clusters",
    "doses", "draw_noise", "hard", "judge_of", "keeps_limits", "limited", "make", "measured", "new_room", "sphere",
]  # fmt: skip
