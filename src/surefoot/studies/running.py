"""A study driven by a function: ask, call, tell, until the end."""

from collections.abc import Callable, Iterable, Mapping
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.errors import BudgetOpen, Finished, InvalidInput
from surefoot.live.pulls import Pull
from surefoot.problem.checks import check_count, known_keys, number
from surefoot.progress import changing_line

if TYPE_CHECKING:
    from surefoot.studies.study import Study

RESULT = 'Return (reward, safety), or a mapping with "reward", "safety" and, where it differs, "level".'
Measure = Callable[[Pull], Any]
Callback = Callable[["Study", Pull], object]


def run_study(
    study: "Study", function: Measure, max_pulls: int | None, timeout: float | None, callbacks: Iterable[Callback],
    progress: bool, worker: str,
) -> int:  # fmt: skip
    """How many pulls were made here: until the study ends, so many are made or so many seconds are over."""
    if not callable(function):
        raise InvalidInput("function", function, "must be callable", "Pass a function that takes a pull.")
    most = None if max_pulls is None else check_count("max_pulls", max_pulls)
    seconds = None if timeout is None else number("timeout", timeout, "Give seconds, at least 0.", at_least=0.0)
    end = None if seconds is None else monotonic() + seconds
    after_each = list(callbacks)
    for each in after_each:
        if not callable(each):
            raise InvalidInput("callbacks", each, "must be callable", "Pass functions that take a study and a pull.")
    made = 0
    with changing_line(progress, study.name) as show:
        while (most is None or made < most) and (end is None or monotonic() < end):
            try:
                pull = study.ask(worker=worker)
            except (Finished, BudgetOpen):  # of the budget, others have what is left
                break
            study.tell(pull, **as_result(function(pull), limits=bool(study.problem.safety)))
            made += 1
            for each in after_each:
                each(study, pull)
            show(line_of(study, pull))
    return made


def as_result(returned: object, *, limits: bool = True) -> dict[str, Any]:
    """What a function returned, as `tell` takes it; without limits the reward alone is a result."""
    if not limits and isinstance(returned, int | float | np.number) and not isinstance(returned, bool):
        return {"reward": returned}
    if isinstance(returned, Mapping):
        known_keys("result", returned, ("reward", "safety", "level"))
        if "reward" in returned and ("safety" in returned or not limits):
            return dict(returned)
    elif isinstance(returned, tuple | list) and len(returned) == 2:
        return {"reward": returned[0], "safety": returned[1]}
    raise InvalidInput("result", returned, "is not the result of a pull", RESULT)


def line_of(study: "Study", pull: Pull) -> str:
    """The study and its latest pull in one line."""
    gap = "" if pull.gap is None else f", gap {pull.gap:.4g} (epsilon {study.problem.epsilon:.4g})"
    return f"{study.name}: pull {pull.number}, {pull.name} at {pull.at}, {pull.phase}{gap}"
