"""Worlds to simulate in: a truth, its noise, and the problem it poses."""

from surefoot.worlds.gallery import WORLDS, Hard, base_station, clusters, doses, hard, limited, make, sphere
from surefoot.worlds.judge import Judge, Verdict
from surefoot.worlds.linear import Linear
from surefoot.worlds.protocol import Measurement, World, check_world

__all__ = [
    "WORLDS", "Hard", "Judge", "Linear", "Measurement", "Verdict", "World", "base_station", "check_world", "clusters",
    "doses", "hard", "limited", "make", "sphere",
]  # fmt: skip
