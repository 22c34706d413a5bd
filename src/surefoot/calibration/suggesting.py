"""The problem file that pilot rows suggest: what is stated, with their figures in place of it and comments beside."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import tomli_w

from surefoot.calibration import telling
from surefoot.calibration.bounds import least_delta
from surefoot.characters import in_one_line
from surefoot.errors import InvalidInput, SurefootError
from surefoot.problem import Problem
from surefoot.problem.units import rounded_up

if TYPE_CHECKING:
    from surefoot.calibration.findings import Calibration, Noise, Signal

WIDTH = 110
LAST = ("dial", "arms", "reward", "safety", "world", "policy")  # tables, which end what is at the top
MARKS = "calibrated_by"
MARKED = "By these marks a study knows the pilot rows again, and does not take them as data."
SPENT = (
    "The pilot's bounds on noise may spend {risk:g} of the {stated:g} that was stated, so that this is left. "
    "Keep it where you take over only some of them, too: whether it is spent must not depend on what the rows say."
)
HINT = (
    "By the rows, with the same confidence by itself. Whoever leans on it spends another {each:g} of delta and of "
    "delta_safety."
)
WITHIN = (
    "How far means may miss the linear law: so much cannot be ruled out at the settings of the pilot, and nothing is "
    "known at higher levels. With it in force, take away another {each:g} from delta and delta_safety."
)


def written(found: Calibration, table: Mapping[str, Any] | None) -> str:
    """The text of the file. `table` holds what the problem's own file says, so that its words and its tables [world]
    and [policy] stay; without it the problem is written out."""
    check_spending(found)
    base = without_nothing(found.problem.to_dict() if table is None else table)
    if "arms" not in base and "arms_file" not in base:  # a file that names a world leaves to it what it does not state
        base = {**found.problem.to_dict(), **base}
    lines = comment(f"A problem for surefoot, as {telling.title(found)} suggest it. Check it: surefoot show FILE.")
    lines += [*comment(telling.afterwards(found)), ""]
    base = {**base, MARKS: list(dict.fromkeys([*base.get(MARKS, []), found.mark]))}
    late = {key: value for key, value in base.items() if key == "safety" or isinstance(value, Mapping)}
    for key, value in base.items():
        if key not in late:
            lines += top_lines(found, key, value)
    lines += ["", *comment(telling.feature_words(found)[0])]
    for key in [*(key for key in late if key not in LAST), *(key for key in LAST if key in late)]:
        lines += ["", *section_lines(found, key, late[key])]
    return "\n".join(lines) + "\n"


def check(content: str, folder: Path) -> None:
    """Refuses a file in this folder that `surefoot show` would not take."""
    try:
        Problem.from_dict(tomllib.loads(content), folder=folder)
    except SurefootError as error:
        error.add_note("so the rows suggest what cannot be stated, and nothing was written")
        raise


def check_spending(found: Calibration) -> None:
    """Refuses a file whose promise would be spent before the first trial."""
    smaller = least_delta(found.problem)
    if found.risk < smaller:
        return
    safely = f" and of delta_safety = {found.problem.delta_safety:g}" if found.problem.safety else ""
    reason = (
        f"spends {found.risk:g} of delta = {found.problem.delta:g}{safely}, which leaves nothing for the experiment"
    )
    remedy = (
        f"Ask for a confidence above {1.0 - smaller:g}, for example {1.0 - smaller / 4.0:g}, or allow a larger delta."
    )
    raise InvalidInput("confidence", found.confidence, reason, remedy)


def top_lines(found: Calibration, key: str, value: Any) -> list[str]:
    """An entry at the top; of the chances of error what the pilot leaves."""
    if key == MARKS:
        return [*comment(MARKED), entry(key, value)]
    if key not in ("delta", "delta_safety"):
        return [entry(key, value)]
    words = SPENT.format(risk=found.risk, stated=value)
    return [*comment(words), entry(key, float(telling.less(value, found.risk)))]


def section_lines(found: Calibration, key: str, value: Any) -> Iterator[str]:
    """A table of the file, or all its limits."""
    if key == "reward":
        yield "[reward]"
        yield from signal_lines(found, found.signals[0], value, "at_most")
    elif key == "safety":
        tables = [value] if isinstance(value, Mapping) else value
        for place, (each, table) in enumerate(zip(found.signals[1:], tables, strict=True)):
            yield from [""] if place else []
            yield "[[safety]]"
            yield from signal_lines(found, each, table, "noise_at_most")
    else:
        yield from table_lines(key, value)


def signal_lines(found: Calibration, each: Signal, table: Mapping[str, Any], cap: str) -> Iterator[str]:
    """The reward or a limit: every figure of the rows as an entry or as a comment that can become one."""
    stated = dict(without_nothing(table))
    noise = stated.pop("noise")
    for key, value in stated.items():
        if key not in ("guess", cap):
            yield entry(key, value)
    yield from comment(telling.noise_words(found, each))
    number = usable(each)
    if each.stated.unknown:
        yield entry("noise", noise)
        if number is not None:
            stated["guess"] = rounded(number.estimate)
            stated[cap] = taken(stated.get(cap), number)
        for key in ("guess", cap):
            if stated.get(key) is not None:
                yield entry(key, stated[key])
    elif number is None or each.stated.high < float("inf"):
        yield entry("noise", noise)
    else:
        yield entry("noise", taken(noise, number))
        yield from comment('Or, for SafeGap, without leaning on the size at all (then noise = "unknown" above):')
        yield f"# {entry('guess', rounded(number.estimate))}"
    risk = found.risk / len(found.signals)
    if each.largest is not None and "largest" not in stated and "norm" not in stated:
        yield from comment("No option changes it by more than this at full strength. " + HINT.format(each=risk))
        yield f"# {entry('largest', float(rounded_up(each.largest.at_most, 3)))}"
    if each.within is not None and "within" not in stated:
        yield from comment(WITHIN.format(each=risk))
        yield f"# {entry('within', float(rounded_up(each.within.at_most, 3)))}"


def usable(each: Signal) -> Noise | None:
    """The noise where its bound may be stated: Gaussian as far as can be seen, and of one size."""
    growing = each.sizes is not None and each.sizes.p < telling.CLEARLY and each.sizes.ratio > 1.0
    return None if growing or each.grain is not None else each.noise


def taken(stated: float | None, noise: Noise) -> float:
    """The bound, unless what is stated is smaller and no less than the rows make likely: then it is not contradicted,
    and it is somebody's own knowledge."""
    bound = float(rounded_up(noise.at_most, 3))
    return float(stated) if stated is not None and noise.estimate <= stated <= bound else bound


