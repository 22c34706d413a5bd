"""What follows from what was entered, and is stored with it: recalls, alarms, and the end."""

import json

from surefoot import __version__
from surefoot.plain_data import plain
from surefoot.studies import events
from surefoot.studies.entries import StudyLedger
from surefoot.studies.events import Event

ALARM = "the alarm"  # by whom a study is frozen when the data contradict the model


def recalls_in(ledger: StudyLedger, number: int) -> list[Event]:
    """Open pulls above the level that is certified after the correction of this pull."""
    said = f"its level is not certified after the correction of pull {number}"
    return [events.closed(events.RECALL, each, said) for each in ledger.too_high_now]


def alarms_in(ledger: StudyLedger) -> list[Event]:
    """The alarms that are to be raised over what the ledger has found."""
    return [events.held(events.ALARM, found.message, ALARM, ledger.last_number) for found in ledger.findings]


def end_of(ledger: StudyLedger) -> list[Event]:
    """The end, if it has come and is not stored: a version that decides otherwise can still tell what was said."""
    if ledger.outcome is None or ledger.end is not None or ledger.ringing or ledger.findings:
        return []  # while an alarm rings nothing is said about the answer
    certificate, answer = ledger.certificate, ledger.recommendation
    said = {
        "outcome": ledger.outcome, "pulls": ledger.learner.pulls,
        "certificate": certificate and certificate.to_dict(), "recommendation": answer and answer.to_dict(),
    }  # fmt: skip
    return [events.held(events.END, json.dumps(plain(said)), f"surefoot {__version__}")]
