"""What every policy does on every world of the gallery, pull by pull, as digests.

    python tests/parity/traces.py --record tests/parity/recorded_traces.json

records them anew, from whichever surefoot is imported. A change that means to change nothing must leave them as they
are; one that means to change what a policy does must say so, and record them anew.

A trace is one line: the number of pulls, how it ended, then digests. The first is of the choices alone: arms, phases,
leaders, challengers, and levels to five digits. The others, after some of the pulls and at the end, are of every bit.
All are the same on every machine whose logarithm and exponential have the same last digits, see `arithmetic`.
"""

import argparse
import hashlib
import json
import math
import os
import random
import warnings
from collections.abc import Collection, Iterator
from dataclasses import replace
from math import nan
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import surefoot as sf

BIAS_FREE = "bias-free"  # the word for the bias-free radius
MARKS = (1, 8, 64)  # pulls after which the digest of all bits so far is noted
OPEN_AT_ONCE = 4


class Size(NamedTuple):
    """How long the traces are."""

    seeds: tuple[int, ...]
    rounds: int  # of a session; half of it where several pulls are open
    rounds_if_many: int  # the same, for more than ten arms
    simulated: int
    simulated_if_many: int
    runs: int
    crowd: bool  # with the scene of many arms


SIZES = {
    "long": Size(
        (0, 1), 800, 800, 12_000, 12_000, runs=12, crowd=True
    ),  # estimates are computed afresh at round 10,000
    "short": Size((1,), 60, 24, 40, 0, runs=6, crowd=False),  # an interpreter's patience
}


def policies() -> dict[str, Any]:
    """Every policy, and between them every option."""
    hopeful: dict[str, Any] = {"selection": "optimistic"}
    return {
        "safe-gap": sf.SafeGap(),
        "safe-lingape": sf.SafeLinGapE(),
        "safe-lingape explored": sf.SafeLinGapE(explore=sf.UniformRandom(40)),
        "safe-lingape static": sf.SafeLinGapE(levels="static", explore=sf.RoundRobin(40)),
        "safe-lingape e-optimal": sf.SafeLinGapE(explore=sf.EOptimal(30), pull="rounding-finite"),
        "safe-lingape optimistic": sf.SafeLinGapE(
            **hopeful, levels="dynamic-max", null_pull=True, safety_radius="determinant"
        ),
        "safe-lingape rounding": sf.SafeLinGapE(**hopeful, pull="rounding", explore=sf.UntilConfident(rounds=30)),
        "safe-lingape squared": sf.SafeLinGapE(**hopeful, reward_radius="squared-sum", safety_radius="squared-sum"),
        "safe-lingape bias-free": sf.SafeLinGapE(**hopeful, reward_radius=BIAS_FREE, safety_radius=BIAS_FREE),
        "safe-lingape own-pulls": sf.SafeLinGapE(**hopeful, reward_radius="squared-sum", safety_radius="own-pulls"),
        "lingape": sf.LinGapE(),
        "lingape rounding": sf.LinGapE(pull="rounding", radius="norm"),
        "lingape bias-free": sf.LinGapE(radius=BIAS_FREE, explore=sf.UniformRandom(20)),
        "uniform": sf.Uniform(**hopeful, null_pull=True),
    }


DIAL, CROWD = " on a dial", " of 100 arms"
SCENES = (*sf.worlds.WORLDS, "hard" + DIAL, "base-station" + DIAL, "sphere" + CROWD)


