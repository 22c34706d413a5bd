"""The certificate of a study: that of its session, with the data it rests on and what they add to the assumptions."""

from dataclasses import replace

from surefoot.errors import counted
from surefoot.live.certificate import Certificate
from surefoot.live.ledger import ABORTED, CANCELLED, FAILED, ON_ARRIVAL, STALE
from surefoot.studies.entries import StudyLedger


def certificate_of(ledger: StudyLedger) -> Certificate | None:
    """The answer with its promise; None unless the study ended in certainty."""
    found = ledger.certificate
    if found is None:
        return None
    return replace(found, assumptions=(*found.assumptions, *added_assumptions(ledger)), data=data_notes(ledger))


def data_notes(ledger: StudyLedger) -> tuple[str, ...]:
    """What became of every pull, in words."""
    asked = ledger.last_number - ledger.imported
    notes = [f"{counted(asked, 'pull')} asked for, {counted(ledger.learner.pulls, 'result')} used"]
    if ledger.imported:
        notes.append(f"{counted(ledger.imported, 'result')} imported from elsewhere")
    for state in (CANCELLED, FAILED, STALE, ABORTED):
        if ledger.counts[state]:
            notes.append(f"{counted(ledger.counts[state], 'pull')} {state}, without a result")
    if ledger.unused:
        notes.append(f"{counted(ledger.unused, 'result')} came in after the end and changed nothing")
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
        found.append(f"{counted(given_up, 'pull')} without a result: not left out because of it (confirmed)")
    if ledger.imported:
        found.append(
            f"{counted(ledger.imported, 'imported result')}: measured under the same truth, none left out because of "
            "its result (confirmed)"
        )
    if ledger.counts[ABORTED]:
        found.append(
            f"{counted(ledger.counts[ABORTED], 'pull')} aborted as unsafe: the results they would have had are "
            "no different from those of other pulls"
        )
    if ledger.intake == ON_ARRIVAL:
        found.append("results are taken in as they arrive: how long one takes does not depend on what it is")
    return tuple(found)
