"""The paper's experiments, run many times and held beside what is printed: what `surefoot reproduce` does.

paper         what the paper states and prints
cells         one setting of world, problem and policy, to be run many times
protocols     Table 1 under every reading of what the paper leaves open
curves        the four figures: which settings, and their curves
resampling    the distribution of a mean of ten runs, and where a printed number lies in it
plans         what is asked for
driver        from what is asked for to files, through a sweep
findings      what the runs say, as numbers; conclusions: in sentences; report: on a page
"""

from surefoot.reproduction.driver import Reproduction, reproduce
from surefoot.reproduction.plans import EXPERIMENTS

__all__ = ["EXPERIMENTS", "Reproduction", "reproduce"]
