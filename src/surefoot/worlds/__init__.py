"""Worlds to simulate in: a truth, its noise, and the problem it poses."""

from surefoot.worlds.gallery import WORLDS, Hard, base_station, clusters, doses, hard, limited, make, sphere
from surefoot.worlds.linear import Linear

__all__ = ["WORLDS", "Hard", "Linear", "base_station", "clusters", "doses", "hard", "limited", "make", "sphere"]
