"""What the runs say in sentences: what can be concluded, what cannot, and what each figure shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from surefoot.errors import counted
from surefoot.reproduction import curves, paper
from surefoot.reproduction import formatting as fmt
from surefoot.reproduction.curves import Curve, Point
from surefoot.reproduction.findings import Panels, TableOne
from surefoot.reproduction.protocols import Row
from surefoot.results import exact_interval


def conclusions(table: TableOne) -> list[str]:
    """What follows from Table 1 under every protocol."""
    return [
        price_of_safety(table),
        unsafe_share(table.lingape),
        row_by_itself(paper.LINGAPE, table.lingape),
        row_by_itself(paper.SAFE_LINGAPE, table.safe),
        both_rows(table),
        "What cannot be concluded: which protocol the paper used, or that its numbers are wrong. A mean of ten runs "
        "moves by hundreds of pulls from one set of ten to the next, and more is open than was tried here: other D, "
        "D_s and L, other constants in the radius, other pull rules, exploration in turn, another meaning of the "
        "stopping time. No code was published that would settle it.",
    ]


def price_of_safety(table: TableOne) -> str:
    """What holds under every protocol: safety costs pulls and works."""
    ratios = [
        (each.safe.pulls.estimate or 0.0) / each.lingape.pulls.estimate
        for each in table.protocols
        if each.lingape.pulls.estimate
    ]
    runs = sum(row.runs for row in table.safe if row.counted)
    unsafe = sum(round(row.unsafe_runs.estimate * row.runs) for row in table.safe if row.counted)
    bound = exact_interval(unsafe, runs).upper
    return (
        f"The paper's message holds under every protocol tried: Safe-LinGapE needs {min(ratios):.1f} to "
        f"{max(ratios):.1f} times the pulls of LinGapE, and {counted(unsafe, 'run')} of {runs:,} had an unsafe pull "
        f"(at most {fmt.percent(bound)} of runs, with 97.5 % confidence; {fmt.percent(paper.DELTA_SAFETY)} are "
        "allowed)."
    )


def unsafe_share(rows: Sequence[Row]) -> str:
    """What the printed share of unsafe pulls says about LinGapE's exploration."""
    fitting = [row for row in rows if row.unsafe_position.within(0.99)]
    ways = sorted({fmt.exploration(row) for row in fitting})
    if ways == ["none"]:
        others = sorted(row.unsafe.estimate or 0.0 for row in rows if row.cell.explored)
        return (
            f"{fmt.percent(paper.LINGAPE.unsafe)} unsafe pulls says that LinGapE ran without forced exploration: "
            f"then it fits whatever D and the radius are, and with exploration the share is {fmt.percent(others[0])} "
            f"to {fmt.percent(others[-1])} and never fits, whether exploration counts or not."
        )
    return f"{fmt.percent(paper.LINGAPE.unsafe)} unsafe pulls fits exploration {' or '.join(ways) or 'of no kind'}."


def row_by_itself(printed: paper.Printed, rows: Sequence[Row]) -> str:
    """Which readings fit one row."""
    head = f"The row of {printed.algorithm} alone ({printed.pulls:,.1f} pulls, {fmt.percent(printed.unsafe)} unsafe)"
    narrow = [row for row in rows if row.fits(0.95)]
    wide = [row for row in rows if row.fits(0.99)]
    return (
        f"{head} fits {len(narrow)} of {len(rows)} readings within 95 %{in_common(narrow)}, and {len(wide)} within "
        f"99 %{in_common(wide)}."
    )


def in_common(rows: Sequence[Row]) -> str:
    """What readings have in common, as an insertion into a sentence."""
    if len(rows) == 1:
        return f" ({fmt.reading(rows[0])})"
    readings = [fmt.reading_words(row) for row in rows]
    shared = [word for word in (readings or [[]])[0] if all(word in reading for reading in readings)]
    return f" (all with {', '.join(shared)})" if shared else ""


