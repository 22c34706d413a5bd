"""The certificate of a study: that of its session, with the data it rests on and what they add to the assumptions."""

from dataclasses import replace

from surefoot.errors import counted
from surefoot.live.certificate import Certificate, certify_answer
from surefoot.live.ledger import BY_ARRIVAL, Fold
from surefoot.studies import events


def certificate_of(fold: Fold) -> Certificate | None:
    """The answer with its promise; None unless the study ended in certainty."""
    session = fold.session
    found = session.certificate
    if found is None:
        return None
    whole = certify_answer(
        session.policy, session.problem, found.arm, found.level, found.gap, found.pulls, len(fold.alarms)
    )
    return replace(whole, assumptions=(*whole.assumptions, *added_assumptions(fold)), data=data_notes(fold))


def data_notes(fold: Fold) -> tuple[str, ...]:
    """What became of every pull, in words."""
    asked = fold.last_number - fold.imported
    notes = [f"{counted(asked, 'pull')} asked for, {counted(fold.session.pulls, 'result')} used"]
    if fold.imported:
        notes.append(f"{counted(fold.imported, 'result')} imported from elsewhere")
    for state in (events.CANCELLED, events.FAILED, events.STALE, events.ABORTED):
        if fold.counts[state]:
            notes.append(f"{counted(fold.counts[state], 'pull')} {state}, without a result")
    if fold.unused:
        notes.append(f"{counted(fold.unused, 'result')} came in after the end and changed nothing")
    if fold.open_numbers:
        notes.append(f"{counted(len(fold.open_numbers), 'pull')} still open")
    for message in fold.raised:
        notes.append(f"alarm raised: {message}")
    if fold.mismatches:
        notes.append(f"{counted(len(fold.mismatches), 'pull')} not as recomputed: see the audit")
    return tuple(notes)


def added_assumptions(fold: Fold) -> tuple[str, ...]:
    """What the promise rests on besides, because of how the data came in."""
    found = []
    given_up = sum(fold.counts[state] for state in (events.CANCELLED, events.FAILED, events.STALE))
    if given_up:
        found.append(f"{counted(given_up, 'pull')} without a result: not left out because of it (confirmed)")
    if fold.imported:
        found.append(
            f"{counted(fold.imported, 'imported result')}: measured under the same truth, none left out because of "
            "its result (confirmed)"
        )
    if fold.counts[events.ABORTED]:
        found.append(
            f"{counted(fold.counts[events.ABORTED], 'pull')} aborted as unsafe: the results they would have had are "
            "no different from those of other pulls"
        )
    if fold.order == BY_ARRIVAL:
        found.append("results are taken in as they arrive: how long one takes does not depend on what it is")
    return tuple(found)
