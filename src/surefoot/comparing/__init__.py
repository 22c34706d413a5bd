"""Methods side by side on the same worlds and noise: what `surefoot compare` and `sf.compare` do.

asking      policies, worlds and deltas as they are named, and who can face what
matching    the same confidence sets for all that can take them
driver      from what is asked for to runs, through the sweep engine
rows        what one policy did in one world: pulls, errors, seconds, with intervals
comparison  all rows, as a table, a frame and pictures
yardsticks  the lower bound of each world, and the oracle's shares
timing      what a pull costs on one core
drawing     the numbers behind the pictures
report      one page, HTML or Markdown
"""

from surefoot.comparing.comparison import Comparison
from surefoot.comparing.driver import compare

__all__ = ["Comparison", "compare"]