def scene(name: str) -> tuple[sf.worlds.Linear, sf.Problem]:
    """A world of the gallery with its own problem; on a dial: with steps, and levels from a grid.

    Its numbers are rounded, so that every sum of products is exact and no linear algebra can round it otherwise.
    """
    crowd = {"arms": 100, "dim": 8} if name.endswith(CROWD) else {}
    drawn = sf.worlds.make(name.removesuffix(DIAL).removesuffix(CROWD), **crowd)
    given = drawn.default_problem()
    problem = given.with_(
        arms=short(given.arms), names=given.names, safe_level=short(given.safe_level),
        reward=replace(given.reward, norm=float(short(given.reward.norm))),
        safety=[replace(limit, norm=float(short(limit.norm))) for limit in given.safety],
        epsilon=float(short(given.epsilon)),
    )  # fmt: skip
    if name.endswith(DIAL):
        grid = sorted({float(problem.safe_level.min()), 0.3, 0.45, 0.6, 0.8, 1.0})
        problem = problem.with_(level_grid=grid, max_step=0.35, max_level=0.9)
    signs = np.array([[limit.sign] for limit in problem.safety])
    theta, mu = short(drawn.theta_star), short(drawn.mu_star) * signs
    return sf.worlds.Linear.for_problem(problem, theta_star=theta, mu_star=mu, name=name), problem


def short(numbers: Any) -> Any:
    """The numbers rounded to a few binary digits."""
    return np.round(np.asarray(numbers) * 1024.0) / 1024.0


def told(world: sf.worlds.Linear, problem: sf.Problem, pull: sf.Pull, seed: int) -> dict[str, Any]:
    """What the pull returns, as `tell` takes it."""
    return {**world.measure(pull, seed=seed, problem=problem)}


# -- digests ----------------------------------------------------------------------------------------------------------


def bits(*numbers: Any) -> bytes:
    """The numbers as bytes, whatever type they have; zero has one sign."""
    return b"".join((np.asarray(each, np.float64) + 0.0).tobytes() for each in numbers)


class Digests:
    """The digests of a trace while it grows."""

    def __init__(self) -> None:
        self.choices, self.bits = hashlib.sha256(), hashlib.sha256()
        self.marks: list[str] = []

    def note(self, session: sf.Session, pull: sf.Pull) -> None:
        """Takes in a pull that was asked for, and where the session stood."""
        choice = (int(pull.number), int(pull.arm), pull.phase, pull.leader, pull.challenger, f"{pull.level:.5f}")
        self.choices.update(repr(choice).encode())
        gap = nan if pull.gap is None else pull.gap
        self.bits.update(repr(choice).encode() + bits(pull.level, pull.margin, gap))
        self.bits.update(bits(session.levels, session.levels_high, session.estimates))
        if pull.number in MARKS:
            self.marks.append(self.bits.hexdigest()[:3])

    def line(self, pulls: int, outcome: str) -> str:
        """The whole trace in one line."""
        ends = self.choices.hexdigest()[:8], *self.marks, self.bits.hexdigest()[:10]
        return " ".join([str(pulls), outcome, *ends])

    def closed(self, session: sf.Session) -> str:
        """The line of a session that has ended."""
        found = session.certificate
        answer = (found.arm, found.level, found.gap) if found else (nan, nan, nan)
        self.choices.update(bits(session.pulls_per_arm, answer[0]))
        self.bits.update(bits(session.pulls_per_arm, *answer, session.levels, session.levels_high, session.estimates))
        return self.line(session.pulls, str(session.outcome))


def arithmetic() -> str:
    """A digest of last digits that surefoot takes from numpy and the system: they enter radii and boundaries."""
    points = [0.0137 * k for k in range(1, 100)]
    functions = (math.exp, math.log, math.log1p, math.erf)
    table = [[function(x) for x in points] for function in functions]
    return hashlib.sha256(bits(table, np.log(points))).hexdigest()[:16]


# -- three ways through an experiment ---------------------------------------------------------------------------------


def one_by_one(world: sf.worlds.Linear, problem: sf.Problem, policy: Any, seed: int, rounds: int) -> str:
    """A session that is told each pull before it is asked for the next."""
    session, digests = sf.Session(problem, policy, seed=seed, max_pulls=rounds, alarm_level=None), Digests()
    while not session.stopped:
        pull = session.ask()
        digests.note(session, pull)
        session.tell(pull, **told(world, problem, pull, seed))
    return digests.closed(session)


