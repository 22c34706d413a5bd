"""Many settings, many runs, many machines: what `surefoot sweep` and `sf.sweep` do.

cells     one setting of world, problem, policy and budget, named by its content
grids     lists that stand for their values in turn
plans     what is asked for, read from a file or a table, and checked
engines   who does the work: threads, processes, Dask, Ray
store     finished runs in a folder: a killed sweep continues where it was
parquet   how they are written; source: what they depend on; room: whether they fit
work      what is missing is run, and run again when a worker is lost
tables    the cells and their summary; driver: from a plan to a folder
"""

from surefoot.sweeping.cells import Cell
from surefoot.sweeping.driver import Sweep, sweep
from surefoot.sweeping.engines import ENGINES
from surefoot.sweeping.plans import Plan

__all__ = ["ENGINES", "Cell", "Plan", "Sweep", "sweep"]
