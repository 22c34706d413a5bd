"""The report: protocol, tables, figures, conclusions. Every number in it comes from the runs."""

import platform
from importlib.metadata import version

from surefoot import __version__
from surefoot.pages import Command, Heading, Paragraph, Part, Picture, Points, Table
from surefoot.reproduction import formatting as fmt
from surefoot.reproduction import paper
from surefoot.reproduction.cells import (
    ALL_RUNS_UP_TO_DIM,
    ALL_RUNS_UP_TO_EXPLORED,
    MAX_PULLS,
    MAX_PULLS_FROZEN,
    SHARE_FROZEN,
)
from surefoot.reproduction.conclusions import conclusions, figure_words
from surefoot.reproduction.findings import Findings, TableOne
from surefoot.reproduction.plans import Plan
from surefoot.reproduction.protocols import Row
from surefoot.reproduction.resampling import RESAMPLES

TITLE = "The paper's experiments, reproduced"
FIGURES = {
    "fig-a": "Level of arm 2 against the length of forced exploration",
    "fig-b": "Levels of all arms against the safety limit",
    "fig-c": "Pulls against the dimension, with the answers that break (b) beside them",
    "fig-d": "Violations against the dimension",
}


def report_of(plan: Plan, found: Findings, svgs: dict[str, bytes]) -> list[Part]:
    """The whole report."""
    parts: list[Part] = [Heading(TITLE, 1), *introduction(plan), *protocol(plan)]
    if found.table is not None:
        parts += table_one_parts(found.table)
    for experiment, panels in found.figures.items():
        texts = figure_words(experiment, panels)
        picture = Picture(f"{experiment}.svg", svgs[experiment], texts[0])
        letter = experiment[-1]
        parts += [Heading(f"Figure {letter}: {FIGURES[experiment]}"), picture, Points(texts[1:])]
    return [*parts, *provenance(plan)]


def introduction(plan: Plan) -> list[Part]:
    """What this is and how to make it."""
    return [
        Paragraph(
            'The experiments of "Price of Safety in Linear Best Arm Identification", run '
            f"{plan.runs:,} times where the paper has {paper.RUNS}. Everything on this page, sentences with numbers "
            "included, is generated from those runs by one command:"
        ),
        Command([plan.command]),
    ]


def protocol(plan: Plan) -> list[Part]:
    """What is run."""
    return [
        Heading("Protocol"),
        Points(
            [
                f"Instance: d = {paper.DIM}, arms e_1 .. e_d and (cos 0.1, sin 0.1, 0 ..), theta\\* = (2, 0 ..), "
                f"mu\\* = (0, -1, 0 ..), eta0 = {paper.LIMIT:g}; Gaussian noise of 1 on rewards and 0.1 on safety.",
                "Asked: epsilon = 2 (1 - cos 0.1), delta_r = delta_s = 0.001, lambda = 1.",
                f"Forced exploration: {paper.EXPLORED} rounds per arm at level {paper.EXPLORED_AT:g}, each arm drawn "
                "uniformly at random; in other dimensions also 200 per arm.",
                "Greedy pulls, L = 1, all of delta_r on the reward radius, no running maximum of levels, no null pull.",
                "Not stated in the paper: D, the radii, static or dynamic levels, conservative or optimistic "
                "selection for the table, whether exploration counts, and whether LinGapE explores. Unless a table "
                f"says otherwise: D = {paper.REWARD_NORM:g} (the smallest value for which the paper's own assumption "
                "holds), D_s = 1, determinant radius for rewards, norm radius for safety, exploration counted, "
                "LinGapE without exploration.",
                f"{plan.runs:,} runs per setting, cut off at {MAX_PULLS:,} pulls. Where runs are long there are fewer: "
                f"in d > {ALL_RUNS_UP_TO_DIM} dimensions the share {ALL_RUNS_UP_TO_DIM}/d of them, with n > "
                f"{ALL_RUNS_UP_TO_EXPLORED} rounds of exploration per arm the share {ALL_RUNS_UP_TO_EXPLORED}/n. "
                f"Static levels with optimistic selection may never stop: {100 * SHARE_FROZEN:g} % as many runs, cut "
                f"off at {MAX_PULLS_FROZEN:,} pulls; a mean of ten runs with one of these in it is above every printed "
                "number anyway.",
                "Intervals are 95 %: Student's for means, Clopper-Pearson's for rates. (b) is the promise that the "
                "answer is safe and within epsilon of the best safe value.",
            ]
        ),
    ]


def table_one_parts(table: TableOne) -> list[Part]:
    """Table 1 beside the paper's, then under every protocol."""
    head = (
        "algorithm", "pulls, printed", "pulls, mean", "sd of a run", "means of ten runs, central 95 %",
        "printed lies at", "unsafe, printed", "unsafe, measured", "answers that break (b)",
    )  # fmt: skip
    rows = [
        (
            name, f"{printed.pulls:,.1f}", fmt.mean_pulls(row.pulls), fmt.pulls(row.sd),
            fmt.central(row.pulls_position), fmt.percent(row.pulls_position.at_most),
            fmt.percent(printed.unsafe), fmt.percent(row.unsafe.estimate), fmt.rate(row.wrong),
        )
        for name, (printed, row) in table.ours.items()
    ]  # fmt: skip
    return [
        Heading("Table 1"),
        Paragraph(
            f'"Means of ten runs" are {RESAMPLES:,} means of ten runs drawn from those made here: the distribution of '
            'what the paper prints. "Printed lies at" is the share of them that are at most the printed number: '
            "between 2.5 % and 97.5 % it is an ordinary outcome, at 0 % or 100 % it is none at all."
        ),
        Table(head, rows),
        *quantile_table(table),
        Heading("What can and what cannot be concluded", 3),
        Points(conclusions(table)),
        *fitting_table(table),
        Heading("Table 1 under every protocol"),
        Paragraph(
            "What the paper does not say is tried in all combinations. A row fits when both its numbers lie in the "
            "central 95 % (or 99 %) of the means of ten runs, with allowance for the rounding of print; of several "
            "numbers the most extreme decides."
        ),
        lingape_table(table.lingape),
        safe_table(table.safe),
    ]


