"""What one who only looks wants to know first: what is expected of each arm now, and how long it may still take.

A study may be long, and is opened from a snapshot: nothing of it is replayed for this. What is known of arms is in the
ledger, and the course of the gap is in the pulls that were asked for, of which some are looked up.
"""

from typing import NamedTuple

import numpy as np

from surefoot.live.learner import Learner
from surefoot.live.outlook import TrialsToGo, drawn_on
from surefoot.live.trace import Trace
from surefoot.live.tracing import arms_that_matter, followed_arms, known_now
from surefoot.storage.protocol import Events
from surefoot.studies import events
from surefoot.studies.entries import StudyLedger
from surefoot.studies.study import Study

LOOKED_UP = 400  # events


class Outlook(NamedTuple):
    """What is expected of the arms that matter, and the trials to come; None where it cannot be said."""

    known: Trace | None
    trials_to_go: TrialsToGo | None


def outlook_of(study: Study) -> Outlook:
    """The outlook of a study as it is now; a study of another version has none."""
    problem = study.problem

    def see(ledger: StudyLedger, stored: Events) -> Outlook:
        learner = ledger.learner
        if not isinstance(learner, Learner):
            return Outlook(None, None)
        known = known_now(learner, followed_arms(problem, None, arms_that_matter(learner)))
        gap = ledger.gap
        if ledger.outcome is not None or gap is None:
            return Outlook(known, None)
        rounds, gaps = gaps_asked_with(ledger, stored)
        return Outlook(known, drawn_on([*rounds, learner.pulls], [*gaps, gap], problem.epsilon))

    return study._handle.look(see)


def gaps_asked_with(ledger: StudyLedger, stored: Events) -> tuple[list[int], list[float]]:
    """After how many results pulls of the last half of the study were asked for, and the gap then."""
    first, last = max(1, ledger.sequence // 2), ledger.sequence
    looked_up = np.unique(np.linspace(first, last, min(LOOKED_UP, last - first + 1)).astype(int)).tolist()
    found: dict[int, float] = {}
    for sequence in looked_up:
        event = stored.at(sequence)
        if event is not None and event["kind"] == events.ASK and event["gap"] is not None:
            found[int(event["number"]) - 1] = float(event["gap"])
    before = [number for number in sorted(found) if number < ledger.learner.pulls]
    return before, [found[number] for number in before]
