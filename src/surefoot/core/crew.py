"""Several threads over the arms of one run: what is computed from all features is cut into stretches of arms, and
whoever is free takes the next one.

The thread that plays the run puts a job up and works on it like the others. So nothing ever waits for a helper that has
not begun: one that the system does not let run only leaves more to the rest. Stretches do not touch each other, and
each is computed as it would be by one thread alone: the numbers are the same to the last digit, whoever is there.

Helpers sleep at a bell, the other end of a pipe. One that wakes late may find another job than the one it was called
for, and takes part in that: what the job is about is read after a stretch was taken, and until that is done no other
job is put up.
"""

import numpy as np

from surefoot.core.kernel import add_shared, kernel, read_shared, ring, write_shared
from surefoot.core.types import Indices

LEFT, DONE = 0, 8  # words that all write, each in a cache line of its own: stretches not yet taken, and those done
JOB, ABOUT, PLACE, BELL, HANDS = 16, 17, 18, 19, 20  # what is to be done, and for whom it is rung
WORDS = 24
CROWD = 10_000  # arms: from here on threads pay


def new_board(K: int) -> Indices:
    """Where jobs are put up; nothing where there are too few arms to share."""
    return np.zeros(WORDS if K >= CROWD else 0, np.int64)


@kernel
def put_up(board: Indices, job: int, about: int, place: int, stretches: int) -> None:
    """A job of so many stretches for whoever is free."""
    board[JOB], board[ABOUT], board[PLACE] = job, about, place
    board[DONE] = 0
    write_shared(board, LEFT, stretches)
    ring(board[BELL], min(board[HANDS], stretches - 1))


@kernel
def taken(board: Indices) -> int:
    """The stretch that is mine from now on; below 0 when none is left."""
    return add_shared(board, LEFT, -1) - 1


@kernel
def taken_after(board: Indices) -> int:
    """The same, when the last one is done."""
    add_shared(board, DONE, 1)
    return taken(board)


@kernel
def wait_for(board: Indices, stretches: int) -> None:
    """Until the last one that somebody took is done."""
    while read_shared(board, DONE) < stretches:
        pass