# -- text -------------------------------------------------------------------------------------------------------------


def entry(key: str, value: Any) -> str:
    """One entry; a list stays on its line."""
    named = tomli_w.dumps({key: 0}).rstrip(" 0\n")
    return f"{named} {json.dumps(value, ensure_ascii=False)}" if isinstance(value, list) else plainly({key: value})


def table_lines(key: str, table: Mapping[str, Any]) -> list[str]:
    """A table with an entry on each line."""
    if any(isinstance(value, Mapping) for value in table.values()):
        return [plainly({key: table})]
    return [f"[{key}]", *(entry(name, value) for name, value in table.items())]


def plainly(table: Mapping[str, Any]) -> str:
    """The table as it is written by others."""
    return tomli_w.dumps(table).strip()


def comment(words: str) -> list[str]:
    """The words as lines of comment, with nothing in them that ends one."""
    return [f"# {line}" for line in wrap(in_one_line(words), WIDTH)]


def rounded(value: float) -> float:
    """Three digits, as people state it."""
    return float(f"{value:.3g}")


def without_nothing(table: Mapping[str, Any]) -> dict[str, Any]:
    """The table without what is not stated; JSON writes null there."""
    return {key: value for key, value in table.items() if value is not None}


def beside(table: Mapping[str, Any], folder: Path, place: Path) -> dict[str, Any]:
    """The table of a file in this folder, for one at another place: its arms are found from there."""
    if not isinstance(table.get("arms_file"), str):
        return dict(table)
    there = os.path.relpath((folder / str(table["arms_file"])).resolve(), place.resolve().parent)
    return {**table, "arms_file": Path(there).as_posix()}
