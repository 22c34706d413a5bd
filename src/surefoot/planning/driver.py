"""A plan of an experiment before its first trial: worlds that the problem allows, drawn and played."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from surefoot.errors import InvalidInput
from surefoot.planning.pilot import drawn_like, pilot_in, posteriors
from surefoot.planning.playing import Played, Setting, allowed, check_allowed, played
from surefoot.planning.prospects import Cell, Plan, Prospect, Saving
from surefoot.planning.scenarios import MIDDLE, SCENARIOS, Truth, drawn, in_words, space_of
from surefoot.planning.variations import Variation, grid, variations
from surefoot.policies import Policy, check_policy
from surefoot.problem import Problem
from surefoot.problem.checks import Floats, check_count, check_seed, check_workers
from surefoot.problem.knowable import last_gap
from surefoot.problem.norms import is_nearly_linear
from surefoot.progress import one_bar

RUNS, BUDGET = 100, 10_000
FEWEST = 10  # worlds by which a saving is judged


def plan(
    problem: Problem,
    policy: Policy | None = None,
    *,
    runs: int = RUNS,
    budget: int = BUDGET,
    like: object = None,
    seed: int = 0,
    workers: int | None = None,
    progress: bool = False,
) -> Plan:
    """How many trials an experiment may take, before the first one, and which statement costs most.

    Nobody knows the truth yet. So truths are drawn that the problem allows (every known level is safe there, and no
    norm or largest effect is exceeded) in scenarios from kind to harsh, `runs` of each, and the policy meets each of
    them once, for `budget` trials at most. How they are drawn is said in the plan. Every variation of the problem meets
    the same worlds and the same noise, so that the savings are sharp.

    With `like`, pilot results as a table or the path of a CSV file (arm, level, reward, and safety or safety_NAME),
    truths are drawn from what these leave likely. They are not counted as data of the experiment.
    """
    if not isinstance(problem, Problem):
        raise InvalidInput("problem", problem, "must be a Problem", "Read one with sf.Problem.load('problem.toml').")
    policy, runs, budget = check_policy(policy), check_count("runs", runs), check_count("budget", budget)
    seed, workers = check_seed(seed), check_workers(workers)
    policy.plan(problem)  # what it asks of a problem is missed before anything is drawn
    pilot = None if like is None else pilot_in(problem, like)
    space = space_of(problem)
    truths: dict[str, list[Truth]] = {}
    for scenario in SCENARIOS:
        if pilot is None:
            truths[scenario] = [drawn(problem, space, scenario, seed, number) for number in range(runs)]
        else:
            found = posteriors(problem, space, scenario, seed, pilot)
            truths[scenario] = [drawn_like(problem, space, scenario, found, seed, number) for number in range(runs)]
        check_allowed(problem, truths[scenario])
    cells, better = grid(problem), list(variations(problem))
    total = runs * (len(SCENARIOS) + sum(map(len, cells)) - 1 + len(better))
    with one_bar(progress, f"worlds met by {policy.name}", total) as advance:
        setting = Setting(policy, seed, budget, workers, advance)
        met = {name: played(setting, problem, truths[name], range(runs)) for name in SCENARIOS}
        medians = [[cell(setting, each, problem, truths[MIDDLE], met[MIDDLE]) for each in row] for row in cells]
        savings = [saving(setting, each, truths[MIDDLE], met[MIDDLE]) for each in better]
    rows = None if pilot is None else len(pilot.levels)
    prospects = [
        Prospect.of(name, in_words(problem, name, before_rows=pilot is not None), found) for name, found in met.items()
    ]
    ranked = sorted(savings, key=lambda each: -np.inf if each.share is None else each.share, reverse=True)
    return Plan(
        problem, policy, runs, budget, seed, rows, tuple(prospects), tuple(map(tuple, medians)), tuple(ranked),
        floors_of(problem, truths),
    )  # fmt: skip


def floors_of(problem: Problem, truths: Mapping[str, Sequence[Truth]]) -> dict[str, Floats]:
    """By scenario, the gap that is left in the end in each world, where means are only nearly linear.        (W6)"""
    if not is_nearly_linear(problem):
        return {}
    arms = problem.arms
    return {
        name: np.array([last_gap(problem, arms @ truth.reward, truth.limits @ arms.T) for truth in drawn_there])
        for name, drawn_there in truths.items()
    }


def cell(setting: Setting, varied: Problem, problem: Problem, truths: Sequence[Truth], met: Played) -> Cell:
    """The median for this epsilon and delta; those that are stated were played already."""
    stated = (varied.epsilon, varied.delta) == (problem.epsilon, problem.delta)
    found = met if stated else played(setting, varied, truths, range(len(truths)))
    return Cell.of(varied.epsilon, varied.delta, found)


def saving(setting: Setting, varied: Variation, truths: Sequence[Truth], met: Played) -> Saving:
    """What the better statement saves, over the worlds in which it is true."""
    places = [place for place, truth in enumerate(truths) if allowed(varied.problem, truth)]
    named = (varied.statement, varied.now, varied.better, len(places))
    if len(places) < FEWEST:
        setting.advance(len(truths))
        return Saving(*named, None, None, False)
    found = played(setting, varied.problem, [truths[place] for place in places], places)
    setting.advance(len(truths) - len(places))
    before = np.maximum(met.spent[places], 1)
    ratios = np.log(np.maximum(found.spent, 1) / before)
    kept = float(np.exp(ratios.mean()))
    error = kept * float(ratios.std(ddof=1)) / np.sqrt(len(ratios))
    return Saving(*named, 1.0 - kept, error, not bool(met.certain[places].all()))
