"""Planning before the first trial: worlds that the statements allow are drawn, and met by the policy.

It knows truths, as it draws them itself; nothing of a real experiment is known here.
"""

from surefoot.planning.driver import plan
from surefoot.planning.prospects import Cell, Plan, Prospect, Saving

__all__ = ["Cell", "Plan", "Prospect", "Saving", "plan"]
