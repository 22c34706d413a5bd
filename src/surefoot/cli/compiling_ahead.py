"""What a command needs later, compiled by another process meanwhile: of two cores, one would else wait for the other.

Compiled code is kept on disk, so whoever compiles it, all find it there. Nothing depends on it: where no process can be
started, the command compiles what it needs when it needs it.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from multiprocessing.process import BaseProcess

from surefoot.live.model_checks import ModelChecks
from surefoot.live.session import Session
from surefoot.policies import Policy
from surefoot.policies.bound import faced, is_ready
from surefoot.problem import Problem


class CompilingAhead:
    """Another process that compiles the sessions of these policies, and the alarm first, if they are not stored yet."""

    def __init__(self, problem: Problem, policies: list[Policy]) -> None:
        self._process: BaseProcess | None = None
        missing = [policy for policy in policies if not is_ready(faced(policy, problem))]
        if not missing or (os.cpu_count() or 1) < 2:
            return
        started = multiprocessing.get_context("spawn").Process(target=compile_all, args=(problem, missing), daemon=True)
        try:
            started.start()
        except OSError:
            return
        self._process = started

    def wait(self) -> None:
        """Until it is done: to compile the same once more would take longer."""
        if self._process is not None:
            self._process.join()


def compile_all(problem: Problem, policies: list[Policy]) -> None:
    """Begins a session with each, which compiles it; says nothing whatever happens."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command that waits for it says what there is to say
    threading.Thread(target=end_with_parent, daemon=True).start()
    silent = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(silent, stream)
    ModelChecks(problem, policies[0].guarantee(problem))  # first: the command itself will want it soon
    for policy in policies:
        Session(problem, policy).ledger.learner.expected(0, 0.0)


def end_with_parent() -> None:
    """Ends this process when the command has ended, in whatever way: nobody needs the rest then."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(0)
