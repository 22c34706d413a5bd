"""Experiments as a notebook shows them."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from surefoot.cards import card
from surefoot.live.quantities import level_in_table
from surefoot.problem import Problem

if TYPE_CHECKING:
    from surefoot.live.pulls import Status

SHOWN = 10  # arms
ITSELF = "itself, at a higher level"


def status_card(problem: Problem, title: str, status: Status, statement: str) -> str:
    """Where an experiment stands, in HTML."""
    facts = [("results", f"{status.pulls:,}")]
    if status.leader is not None:
        facts.append(("leads", status.leader))
        rival = ITSELF if status.challenger == status.leader else status.challenger
        facts += [("might beat it", rival)] if rival is not None and status.outcome is None else []
    if status.gap is not None and isfinite(status.gap):
        facts.append(("gap", f"{status.gap:.4g}, certain at {status.epsilon:g}"))
    facts += [(f"held, pull {each.number}", each.surprises) for each in status.held]
    every = list(status.levels) if len(status.levels) <= SHOWN else status.names_that_matter()[:SHOWN]
    rows = [(name, level_in_table(problem, status.levels[name]), f"{status.pulls_per_arm[name]:,}") for name in every]
    if len(rows) < len(status.levels):
        rows.append((f"of {len(status.levels):,}", "", ""))
    return card(title, [statement], facts, table=[("arm", "certified level", "pulls"), *rows])
