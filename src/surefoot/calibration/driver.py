"""Pilot rows held against what a problem states."""

from __future__ import annotations

import numpy as np

from surefoot.calibration import bounds
from surefoot.calibration.findings import (
    FIT,
    REPEATS,
    Between,
    Bounded,
    Calibration,
    Noise,
    Signal,
    Sizes,
)
from surefoot.calibration.fits import Added, Fit, Law, Pilot, added, by_arms, by_cells, by_features
from surefoot.calibration.reading import grain_of, unseen_in, warnings_in
from surefoot.errors import InvalidInput
from surefoot.planning.pilot import pilot_rows
from surefoot.problem import Limit, Problem, Reward
from surefoot.problem.checks import Floats, number
from surefoot.problem.pilots import mark_of

SHARE = 0.25  # of the smaller of delta and delta_safety: what the bounds may spend where nobody says otherwise
ENOUGH = 0.5  # of the fit's degrees of freedom: so many repeats are taken alone, as they need no law
NOTHING = 1e-12  # a level below which nothing is applied: its square would be lost
SURE = "Give the confidence with which all bounds on noise are to hold, for example 0.975."


def calibrate(problem: Problem, rows: object, *, confidence: float | None = None) -> Calibration:
    """What pilot trials say about the noise, the straightness and the size of each signal, beside what is stated.

    rows        a data frame, a mapping of columns, a list of rows, or the path of a CSV file: arm, level (or setting,
                in the unit of the dial), reward, and safety or safety_NAME
    confidence  with which all bounds on noise hold together. What is missing to 1 is spent: whoever states the bounds
                runs, on fresh rows, with delta and delta_safety that are smaller by so much. Left out, it is a quarter
                of the smaller of them

    The settings must not have been chosen, nor the pilot ended, because of its results. The rows are not data of the
    experiment that follows.
    """
    if not isinstance(problem, Problem):
        raise InvalidInput("problem", problem, "must be a Problem", "Read one with sf.Problem.load('problem.toml').")
    if confidence is None:
        risk = SHARE * bounds.least_delta(problem)
    else:
        risk = float(f"{1.0 - number('confidence', confidence, SURE, at_least=0.5, below=1.0):.12g}")
    taken = pilot_rows(problem, rows, "rows")
    arm = np.array([row.arm for row in taken], dtype=np.intp)
    levels = np.array([0.0 if row.level < NOTHING else row.level for row in taken])
    pilot = Pilot(arm, levels, problem.features[arm])
    readings = np.array([[row.reward, *row.readings] for row in taken])
    stated: list[Reward | Limit] = [problem.reward, *problem.safety]
    each_risk = risk / len(stated)
    found = [
        signal(problem, pilot, place, each, readings[:, place], each_risk) for place, each in enumerate(stated)
    ]  # fmt: skip
    return Calibration(
        problem=problem, rows=len(taken), risk=risk, signals=tuple(found),
        warnings=tuple(warnings_in(problem, pilot, readings)), unseen=tuple(unseen_in(problem, pilot)),
        pilot=pilot, readings=readings,
        mark=mark_of([(problem.names[row.arm], row.level, row.reward, row.readings) for row in taken]),
    )  # fmt: skip


def signal(
    problem: Problem, pilot: Pilot, place: int, stated: Reward | Limit, readings: Floats, risk: float
) -> Signal:  # fmt: skip
    """What the rows say of one signal; `risk` is that of each of its bounds."""
    baseline = 0.0 if isinstance(stated, Reward) else stated.baseline
    effects = readings - baseline
    law, arms, cells = by_features(pilot, effects), by_arms(pilot, effects), by_cells(pilot, effects)
    noise = noise_of(law, cells, risk)
    slopes = arms.fitted * pilot.level  # levels squared times the slope of the arm
    most = float(np.abs(np.divide(arms.fitted, pilot.level, out=np.zeros(pilot.rows), where=pilot.level > 0)).max())
    sizes = bounds.same_size(pilot, cells)
    return Signal(
        name="reward" if isinstance(stated, Reward) else stated.name,
        unit=stated.unit,
        stated=stated.law,
        baseline=baseline,
        noise=noise,
        sizes=None if sizes is None else Sizes(*sizes),
        levels=bounds.p_value(arms, cells, cells),
        arms=bounds.p_value(law.fit, arms, error_beside(arms, cells)),
        offset=between(added(pilot, effects, np.ones(pilot.rows)), risk),
        bend=None if most == 0.0 else between(added(pilot, effects, slopes / most), risk),
        within=figure(bounds.deviation(pilot, law, cells, risk)),
        largest=figure(bounds.largest_effects(law, problem.features, risk)),
        grain=grain_of(readings, noise),
    )


def noise_of(law: Law, cells: Fit, risk: float) -> Noise | None:
    """The noise by repeats where there are enough of them, which is decided by the settings alone, or by the fit."""
    repeats = cells.freedom >= max(1.0, ENOUGH * law.fit.freedom)
    fit, by = (cells, REPEATS) if repeats else (law.fit, FIT)
    if fit.freedom < 1 or fit.squares <= 0.0:
        return None
    return Noise(
        estimate=float(np.sqrt(fit.squares / fit.freedom)),
        at_least=bounds.noise_at_least(fit.squares, fit.freedom, risk),
        at_most=bounds.noise_at_most(fit.squares, fit.freedom, risk),
        freedom=fit.freedom,
        by=by,
    )


def error_beside(arms: Fit, cells: Fit) -> Fit:
    """By what arms are tested: repeats where there are any, else what a slope for each arm leaves."""
    return cells if cells.freedom >= 1 and cells.squares > 0.0 else arms


def between(found: Added | None, risk: float) -> Between | None:
    """The coefficient with Student's interval."""
    if found is None:
        return None
    half = bounds.students(found.freedom, risk) * found.error
    return Between(found.coefficient, found.coefficient - half, found.coefficient + half)


def figure(found: tuple[float, float] | None) -> Bounded | None:
    """The pair by its names."""
    return None if found is None else Bounded(*found)
