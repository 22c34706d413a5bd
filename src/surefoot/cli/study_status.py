"""Which study is meant, and where it stands."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite
from typing import Any

from surefoot.cli import exit_codes
from surefoot.cli.answers import tell_answer
from surefoot.cli.job import Which
from surefoot.cli.live import ARMS_SHOWN, known_gap, phase
from surefoot.cli.output import Output
from surefoot.errors import counted
from surefoot.live.certificate import rounded_down
from surefoot.live.pulls import Pull
from surefoot.studies.lifecycle import load_study
from surefoot.studies.status import StudyStatus
from surefoot.studies.study import Study

MOST_SHOWN = 40  # arms that matter
CHANGES = (
    "alarms",
    "pulls",
    "outcome",
    "gap",
    "frozen",
    "open",
    "held_back",
    "held",
    "contradictions",
)  # of a status, after a verb


def opened(which: Which) -> Study:
    """The study, replayed and audited."""
    return load_study(which.name, which.storage, policy=handed_in(which.policy))


def handed_in(word: str | None) -> Any:
    """The policy that the word names, for a study that has one of the user's own."""
    if word is None:
        return None
    from surefoot.cli.loading import policy_named

    return policy_named(word)


def show(output: Output, which: Which, everything: bool = False) -> int:
    """Where the study stands; of many arms, those that matter, or all."""
    study = opened(which)
    status, waiting = study.status(), study.open_pulls
    certificate, answer = study.certificate, study.recommendation
    if output.json:
        output.json_result(
            {
                "alarms": status.alarms, "statement": study.statement, "storage": study.storage,
                "status": {**status.to_dict(), "arms": len(status.levels)} if everything else status.to_brief_dict(),
                "open": [pull.to_dict() for pull in waiting],
                "recommendation": answer and answer.to_dict(), "certificate": certificate and certificate.to_dict(),
            }
        )  # fmt: skip
        return exit_codes.ALARM if status.alarms else exit_codes.OK
    tell_status(output, study, status, everything)
    for pull in waiting:
        output.out.print(f"  {in_words(pull)}", soft_wrap=True, markup=False)
    if status.outcome is not None:
        ended = "alarm" if status.alarms else status.outcome
        tell_answer(output, ended, status.pulls, certificate, answer, status.alarms)
    return exit_codes.ALARM if status.alarms else exit_codes.OK


def tell_status(output: Output, study: Study, status: StudyStatus, everything: bool = False) -> None:
    """Prints where the study stands, in a few lines."""
    from rich.text import Text

    out, gap = output.out, known_gap(status)
    for message in status.contradictions:
        out.print(Text(f"Alarm{'' if message in status.alarms else ', released'}: {message}", "red"))
    head = f"{phase(status)}, {counted(status.pulls, 'result')}{'' if gap is None else f', gap {gap:.4g}'}"
    out.print(Text.assemble((study.name, "bold"), f"  {head}, epsilon {status.epsilon:.4g}"))
    if status.frozen:
        out.print(Text(f"Frozen by {status.frozen['by']}: {status.frozen['reason']}", "bold red"))
    if status.mismatches:
        out.print(Text(f"{counted(status.mismatches, 'pull')} not as recomputed: surefoot study audit", "yellow"))
    for held in status.held:
        everyone = " (nobody is given a pull)" if held.unsafe else ""
        out.print(Text(f"Held, pull {held.number}: {held.surprises}{everyone}", "yellow"))
    for words in status.corrections:
        out.print(Text(f"Put right, {words}", "yellow"))
    keeps_limits, answer = study.policy.guarantee(study.problem).keeps_limits, study.recommendation
    tell_levels(output, status, keeps_limits, answer.name if answer else None, everything)
    counts = [f"{count:,} {state}" for state, count in status.states.items() if count]
    if status.held_back:
        counts.append(f"{counted(status.held_back, 'result')} held back by an earlier pull")
    if status.imported:
        counts.append(f"{status.imported:,} imported")
    out.print(f"Pulls: {', '.join(counts) or 'none yet'}", soft_wrap=True)
    for stated in status.imports:
        out.print(stated, soft_wrap=True, markup=False)
    if status.late:
        out.print(f"Told late, not counted: pull {', '.join(map(str, status.late))}", soft_wrap=True)
    out.print(Text(f"Head after {counted(status.events, 'event')}: {status.head}", "dim"), soft_wrap=True)


