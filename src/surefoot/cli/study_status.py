"""Which study is meant, and where it stands."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from surefoot.cli import exit_codes
from surefoot.cli.answers import tell_answer
from surefoot.cli.job import Which
from surefoot.cli.live import known_gap, phase
from surefoot.cli.output import Output
from surefoot.cli.study_arms import tell_arms
from surefoot.cli.study_outlook import outlook_document, rewards_of, tell_outlook
from surefoot.errors import counted
from surefoot.live.pulls import Pull, Recommendation
from surefoot.live.trace import Trace
from surefoot.studies.lifecycle import load_study
from surefoot.studies.outlook import outlook_of
from surefoot.studies.status import StudyStatus
from surefoot.studies.study import Study

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
    from rich.text import Text

    study = opened(which)
    status, waiting = study.status(), study.open_pulls
    certificate, answer, outlook = study.certificate, study.recommendation, outlook_of(study)
    if output.json:
        output.json_result(
            {
                "alarms": status.alarms, "statement": study.statement, "storage": study.storage,
                "outlook": outlook_document(status, outlook, certificate),
                "status": {**status.to_brief_dict(), **status.to_dict()} if everything else status.to_brief_dict(),
                "open": [pull.to_dict() for pull in waiting],
                "recommendation": answer and answer.to_dict(), "certificate": certificate and certificate.to_dict(),
            }
        )  # fmt: skip
        return exit_codes.ALARM if status.alarms else exit_codes.OK
    for message in status.contradictions:
        output.out.print(Text(f"Alarm{'' if message in status.alarms else ', released'}: {message}", "red"))
    tell_outlook(output, study, status, outlook, certificate, answer)
    tell_status(output, study, status, answer, everything, outlook.known)
    for pull in waiting:
        output.out.print(f"  {in_words(pull)}", soft_wrap=True, markup=False)
    if status.outcome is not None:
        ended = "alarm" if status.alarms else status.outcome
        tell_answer(output, ended, status.pulls, certificate, answer, status.alarms, study.problem.reward.unit)
    return exit_codes.ALARM if status.alarms else exit_codes.OK


def tell_status(
    output: Output, study: Study, status: StudyStatus, answer: Recommendation | None, everything: bool,
    known: Trace | None,
) -> None:  # fmt: skip
    """Prints where the study stands, in a few lines."""
    from rich.text import Text

    out, gap = output.out, known_gap(status)
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
    keeps_limits = study.policy.guarantee(study.problem).keeps_limits
    answered = answer.name if answer else None
    tell_arms(output, status, study.problem, keeps_limits, answered, everything, rewards_of(known))
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


def in_words(pull: Pull) -> str:
    """The pull in one line; a printed level is never above the certified one."""
    why: str = pull.phase
    if pull.gap is not None:
        why = f"{pull.leader} leads, {pull.challenger} challenges, gap {pull.gap:.4g}"
    return f"Pull {pull.number}: {pull.name} at {pull.at} ({why})"


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
