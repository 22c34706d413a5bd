"""What is asked for: which experiments, how often, from which seed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from surefoot.errors import InvalidInput
from surefoot.problem.checks import check_seed, did_you_mean
from surefoot.reproduction import curves, paper, protocols
from surefoot.reproduction.cells import Cell

DEFAULT_RUNS, QUICK_RUNS = 1000, 40
MOST_RUNS = 1_000_000

CellsOf = Callable[[bool], list[Cell]]


def swept(cells: Callable[[bool], curves.Cells]) -> CellsOf:
    """The cells of a sweep as a list."""
    return lambda quick: [cell for curve in cells(quick).values() for cell in curve.values()]


TABLE, ALL = "table1", "all"
EXPERIMENTS: dict[str, CellsOf] = {
    TABLE: lambda quick: protocols.table_cells(),
    "fig-a": swept(curves.exploration_cells),
    "fig-b": swept(curves.limit_cells),
    "fig-c": swept(curves.dimension_cells),
    "fig-d": swept(curves.violation_cells),
}


@dataclass(frozen=True)
class Plan:
    """What is asked for."""

    experiments: tuple[str, ...]
    runs: int
    quick: bool
    seed: int

    @property
    def figures(self) -> tuple[str, ...]:
        """The figures among the experiments."""
        return tuple(name for name in self.experiments if name != TABLE)

    @property
    def command(self) -> str:
        """The command that asks for it."""
        words = [ALL] if self.experiments == tuple(EXPERIMENTS) else list(self.experiments)
        words += ["--quick"] if self.quick else []
        words += [f"--runs {self.runs}"] if self.runs != default_runs(self.quick) else []
        words += [f"--seed {self.seed}"] if self.seed else []
        return " ".join(["surefoot reproduce", *words])

    def cells(self, experiment: str) -> dict[Cell, int]:
        """The cells of an experiment, and how many runs each gets."""
        return {cell: cell.runs_of(self.runs) for cell in EXPERIMENTS[experiment](self.quick)}


def planned(experiments: Sequence[str], runs: int | None, quick: bool, seed: int) -> Plan:
    """What is asked for, checked."""
    names, known = list(experiments) or [ALL], (*EXPERIMENTS, ALL)
    for name in names:
        if name not in known:
            raise InvalidInput("experiment", name, f"must be one of {', '.join(known)}", did_you_mean(name, known))
    wanted = default_runs(quick) if runs is None else runs
    if isinstance(wanted, bool) or not isinstance(wanted, int) or not paper.RUNS <= wanted <= MOST_RUNS:
        reason = f"must be a whole number from {paper.RUNS} to {MOST_RUNS:,}"
        raise InvalidInput("--runs", wanted, reason, "The paper has 10; 1000 give narrow intervals in minutes.")
    chosen = tuple(name for name in EXPERIMENTS if name in names or ALL in names)
    return Plan(chosen, wanted, quick, check_seed(seed, "--seed"))


def default_runs(quick: bool) -> int:
    """The runs of each setting, when nobody says otherwise."""
    return QUICK_RUNS if quick else DEFAULT_RUNS