def both_rows(table: TableOne) -> str:
    """Which protocols fit both rows."""
    tried = counted(len(table.protocols), "protocol")
    narrow, wide = table.fitting(0.95), table.fitting(0.99)
    asked = f"Both rows at once, with the same D, reward radius and way of counting, {tried} tried:"
    if narrow:
        return f"{asked} {len(narrow)} fit within 95 %, {len(wide)} within 99 %. The table does not tell them apart."
    if wide:
        best = wide[0]
        where = [fmt.percent(row.pulls_position.at_most) for row in (best.lingape, best.safe)]
        return (
            f"{asked} none fits within 95 %, {len(wide)} within 99 %. The best of them is LinGapE with "
            f"{fmt.reading(best.lingape)} (printed lies at {where[0]}) and Safe-LinGapE with "
            f"{fmt.reading(best.safe)} (at {where[1]}). Each row is ordinary under some reading, but not under the "
            "same one: if the paper ran one of these protocols, at least one of its two means was an unusual draw."
        )
    return f"{asked} none fits, not even within 99 %. Each row may be ordinary by itself, but not under one protocol."


def figure_words(experiment: str, panels: Panels) -> list[str]:
    """The caption of a figure, then what it shows."""
    told: dict[str, Callable[[Panels], list[str]]] = {
        "fig-a": words_on_exploration, "fig-b": words_on_limits, "fig-c": words_on_pulls, "fig-d": words_on_violations,
    }  # fmt: skip
    return told[experiment](panels)


def words_on_exploration(panels: Panels) -> list[str]:
    """Figure a in words."""
    static, dynamic = panels["level"]
    first, last = static.points[0], static.points[-1]
    usual = at(static, paper.EXPLORED)
    return [
        "Certified level of arm 2, mean over runs. Dark band: 95 % interval of the mean; light band: nine runs in ten.",
        f"Exploration alone certifies {first.estimate:.3f} after {first.x:,.0f} rounds per arm, {usual.estimate:.3f} "
        f"after the paper's {paper.EXPLORED}, and {last.estimate:.3f} after {last.x:,.0f}; the truth is 0.5. Longer "
        "exploration learns the level better, as the paper says.",
        f"Dynamic levels learn it while deciding: at the end of the run it is {span(dynamic)}, whatever the length "
        "of exploration. Exploring longer than the shortest length tried buys no higher level."
        if min(p.estimate for p in dynamic.points) > usual.estimate
        else f"With dynamic levels it is {span(dynamic)} at the end of the run.",
    ]


def words_on_limits(panels: Panels) -> list[str]:
    """Figure b in words."""
    told = []
    for name, when in (("static", "When exploration ends"), ("dynamic", "When the run ends")):
        levels = [f"{each.name} {at(each, paper.LIMIT).estimate:.3f}" for each in panels[name]]
        told.append(f"{when}, at eta0 = {paper.LIMIT:g}: {', '.join(levels)}. The truth is 1 for all but arm 2 (0.5).")
    return [
        "Certified level of every arm, mean over runs, bands as in figure a. Dotted: the highest safe level of arm 2; "
        "the other arms are safe at level 1 throughout.",
        *told,
        wrong_by_limit(panels["wrong"][0]),
        "The paper draws arm 1 only. Arm 2 is the one that is limited, and the one whose level the pulls depend on.",
    ]


def wrong_by_limit(wrong: Curve) -> str:
    """Where the conservative rule stops for the wrong reason."""
    share = [f"{fmt.percent(point.estimate)} at {point.x:g}" for point in wrong.points if point.estimate > 0.0]
    if not share:
        return "No answer of these runs, conservative and with dynamic levels, breaks (b)."
    return (
        f"A tight limit deceives the conservative rule even with dynamic levels: the answer breaks (b) in "
        f"{', '.join(share)}. The level of arm 2 then ends where exploration left it, because the run ended at once."
    )


