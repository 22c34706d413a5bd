"""The options of the command line, each written once."""

from pathlib import Path
from typing import Annotated, Any

import typer


def _policy(flag: str, words: str, metavar: str | None = "WORD") -> Any:
    title = "Policy (see `surefoot policies`)"
    return typer.Option(flag, help=words, metavar=metavar, show_default=False, rich_help_panel=title)


def _work(flag: str, words: str, default: bool | str = True) -> Any:
    return typer.Option(flag, help=words, show_default=default, rich_help_panel="Work")


def _output(*flags: str, words: str) -> Any:
    return typer.Option(*flags, help=words, rich_help_panel="Output")


_FILE = "A problem file, TOML or JSON, with a [world] table. Left out: the paper's instance."
_WORLD = "A world of `surefoot worlds` with its own problem, in place of FILE."
_EXPLORE = "round-robin, uniform-random, e-optimal or until-confident, such as round-robin:800@0.2; or none."

File = Annotated[Path | None, typer.Argument(help=_FILE, show_default=False)]
ProblemFile = Annotated[Path, typer.Argument(help="A problem file, TOML or JSON.")]
World = Annotated[str | None, typer.Option("--world", help=_WORLD, metavar="NAME", rich_help_panel="Problem")]

Policy = Annotated[str | None, _policy("--policy", "safe-gap, safe-lingape, lingape or uniform.", "NAME")]
Policies = Annotated[
    list[str] | None, _policy("--policy", "safe-gap, safe-lingape, lingape or uniform; again for a comparison.", "NAME")
]
Selection = Annotated[
    str | None, _policy("--selection", "conservative (Proposition 1) or optimistic (within epsilon).")
]
Levels = Annotated[str | None, _policy("--levels", "static, dynamic or dynamic-max.")]
PullRule = Annotated[str | None, _policy("--pull", "greedy, rounding or rounding-finite.")]
Explore = Annotated[str | None, _policy("--explore", _EXPLORE, "KIND:ROUNDS[@LEVEL]")]
RewardRadius = Annotated[str | None, _policy("--reward-radius", "determinant, norm, squared-sum or mixture.")]
SafetyRadius = Annotated[str | None, _policy("--safety-radius", "the same, or own-pulls.")]
NullPull = Annotated[
    bool | None, _policy("--null-pull/--no-null-pull", "Whether doing nothing may be the answer.", None)
]

Seed = Annotated[int, _work("--seed", "Fixes every random draw.")]
MaxPulls = Annotated[int, _work("--max-pulls", "Give up after so many pulls: undecided.")]
Compare = Annotated[bool, _work("--compare/--no-compare", "Run LinGapE, which knows no limits, beside it.")]
RunCount = Annotated[int, _work("--runs", "How many runs of each policy.")]
Workers = Annotated[int | None, _work("--workers", "Threads; results do not depend on it.", "all cores")]
Confidence = Annotated[float, _work("--confidence", "Of the intervals.")]

Json = Annotated[bool, _output("--json", words="One JSON document on standard output, for results and errors.")]
Quiet = Annotated[bool, _output("--quiet", "-q", words="No progress.")]
Out = Annotated[Path | None, _output("--out", words="Write one row per run to this .parquet or .csv file.")]

_EXPERIMENTS = "table1, fig-a, fig-b, fig-c, fig-d or all."
_FOLDER = "New, empty, or of an earlier reproduction, which is then continued."

Experiments = Annotated[list[str] | None, typer.Argument(help=_EXPERIMENTS, show_default="all")]
ReproductionFolder = Annotated[Path, _output("--out", words=_FOLDER)]
ReproductionRuns = Annotated[int | None, _work("--runs", "How many runs of each setting.", "1000, with --quick 40")]
Quick = Annotated[bool, _work("--quick", "A first look in seconds: fewer runs and fewer points.")]