def tell_levels(
    output: Output, status: StudyStatus, keeps_limits: bool, answer: str | None, everything: bool
) -> None:  # fmt: skip
    """Prints the arms that matter with their levels, or all; a printed level is never above the certified one.

    Those matter that were tried, that lead, challenge, look best or are the answer; where there are few, all do.
    """
    from rich.table import Table
    from rich.text import Text

    roles = roles_in(status, answer)
    shown = shown_arms(status, list(roles), everything)
    table = Table("arm", "certified level" if keeps_limits else "level", "pulls", "", box=None, pad_edge=False)
    table.header_style, table.columns[2].justify = "dim", "right"
    for arm in shown:
        level = rounded_down(status.levels[arm]) if isfinite(status.levels[arm]) else "unknown"
        table.add_row(Text(arm), level, f"{status.pulls_per_arm[arm]:,}", Text(", ".join(roles.get(arm, [])), "dim"))
    output.out.print(table)
    tried = sum(1 for pulls in status.pulls_per_arm.values() if pulls)
    tried_here = sum(1 for arm in shown if status.pulls_per_arm[arm])
    rest = [
        (tried - tried_here, "tried less often"),
        (len(status.levels) - len(shown) - tried + tried_here, "never tried"),
    ]
    for count, words in rest:
        if count:
            output.out.print(Text(f"and {counted(count, 'arm')} {words}", "dim"))


def roles_in(status: StudyStatus, answer: str | None) -> dict[str, list[str]]:
    """What there is to say of some arms besides their pulls."""
    said = {
        "answer": answer,
        "leads": status.leader,
        "challenges": status.challenger,
        "best estimate": status.best_estimate,
    }
    found: dict[str, list[str]] = {}
    for role, arm in said.items():
        if arm is not None and arm in status.levels:
            found.setdefault(arm, []).append(role)
    return found


def shown_arms(status: StudyStatus, first: list[str], everything: bool) -> list[str]:
    """The names of the arms that are listed: all, where there are few or it is wished; else those that matter."""
    if everything or len(status.levels) <= ARMS_SHOWN:
        return list(status.levels)
    return list(dict.fromkeys([*first, *status.names_that_matter()]))[:MOST_SHOWN]


def in_words(pull: Pull) -> str:
    """The pull in one line; a printed level is never above the certified one."""
    why: str = pull.phase
    if pull.gap is not None:
        why = f"{pull.leader} leads, {pull.challenger} challenges, gap {pull.gap:.4g}"
    return f"Pull {pull.number}: {pull.name} at level {rounded_down(pull.level, 6)} ({why})"


def told_status(output: Output, study: Study, words: str, **table: Any) -> int:
    """The status 0, once it is told what was done and where the study stands now."""
    status = study.status()
    document, gap = replace(status, levels={}, pulls_per_arm={}).to_dict(), known_gap(status)
    held = f", {status.held_back:,} held back" if status.held_back else ""
    stands = "frozen" if status.frozen else "held" if status.held else phase(status)
    shown_gap = "" if gap is None else f", gap {gap:.4g}"
    wrong = "".join(f"Alarm: {message}. " for message in status.alarms)
    said = f"{wrong}{words}. {study.name}: {stands}, {counted(status.pulls, 'result')}{held}{shown_gap}."
    changes = {key: document[key] for key in CHANGES}  # type: ignore[literal-required]
    first = {"alarms": changes.pop("alarms")}
    return output.answer({**first, **table, **changes}, said, exit_codes.ALARM if status.alarms else exit_codes.OK)
