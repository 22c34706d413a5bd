"""What `study show` says first: the answer or who leads, what it gives and reads, and how long it may still take."""

from __future__ import annotations

from math import isfinite
from typing import Any

from surefoot.cli.live import known_gap
from surefoot.cli.output import Output
from surefoot.live.certificate import Certificate
from surefoot.live.pulls import Recommendation
from surefoot.live.quantities import (
    limit_in_words,
    pull_in_words,
    range_in_words,
    reading_in_words,
    reward_in_words,
)
from surefoot.live.showing import ITSELF
from surefoot.live.trace import Trace
from surefoot.problem.knowable import said_of_error
from surefoot.studies.outlook import Outlook
from surefoot.studies.status import StudyStatus
from surefoot.studies.study import Study


def tell_outlook(
    output: Output, study: Study, status: StudyStatus, outlook: Outlook, certificate: Certificate | None,
    answer: Recommendation | None,
) -> None:  # fmt: skip
    """Prints the answer, or who leads by how much, what is expected of it, and how many trials are to come."""
    from rich.text import Text

    out, problem = output.out, study.problem
    name = leading(status, certificate)
    if certificate is not None:
        said = pull_in_words(problem, certificate.name, certificate.level)
        unsafe = "" if answer is not None else ", not certified safe"
        out.print(Text.assemble(("Answer  ", "bold green"), (said, "bold"), unsafe), soft_wrap=True)
    elif status.leader is not None:
        rival = ITSELF if status.challenger == status.leader else status.challenger
        most = known_gap(status)
        gap = "" if most is None else f", by at most {reward_in_words(problem, most)}"
        said = f"; {rival} might beat it{gap}" if rival is not None else ""
        out.print(Text.assemble(("Leads  ", "bold"), (status.leader, "bold"), said), soft_wrap=True)
    else:
        ended = f"No answer: {status.outcome}" if status.outcome is not None else "No answer yet: exploring"
        out.print(Text(ended, "bold"))
    for words in expected_in_words(outlook.known, name):
        out.print(Text(f"  {words}"), soft_wrap=True)
    for words in said_of_error(problem) if status.outcome is None else []:
        out.print(Text(f"Open   {words}"), soft_wrap=True)
    if outlook.trials_to_go is not None:
        out.print(Text(f"To go  {outlook.trials_to_go}"), soft_wrap=True)


def leading(status: StudyStatus, certificate: Certificate | None) -> str | None:
    """The answer, or who leads."""
    return status.leader if certificate is None else certificate.name


def expected_in_words(known: Trace | None, name: str | None) -> list[str]:
    """What an arm gives and reads at its certified level, a line for each signal."""
    if known is None or name is None or name not in known.names or not known.pulls.any():
        return []
    problem, arm = known.problem, known.of_arms([name])
    middle, low, high = arm.middle[-1, 0].tolist(), arm.low[-1, 0].tolist(), arm.high[-1, 0].tolist()
    between = range_in_words(low[0], high[0], problem.reward.unit)
    at = pull_in_words(problem, name, float(arm.certified[-1, 0]))
    lines = [f"expected of {at}: reward about {reward_in_words(problem, middle[0])} ({between})"]
    for limit, about, least, most in zip(problem.safety, middle[1:], low[1:], high[1:], strict=True):
        between = range_in_words(least, most, limit.unit)
        lines.append(f"{limit.name} about {reading_in_words(limit, about)} ({between}); limit: {limit_in_words(limit)}")
    return lines


def outlook_document(status: StudyStatus, outlook: Outlook, certificate: Certificate | None) -> dict[str, Any]:
    """The same as plain data: expectations of each arm that matters at its certified level, and the trials to go."""
    known, togo = outlook
    if known is None:
        return {"leader": leading(status, certificate), "expected": [], "trials_to_go": None}
    signals = ["reward", *(limit.name for limit in known.problem.safety)]
    expected = []
    for place, name in enumerate(known.names):
        values = zip(known.middle[-1, place], known.low[-1, place], known.high[-1, place], strict=True)
        each = [{"mean": float(a), "low": float(b), "high": float(c)} for a, b, c in values]
        told = {"reward": each[0], "safety": dict(zip(signals[1:], each[1:], strict=True))}
        expected.append({"name": name, "level": float(known.certified[-1, place]), **told})
    return {
        "leader": leading(status, certificate), "expected": expected, "trials_to_go": togo and togo.to_dict(),
    }  # fmt: skip


def rewards_of(known: Trace | None) -> dict[str, tuple[str, str]]:
    """By arm: the estimated reward at its certified level, and the range that is possible."""
    if known is None or not known.pulls.any():
        return {}
    found = {}
    for place, name in enumerate(known.names):
        low, high = float(known.low[-1, place, 0]), float(known.high[-1, place, 0])
        about = reward_in_words(known.problem, float(known.middle[-1, place, 0]))
        found[name] = (about, range_in_words(low, high) if isfinite(low) or isfinite(high) else "")
    return found
