"""Confidence sets: how far an estimate can be from the truth, for all rounds at once.

ellipsoid    around the estimate: the paper's radii and the squared-sum one        (E3-E5, C1)
bias_free    around least squares, with no bound on the weights in it              (C2)
own_pulls    what an arm's own pulls say of its safety                             (C4)
directional  the ellipsoid, cut by half-spaces aimed at each question              (C5, C6)

Each file holds one set: Params, Memory, begin, learn, refresh, bound_safety, bound_leads, and a function that makes it
for a problem. `protocol` says what a set is, `linked` makes one of several, `boundaries` and `mixtures` hold the
one-dimensional mixtures that some of them use (C3, C7).
"""

from surefoot.sets.linked import linked
from surefoot.sets.protocol import ConfidenceSet

__all__ = ["ConfidenceSet", "linked"]
