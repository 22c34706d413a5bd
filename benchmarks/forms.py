"""Where it begins to pay to hold a few columns of X A^-1 X^T and not all: a round of both forms, by arms and features.

python benchmarks/forms.py [--arms 64 128 256] [--features 4 16 64]

Whole runs on random directions, one thread, both forms in turn; printed is the time of a round in microseconds, of the
policy with all columns, with a few, and their ratio. `core.columns.MANY` is chosen by it.
"""

import argparse
import statistics
from typing import Any

from many_arms import core, world_of  # first, since it sets the number of threads
from rich.console import Console
from rich.progress import track
from rich.table import Table

import surefoot as sf
from surefoot.core import columns

REPEATS = 3
NEVER = 10**9


def microseconds(policy: Any, K: int, d: int, few: bool) -> float:
    """A round of a whole run in one form."""
    before, columns.MANY = columns.MANY, 1 if few else NEVER
    try:
        return float(core(*world_of("random", K, d), policy, 2.0)["us"])
    finally:
        columns.MANY = before


def main() -> None:
    """Measures every size and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arms", type=int, nargs="*", default=[32, 64, 128, 256, 512])
    parser.add_argument("--features", type=int, nargs="*", default=[4, 16, 64])
    options = parser.parse_args()
    table = Table("policy", "arms x features", "all columns, us", "a few, us", "a few / all")
    sizes = [(K, d) for d in options.features for K in options.arms if 4 * d < K]
    for K, d in track(sizes, "sizes"):
        for policy in (sf.SafeLinGapE(), sf.SafeGap()):
            pairs = [[microseconds(policy, K, d, few) for few in (False, True)] for _ in range(REPEATS)]
            whole, few = (statistics.median(each) for each in zip(*pairs, strict=True))
            ratio = statistics.median(b / a for a, b in pairs)
            table.add_row(policy.name, f"{K} x {d}", f"{whole:.2f}", f"{few:.2f}", f"{ratio:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
