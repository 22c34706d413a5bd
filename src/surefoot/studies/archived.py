"""Studies of other versions: they can be read, exported and carried over; nothing in them is decided again."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Never

import numpy as np

from surefoot.core.loop import LEARNED
from surefoot.core.records import Answers, Script, new_answers
from surefoot.core.types import DECIDING, NULL, PULL, Decision
from surefoot.errors import OtherVersion
from surefoot.live.audit import AuditReport
from surefoot.live.certificate import Certificate
from surefoot.live.pulls import Outcome, Recommendation
from surefoot.live.trace import Trace
from surefoot.problem.checks import Floats
from surefoot.storage.protocol import Store
from surefoot.studies import events
from surefoot.studies.entries import StudyLedger
from surefoot.studies.handle import Handle, Settings
from surefoot.studies.signatures import SignedHead
from surefoot.studies.step import Step
from surefoot.studies.study import Study


class Counter:
    """In the place of a learner: it counts results and learns nothing."""

    def __init__(self, settings: Settings) -> None:
        self.guarantee = settings.policy.guarantee(settings.problem)
        self.pulls = 0
        self.pulls_per_arm = np.zeros(settings.problem.size, np.int64)
        self.levels: Floats = np.full(settings.problem.size, np.nan)  # nobody knows
        self.estimates: Floats = self.levels
        self.decision, self.margin, self.ending = Decision(PULL, DECIDING, 0, 0.0, NULL, 0.0, NULL, np.nan), 0.0, None

    def begin_anew(self) -> None:
        """None yet."""
        self.pulls = 0
        self.pulls_per_arm[:] = 0

    def take(self, arm: int, level: float, observed: Sequence[float]) -> None:
        """One result more."""
        self.pulls += 1
        self.pulls_per_arm[arm] += 1

    def replay(self, script: Script) -> Answers:
        """So many results more; no decision is compared."""
        for row in script.pull[script.step == LEARNED]:
            self.take(int(script.arm[row]), 0.0, ())
        return new_answers(len(script.arm))


class ArchivedLedger(StudyLedger):
    """The account of what happened, and of what was said at the end."""

    def __init__(self, settings: Settings) -> None:
        counter: Any = Counter(settings)
        super().__init__(
            settings.problem, settings.policy, max_pulls=settings.max_pulls, intake=settings.intake, learner=counter
        )

    def _enter(self, kind: str, *fields: Any, audit: bool) -> None:
        """One event; what came before the end is counted before it has ended."""
        if kind == events.END:
            self.settle()
        super()._enter(kind, *fields, audit=audit)

    @property
    def outcome(self) -> Outcome | None:
        """How it ended, as far as that was stored."""
        found: Outcome | None = self._said("outcome")
        return found

    @property
    def certificate(self) -> Certificate | None:
        """The certificate that was given."""
        found = self._said("certificate")
        return None if found is None else Certificate.from_dict(found)

    @property
    def recommendation(self) -> Recommendation | None:
        """The answer that was given."""
        found = self._said("recommendation")
        return None if found is None else Recommendation(**found)

    def _said(self, what: str) -> Any:
        return None if self.end is None else json.loads(self.end)[what]


class ArchivedHandle(Handle):
    """A study that is only read."""

    def __init__(
        self, store: Store, identity: int, name: str, settings: Settings, origin: bytes, differences: list[str]
    ) -> None:
        super().__init__(store, identity, name, settings, origin)
        self.differences = differences

    def write(self, step: Step[Any]) -> Never:
        """Refuses: nothing is decided by other rules than those the study began with."""
        raise OtherVersion(self.name, self.differences)

    def new_ledger(self) -> StudyLedger:
        """An empty account."""
        ledger = ArchivedLedger(self.settings)
        ledger.where, ledger.head = str(self.store.address), self.origin
        return ledger


class ArchivedStudy(Study):
    """A study that was begun with other versions. Everything that only reads works; every verb that would change it is
    refused by name. `sf.create_study(..., warm_start=study)` carries its data into a new one."""

    def __init__(
        self, store: Store, identity: int, name: str, settings: Settings, origin: bytes, differences: list[str]
    ) -> None:
        super().__init__(store, identity, name, settings, origin)
        self.differences = tuple(differences)
        self._handle = ArchivedHandle(store, identity, name, settings, origin, differences)

    def trace(self, *, arms: Sequence[int | str] | None = None, states: int | None = None) -> Trace:
        """Refuses: what was known after each round follows from rules that are not here any more."""
        raise OtherVersion(self.name, list(self.differences))

    def audit(self, *, head: str | SignedHead | None = None, signed_by: str | Path | None = None) -> AuditReport:
        """Whether its events follow each other; decisions are not recomputed, since other rules took them."""
        return replace(
            super().audit(head=head, signed_by=signed_by), mismatches=(), not_recomputed="; ".join(self.differences)
        )
