"""What the user states: options with features, a reward, limits, and how certain the answer must be."""

from surefoot.problem.dial import Dial
from surefoot.problem.limits import Limit, Reward
from surefoot.problem.marked_arms import Arm
from surefoot.problem.problem import Problem

__all__ = ["Arm", "Dial", "Limit", "Problem", "Reward"]
