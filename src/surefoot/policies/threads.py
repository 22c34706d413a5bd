"""Helpers beside the thread that plays a run: they sleep until a job is put up (`core.crew`), and lend a hand."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import Any

import numpy as np

from surefoot.core.crew import BELL, HANDS
from surefoot.core.state import State, Work
from surefoot.core.types import Instance
from surefoot.errors import InvalidInput
from surefoot.policies.bound import unchecked

MOST_HANDS = 7  # memory has no more to give to more than about eight threads
STEP_HANDS = 3  # for a single step: each takes a tenth of a millisecond to begin
LARGE = 5_000_000  # features of all arms, some milliseconds to read: from here on a step is worth calling helpers for
VARIABLE = "SUREFOOT_THREADS"  # how many threads one experiment may use, in place of one for each core


def hands_for_a_step(inst: Instance) -> int:
    """How many helpers a step of a session gets: one for each core that is left, where there is much to do."""
    return min(threads_for_arms() - 1, STEP_HANDS) if len(inst.board) > 0 and inst.X.size >= LARGE else 0


def threads_for_arms() -> int:
    """How many threads one experiment may use for all of its arms: one for each core, or as many as are named."""
    asked = os.environ.get(VARIABLE, "").strip()
    if asked and not (asked.isascii() and asked.isdigit() and int(asked) > 0):
        remedy = "Set it to 1 or more, or leave it away for one for each core."
        raise InvalidInput(VARIABLE, asked, "must be a number of threads", remedy)
    return min(int(asked) if asked else cores(), 1 + MOST_HANDS)


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def hands_for_runs(workers: int, at_once: int) -> int:
    """How many helpers each of the runs gets that are played at once: the workers that have none of their own."""
    return min(workers // max(at_once, 1) - 1, MOST_HANDS)


@contextmanager
def helped(hand: Callable[..., Any] | None, inst: Instance, state: State, work: Work, hands: int) -> Iterator[None]:
    """Inside, so many helpers wait for jobs of this run, or as many as the system lets begin; with no hand, or none
    asked for, nobody does."""
    if hand is None or hands < 1:
        yield
        return
    hand(inst, state.estimate, work.scratch, work.scratch.W)  # there is no job: it is only compiled, or loaded
    crew = Crew(unchecked(hand), inst, state, work)
    try:
        crew.begin(hands)
        yield
    finally:
        crew.end()


class Crew:
    """The helpers of one call."""

    def __init__(self, hand: Callable[..., Any], inst: Instance, state: State, work: Work) -> None:
        self._hand, self._inst, self._state, self._work = hand, inst, state, work
        self._over, self._helpers, self._ends = Event(), list[Thread](), list[Any]()

    def begin(self, hands: int) -> None:
        """Calls so many; whoever cannot begin is done without."""
        with suppress(OSError, RuntimeError):  # no more files, no more threads
            listening, bell = os.pipe()
            # Ends are objects and not numbers: one that was closed might be somebody else's by then.
            self._ends += [os.fdopen(listening, "rb", buffering=0), os.fdopen(bell, "wb", buffering=0)]
            os.set_blocking(bell, False)  # a bell that nobody hears is no reason to wait
            for _ in range(hands):
                helper = Thread(target=self._stand_by, args=(self._ends[0],), daemon=True)
                self._helpers.append(helper)
                helper.start()
                self._inst.board[BELL], self._inst.board[HANDS] = bell, self._inst.board[HANDS] + 1

    def end(self) -> None:
        """Sends all of them home, and waits until they are gone."""
        self._inst.board[HANDS] = 0
        self._over.set()
        # By ringing, and not by closing the bell: a process that was forked meanwhile holds it open too.
        with suppress(OSError):  # full: then there is enough for everybody to wake up by
            if self._ends:
                self._ends[1].write(bytes(len(self._helpers)))
        for helper in self._helpers:
            if helper.ident is not None:
                helper.join()
        for end in self._ends:
            end.close()

    def _stand_by(self, listening: Any) -> None:
        """A helper, until all is over."""
        images = np.zeros_like(self._work.scratch.W)
        with suppress(ValueError):  # closed: Ctrl-C came while this one began, and nobody has waited for it
            while listening.read(1) and not self._over.is_set():
                self._hand(self._inst, self._state.estimate, self._work.scratch, images)