def several_open(world: sf.worlds.Linear, problem: sf.Problem, policy: Any, seed: int, rounds: int) -> str:
    """A session that has several pulls open and is told them in any order, some applied at a lower level."""
    session, digests = sf.Session(problem, policy, seed=seed, max_pulls=rounds, alarm_level=None), Digests()
    chance, waiting = random.Random(seed), list[sf.Pull]()
    while not session.stopped:
        if len(waiting) < OPEN_AT_ONCE and len(waiting) + session.pulls < rounds:
            for pull in asked(session, chance.randrange(1, OPEN_AT_ONCE)):
                digests.note(session, pull)
                waiting.append(pull)
        pull = waiting.pop(chance.randrange(len(waiting)))
        applied = replace(pull, level=pull.level * chance.choice([1.0, 1.0, 1.0, 0.75]))
        session.tell(pull, **told(world, problem, applied, seed), level=applied.level)
    return digests.closed(session)


def asked(session: sf.Session, wanted: int) -> list[sf.Pull]:
    """So many new pulls, or none where results that wait for an earlier one use up the budget."""
    try:
        return session.ask(wanted)
    except sf.errors.BudgetOpen:
        return []


def simulated(world: sf.worlds.Linear, problem: sf.Problem, policy: Any, seed: int, rounds: int, runs: int) -> str:
    """The records of a few simulated runs."""
    found = sf.simulate(world, problem, policy, runs=runs, seed=seed, max_pulls=rounds, workers=1)
    digests, outcomes = Digests(), found.outcomes
    choices = repr(outcomes).encode() + bits(
        found.pulls, found.arm, found.pulls_per_arm, found.unsafe_pulls, found.first_unsafe, found.wrong,
        found.broken_promise,
    )  # fmt: skip
    digests.choices.update(choices)
    digests.bits.update(choices + bits(found.level, found.gap, found.levels, found.suboptimality))
    return digests.line(int(found.pulls.sum()), "/".join(sorted(set(outcomes))))


# -- the record -------------------------------------------------------------------------------------------------------


WAYS = ("one by one", "several open", "simulated")


def traces_of(name: str, size: Size, only: Collection[str] | None = None) -> Iterator[tuple[str, list[str]]]:
    """For each policy (or only these) and seed, what was done in the scene of this name, in each of the WAYS."""
    world, problem = scene(name)
    many = world.size > 10
    rounds = size.rounds_if_many if many else size.rounds
    runs = size.simulated_if_many if many else size.simulated
    for label, policy in policies().items():
        if only is not None and label not in only:
            continue
        if "e-optimal" in label and name.startswith("base-station"):
            continue  # alike arms have several optimal designs, and numpy's last digit says which is found
        for seed in size.seeds:
            found = [
                one_by_one(world, problem, policy, seed, rounds),
                several_open(world, problem, policy, seed, rounds // 2),
            ]
            if runs:
                found.append(simulated(world, problem, policy, seed, runs, size.runs))
            yield f"{label}, seed {seed}", found


def all_traces(size: Size) -> dict[str, dict[str, list[str]]]:
    """The traces of every scene."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sf.errors.NeverStopsWarning)
        return {name: dict(traces_of(name, size)) for name in SCENES if size.crowd or not name.endswith(CROWD)}


def write(path: Path, record: dict[str, Any]) -> None:
    """The record as JSON, each policy and seed on a line."""
    lines = json.dumps(record, indent=1, sort_keys=True).replace("\n    ", " ").replace("\n   ]", " ]")
    path.write_text(lines + "\n")


def main() -> None:
    """Records, or prints the short traces for whoever compares."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", type=Path, metavar="FILE")
    chosen = parser.parse_args().record
    if chosen is None:
        print(json.dumps(all_traces(SIZES["short"])))
    elif os.environ.get("SUREFOOT_INTERPRET", "") not in ("", "0"):
        parser.error("record with compiled code: leave SUREFOOT_INTERPRET out")
    else:
        write(chosen, {"arithmetic": arithmetic(), **{name: all_traces(size) for name, size in SIZES.items()}})


if __name__ == "__main__":
    main()
