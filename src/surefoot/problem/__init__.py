"""What the user states: options with features, a reward, limits, and how certain the answer must be."""

from surefoot.problem.dial import Dial
from surefoot.problem.limits import Limit, Reward
from surefoot.problem.problem import Problem

__all__ = ["Dial", "Limit", "Problem", "Reward"]