def quantile_table(table: TableOne) -> list[Part]:
    """The distribution of means of ten runs in full."""
    some = next(iter(table.ours.values()))[1]
    head = ("means of ten runs, quantiles", *(f"{100 * q:g} %" for q in some.pulls_position.quantiles))
    rows = [
        (f"{name}, pulls", *(fmt.pulls(value) for value in row.pulls_position.quantiles.values()))
        for name, (_, row) in table.ours.items()
    ]
    shares = some.unsafe_position.quantiles.values()
    return [Table(head, [*rows, ("LinGapE, unsafe pulls", *(fmt.percent(value) for value in shares))])]


def both_ways(rows: list[Row]) -> list[tuple[Row, Row | None]]:
    """Each cell once: its row with exploration counted, and without, where there is exploration."""
    later = {row.cell: row for row in rows if not row.counted}
    return [(row, later.get(row.cell)) for row in rows if row.counted]


def lingape_table(rows: list[Row]) -> Table:
    """LinGapE under every protocol."""
    head = (
        "LinGapE: exploration", "radius", "D", "pulls, mean", "sd", "printed 1914.7 lies at", "unsafe", "fits",
        "not counted: pulls", "lies at", "unsafe", "fits",
    )  # fmt: skip
    body, marked = [], []
    for k, (row, later) in enumerate(both_ways(rows)):
        columns = row.cell.described()
        body.append(
            (
                fmt.exploration(row), columns["reward_radius"], f"{columns['D']:g}", fmt.mean_pulls(row.pulls),
                fmt.pulls(row.sd), fmt.percent(row.pulls_position.at_most), fmt.percent(row.unsafe.estimate),
                fmt.fit(row), *without_exploration(later, unsafe=True),
            )
        )  # fmt: skip
        marked += [k] if fmt.fit(row) != "no" or fmt.fit(later) not in ("", "no") else []
    return Table(head, body, text_columns=2, marked=marked)


def safe_table(rows: list[Row]) -> Table:
    """Safe-LinGapE under every protocol."""
    head = (
        "Safe-LinGapE: levels", "selection", "radius for rewards", "for safety", "D", "pulls, mean", "sd", "undecided",
        "break (b)", "printed 4254.2 lies at", "fits", "not counted: pulls", "lies at", "fits",
    )  # fmt: skip
    body, marked = [], []
    for k, (row, later) in enumerate(both_ways(rows)):
        columns = row.cell.described()
        body.append(
            (
                columns["levels"], columns["selection"], columns["reward_radius"], columns["safety_radius"],
                f"{columns['D']:g}", fmt.mean_pulls(row.pulls), fmt.pulls(row.sd),
                fmt.percent(row.undecided / row.runs), fmt.percent(row.wrong.estimate),
                fmt.percent(row.pulls_position.at_most), fmt.fit(row), *without_exploration(later, unsafe=False),
            )
        )  # fmt: skip
        marked += [k] if fmt.fit(row) != "no" or fmt.fit(later) not in ("", "no") else []
    return Table(head, body, text_columns=4, marked=marked)


def without_exploration(row: Row | None, *, unsafe: bool) -> list[str]:
    """The cells of a row in which exploration is not counted."""
    if row is None:
        return [""] * (4 if unsafe else 3)
    shares = [fmt.percent(row.unsafe.estimate)] if unsafe else []
    return [
        fmt.pulls(row.pulls.estimate),
        fmt.percent(row.pulls_position.at_most),
        *shares,
        fmt.fit(row),
    ]


def fitting_table(table: TableOne) -> list[Part]:
    """The protocols that fit both rows in the wider sense."""
    found = table.fitting(0.99)
    if not found:
        return []
    head = ("both rows within the central 99 %: LinGapE", "Safe-LinGapE", "1914.7 lies at", "4254.2 lies at")
    rows = [
        (
            fmt.reading(each.lingape), fmt.reading(each.safe),
            fmt.percent(each.lingape.pulls_position.at_most), fmt.percent(each.safe.pulls_position.at_most),
        )
        for each in found
    ]  # fmt: skip
    return [Table(head, rows, text_columns=2)]


def provenance(plan: Plan) -> list[Part]:
    """Seeds, versions and files."""
    used = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "numba", "matplotlib"))
    return [
        Heading("Seeds, versions and files"),
        Points(
            [
                f"Seed {plan.seed}. Run r of every setting draws from the streams of (seed, r) alone: the numbers do "
                "not depend on the number of workers, on interruptions, or on which experiments are asked for.",
                f"surefoot {__version__}, Python {platform.python_version()}, {used}.",
                "Beside the report: every run ("
                + ", ".join(f"`runs-{name}.csv`" for name in plan.experiments)
                + " and the same as Parquet), the figures as PNG and SVG, all findings as `findings.json`.",
            ]
        ),
    ]
