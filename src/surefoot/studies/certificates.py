"""The certificate of a study: that of its session, with the data it rests on and what they add to the assumptions."""

import json
from dataclasses import replace

from surefoot.errors import counted
from surefoot.live.certificate import Certificate
from surefoot.live.ledger import ABORTED, CANCELLED, FAILED, ON_ARRIVAL, RECALLED, STALE, VOIDED
from surefoot.problem.units import level_in_words
from surefoot.studies.corrections import revision_in_words, said_of
from surefoot.studies.entries import StudyLedger


def certificate_of(ledger: StudyLedger) -> Certificate | None:
    """The answer with its promise; None unless the study ended in certainty."""
    found = ledger.certificate
    if found is None:
        return None
    assumptions = (*found.assumptions, *added_assumptions(ledger))
    return replace(found, assumptions=assumptions, data=data_notes(ledger), head=ledger.end_head.hex())


def data_notes(ledger: StudyLedger) -> tuple[str, ...]:
    """What became of every pull, in words."""
    asked = ledger.last_number - ledger.imported
    notes = [f"{counted(asked, 'pull')} asked for, {counted(ledger.learner.pulls, 'result')} used"]
    if ledger.imported:
        notes.append(f"{counted(ledger.imported, 'result')} imported from elsewhere")
        notes += [statement.words for statement in ledger.statements]
    for state in (CANCELLED, FAILED, STALE, ABORTED, RECALLED, VOIDED):
        if ledger.counts[state]:
            notes.append(f"{counted(ledger.counts[state], 'pull')} {state}, without a result")
    if ledger.unused:
        notes.append(f"{counted(ledger.unused, 'result')} came in after the end and changed nothing")
    if ledger.confirmed:
        listed = ", ".join(map(str, ledger.confirmed))
        notes.append(f"{counted(len(ledger.confirmed), 'result')} taken in on confirmation: pull {listed}")
    if ledger.holding:
        listed = ", ".join(map(str, ledger.holding))
        notes.append(f"{counted(len(ledger.holding), 'implausible result')} held and not taken in: pull {listed}")
    for revision in ledger.revisions:
        done = "voided" if revision.new is None else "corrected"
        notes.append(f"{done} {revision_in_words(ledger.problem, revision)}")
    for end in ledger.earlier_ends:
        notes.append(f"an earlier end, before a correction: {end_in_words(ledger, end)}")
    if ledger.open_numbers:
        notes.append(f"{counted(len(ledger.open_numbers), 'pull')} still open")
    for alarm in ledger.raised:
        notes.append(f"alarm raised: {alarm}; released: {ledger.releases.get(alarm, 'not yet')}")
    if ledger.mismatches:
        notes.append(f"{counted(len(ledger.mismatches), 'pull')} not as recomputed: see the audit")
    return tuple(notes)


def added_assumptions(ledger: StudyLedger) -> tuple[str, ...]:
    """What the promise rests on besides, because of how the data came in."""
    found = []
    given_up = sum(ledger.counts[state] for state in (CANCELLED, FAILED, STALE))
    if given_up:
        found.append(
            f"{counted(given_up, 'pull')} without a result: not left out because of it (confirmed), nor because of a "
            "result with a larger number or of one still open"
        )
    if ledger.confirmed:
        found.append(f"{counted(len(ledger.confirmed), 'implausible result')}: measured as told (confirmed)")
    found += revision_assumptions(ledger)
    if ledger.imported:
        found.append(
            f"{counted(ledger.imported, 'imported result')}: measured under the same truth, none left out because of "
            "its result (confirmed), each setting chosen without knowing later results, and epsilon, delta and arms "
            "not chosen after looking at them"
        )
    if ledger.counts[ABORTED]:
        found.append(
            f"{counted(ledger.counts[ABORTED], 'pull')} aborted as unsafe: the results they would have had are "
            "no different from those of other pulls"
        )
    if ledger.intake == ON_ARRIVAL:
        found.append(
            "results are taken in as they arrive: how long one takes does not depend on what it is, nor on the results "
            "of pulls that are still open"
        )
    return tuple(found)


def revision_assumptions(ledger: StudyLedger) -> list[str]:
    """What the promise rests on where results were corrected or taken out, and whom it does not cover."""
    if not ledger.revisions:
        return []
    found = [
        f"{counted(len(ledger.revisions), 'correction')}: the values of now are what was measured, and what was "
        "corrected or taken out was not chosen for its result, nor for a later one"
    ]
    misled = {each for revision in ledger.revisions for each in range(revision.misled[0], revision.misled[1] + 1)}
    misled = {each for each in misled if not ledger.is_imported(each)}
    if misled:
        found.append(
            f"{counted(len(misled), 'pull')} asked for while other values stood: the promise of safety covers them "
            "only as far as those values were right"
        )
    return found


def end_in_words(ledger: StudyLedger, end: str) -> str:
    """What was said at an end."""
    said, answer = json.loads(end), said_of(end)
    shown = (
        ""
        if answer is None
        else f", {said['recommendation']['name']} at {level_in_words(ledger.problem.dial, answer[1])}"
    )
    return f"{said['outcome']} after {counted(said['pulls'], 'result')}{shown}"
