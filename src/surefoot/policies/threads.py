"""Helpers beside the thread that plays a run: they sleep until a job is put up (`core.crew`), and lend a hand."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

import numpy as np

from surefoot.core.crew import BELL, HANDS
from surefoot.core.state import State, Work
from surefoot.core.types import Instance
from surefoot.errors import InvalidInput

MOST_HANDS = 7  # memory has no more to give to more than about eight threads
LARGE = 1_000_000  # features of all arms: from here on a single step is worth calling helpers for
VARIABLE = "SUREFOOT_THREADS"  # how many threads one experiment may use, in place of one for each core


def hands_for_a_step(inst: Instance) -> int:
    """How many helpers a step of a session gets: one for each core that is left, where there is much to do."""
    return threads_for_arms() - 1 if len(inst.board) > 0 and inst.X.size >= LARGE else 0


def threads_for_arms() -> int:
    """How many threads one experiment may use for all of its arms: one for each core, or as many as are named."""
    asked = os.environ.get(VARIABLE, "").strip()
    if asked and not (asked.isascii() and asked.isdigit() and int(asked) > 0):
        remedy = "Set it to 1 or more, or leave it away for one for each core."
        raise InvalidInput(VARIABLE, asked, "must be a number of threads", remedy)
    return min(int(asked) if asked else os.cpu_count() or 1, 1 + MOST_HANDS)


def hands_for_runs(workers: int, at_once: int) -> int:
    """How many helpers each of the runs gets that are played at once: the workers that have none of their own."""
    return min(workers // max(at_once, 1) - 1, MOST_HANDS)


@contextmanager
def helped(hand: Callable[..., Any] | None, inst: Instance, state: State, work: Work, hands: int) -> Iterator[None]:
    """Inside, so many helpers wait for jobs of this run; with no hand, or none asked for, nobody does."""
    if hand is None or hands < 1:
        yield
        return
    hand(inst, state.estimate, work.scratch, work.scratch.W)  # there is no job: it is only compiled, or loaded
    listening, bell = os.pipe()
    os.set_blocking(bell, False)  # a bell that nobody hears is no reason to wait
    helpers = [Thread(target=stand_by, args=(listening, hand, inst, state, work), daemon=True) for _ in range(hands)]
    try:
        for helper in helpers:
            helper.start()
        inst.board[BELL], inst.board[HANDS] = bell, len(helpers)
        yield
    finally:
        inst.board[HANDS] = 0
        os.close(bell)  # whoever waits goes home
        for helper in helpers:
            if helper.ident is not None:
                helper.join()
        os.close(listening)


def stand_by(listening: int, hand: Callable[..., Any], inst: Instance, state: State, work: Work) -> None:
    """A helper, until the bell is taken down."""
    images = np.zeros_like(work.scratch.W)
    while os.read(listening, 1):
        hand(inst, state.estimate, work.scratch, images)