def words_on_pulls(panels: Panels) -> list[str]:
    """Figure c in words."""
    pulls = {each.name: each for each in panels["pulls"]}
    wrong = {each.name: each for each in panels["wrong"]}
    undecided = {each.name: each for each in panels["undecided"]}
    frozen = curves.SAFE["conservative", curves.STATIC]
    free = curves.SAFE["conservative", curves.DYNAMIC]
    bold_frozen, bold = curves.SAFE["optimistic", curves.STATIC], curves.SAFE["optimistic", curves.DYNAMIC]
    shortest = min(pulls[frozen].points, key=lambda point: point.estimate)
    return [
        "Pulls until certain, exploration included; beside them the share of runs whose answer breaks (b), and the "
        "share that was cut off undecided. No pulls are drawn where some runs never ended.",
        f"Static and conservative: pulls fall from {fmt.pulls(pulls[frozen].points[0].estimate)} at d = "
        f"{pulls[frozen].points[0].x:g} to {fmt.pulls(shortest.estimate)} at d = {shortest.x:g}, while the share of "
        f"wrong answers goes from {fmt.percent(wrong[frozen].points[0].estimate)} to "
        f"{fmt.percent(wrong[frozen].points[-1].estimate)} at d = {wrong[frozen].points[-1].x:g}. It stops early "
        "for the wrong reason: an arm whose level is unlearned looks bad at its low level and is dismissed.",
        f"Dynamic and conservative: {ends(pulls[free])}, {fmt.percent(most(wrong[free]))} wrong at most. Dynamic "
        f"and optimistic: {ends(pulls[bold])}, {fmt.percent(most(wrong[bold]))} wrong at most; here the stronger "
        "promise costs nothing.",
        f"Static and optimistic: {fmt.percent(most(wrong[bold_frozen]))} wrong, but from "
        f"{fmt.percent(least(undecided[bold_frozen]))} to "
        f"{fmt.percent(most(undecided[bold_frozen]))} of runs never end: what exploration left unlearned about a "
        "level stays unlearned.",
        f"LinGapE: {ends(pulls[curves.UNLIMITED])}. The paper says that both stopping times grow about linearly; that "
        "is so for LinGapE and for dynamic levels, and not for static ones.",
    ]


def words_on_violations(panels: Panels) -> list[str]:
    """Figure d in words."""
    shares = {each.name: each for each in panels["violations"]}
    pooled = [each.points[0] for each in panels["unsafe runs"]]
    runs, unsafe = sum(round(point.x) for point in pooled), sum(round(point.x * point.estimate) for point in pooled)
    bound = exact_interval(unsafe, runs).upper
    plain, explored = shares[curves.UNLIMITED], shares[curves.UNLIMITED_EXPLORED]
    return [
        "Share of unsafe pulls, mean over runs, bands as in figure a.",
        f"Safe-LinGapE, all dimensions, static or dynamic, conservative or optimistic: {unsafe:,} of {runs:,} runs had "
        f"an unsafe pull (at most {fmt.percent(bound)} of runs, with 97.5 % confidence; "
        f"{fmt.percent(paper.DELTA_SAFETY)} are allowed).",
        f"LinGapE: {fmt.percent(plain.points[0].estimate)} of its pulls are unsafe at d = {plain.points[0].x:g}, "
        f"{fmt.percent(plain.points[-1].estimate)} at d = {plain.points[-1].x:g}; with the exploration of "
        f"Safe-LinGapE before it and counted, {fmt.percent(explored.points[0].estimate)} and "
        f"{fmt.percent(explored.points[-1].estimate)}.",
    ]


def at(curve: Curve, x: float) -> Point:
    """The point nearest to x."""
    return min(curve.points, key=lambda point: abs(point.x - x))


def span(curve: Curve) -> str:
    """The range of a curve of levels."""
    values = [point.estimate for point in curve.points]
    return f"between {min(values):.3f} and {max(values):.3f}"


def ends(curve: Curve) -> str:
    """Both ends of a curve of pulls."""
    first, last = curve.points[0], curve.points[-1]
    return f"from {fmt.pulls(first.estimate)} pulls at d = {first.x:g} to {fmt.pulls(last.estimate)} at d = {last.x:g}"


def most(curve: Curve) -> float:
    """The highest value."""
    return max(point.estimate for point in curve.points)


def least(curve: Curve) -> float:
    """The lowest value."""
    return min(point.estimate for point in curve.points)
