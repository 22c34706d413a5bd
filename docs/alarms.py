"""Writes the tables of docs/alarms.md: what the alarm finds after how many pulls, and how often it errs.

python docs/alarms.py [RUNS]
"""

import sys
from pathlib import Path

import numpy as np

import surefoot as sf

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))
from misbehaving import BOTH, REWARD, SAFETY, Misbehaving  # noqa: E402

START, END = "<!-- alarms:start -->", "<!-- alarms:end -->"
PAGE = HERE / "alarms.md"
CASES = [
    ("nothing is wrong", "honest", 0.0, BOTH),
    ("reward noise 5 times as stated", "noise", 4.0, REWARD),
    ("safety noise twice as stated", "noise", 1.0, SAFETY),
    ("all noise 1.3 times as stated", "noise", 0.3, BOTH),
    ("effects with the square of the level", "quadratic", 1.0, BOTH),
    ("the same, a third of the way", "quadratic", 0.33, BOTH),
    ("effects that saturate (three times as steep at first)", "saturating", 2.0, BOTH),
    ("no effect below level 0.15", "threshold", 0.15, BOTH),
    ("the last arm off by its noise", "odd arm", 1.0, BOTH),
    ("reward halved at pull 150", "change", 0.5, REWARD),
    ("all effects halved at pull 150", "change", 0.5, BOTH),
    ("all effects doubled over 150 pulls", "drift", 1.0, BOTH),
    ("sensors off by their noise", "offset", 1.0, BOTH),
]
EXPLORING = sf.SafeLinGapE(selection="optimistic", null_pull=True, explore=sf.RoundRobin(200))


def pumps() -> tuple[sf.worlds.Linear, sf.Problem]:
    """The README's first problem."""
    problem = sf.Problem.load(HERE.parent / "examples" / "pumps.toml")
    return sf.worlds.Linear.for_problem(problem, theta_star=[1.5, 0.3], mu_star=[[4.0, 2.0]], name="pumps"), problem


def cell(
    world: sf.worlds.Linear, problem: sf.Problem, policy: object, case: tuple[str, str, float, int], runs: int
) -> str:
    """How many runs rang, and the median of the pulls at which they did."""
    _, kind, strength, which = case
    found = sf.simulate(
        Misbehaving(world, kind, strength, which=which), problem, policy, runs=runs, seed=5, max_pulls=5000, alarm=True
    )  # fmt: skip
    rang = found.pulls[np.array(found.outcomes) == "alarm"]
    percent = 100 * len(rang) / runs
    share = "< 1 %" if 0 < percent < 1 else f"{percent:.0f} %"
    return share if not len(rang) else f"{share}, {np.median(rang):.0f}"


def table(runs: int) -> str:
    """The table of what is found."""
    places = [("pumps", *pumps(), None)]
    for name in ("limited", "hard", "doses", "base_station"):
        world = getattr(sf.worlds, name)()
        places.append((f"`{world.name}`", world, world.default_problem(), None))
    limited, explored = sf.worlds.limited(), "`limited`, 200 pulls of each arm at the known level first"
    places.append((explored, limited, limited.default_problem(), EXPLORING))
    lines = ["| what is wrong | " + " | ".join(place[0] for place in places) + " |", "|---|" + "---:|" * len(places)]
    for case in CASES:
        cells = [cell(world, problem, policy, case, runs) for _, world, problem, policy in places]
        lines.append(f"| {case[0]} | " + " | ".join(cells) + " |")
    note = (
        f"Share of {runs} runs of at most 5,000 pulls that ended with an alarm, and the median number of pulls at\n"
        "which they did; level 0.01, seed 5, SafeGap unless said otherwise.\n"
    )
    return "\n".join([*lines, "", note])


if __name__ == "__main__":
    text = PAGE.read_text()
    before, rest = text.split(START)
    PAGE.write_text(
        f"{before}{START}\n{table(int(sys.argv[1]) if len(sys.argv) > 1 else 200)}{rest[rest.index(END) :]}"
    )
