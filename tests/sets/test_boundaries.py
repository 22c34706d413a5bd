"""The height of a boundary as the core computes it, against the one that was planned."""

from math import log1p, sqrt
from typing import Any

import numpy as np
import pytest

from surefoot.sets.boundaries import boundary_in, growth, height, height_in
from surefoot.sets.mixtures import boundary as planned

SHAPES = [(0.05, 1.0, 0.0, 1.0), (0.001, 0.1, 0.0, 3.0), (0.01, 2.0, 0.3, 0.15), (0.2, 0.5, 1.0, 4.0)]
INFORMATION = [0.0, 0.1, 1.0, 30.0, 1e4]


def test_the_core_computes_the_planned_height(form: Any) -> None:
    table, core = np.array([planned(*shape) for shape in SHAPES]), form(height_in)
    for row, (_, R, _, _) in enumerate(SHAPES):
        for information in INFORMATION:
            rho, constant, offset = table[row]
            wanted = R * sqrt((information + rho) * (log1p(information / rho) + constant)) - offset
            assert core(table, row, R, information) == pytest.approx(wanted, rel=1e-13, abs=1e-13)


def test_boundaries_of_one_rho_share_their_logarithm() -> None:
    table = np.array([[2.0, 5.0, 0.1], [2.0, 9.0, 0.7]])
    for information in INFORMATION:
        logarithm = growth(table[0, 0], information)
        assert logarithm == growth(table[1, 0], information)
        for row in (0, 1):
            found = height(boundary_in(table, row), 0.3, information, logarithm)
            assert found == height_in(table, row, 0.3, information)
