"""A study driven by a function: ask, call, tell, until the end."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from surefoot.errors import BudgetOpen, Finished, InvalidInput
from surefoot.live.pulls import Pull
from surefoot.problem.checks import check_count, known_keys

if TYPE_CHECKING:
    from surefoot.studies.study import Study

RESULT = 'Return (reward, safety), or a mapping with "reward", "safety" and, where it differs, "level".'
Measure = Callable[[Pull], Any]
Callback = Callable[["Study", Pull], object]


def run_study(
    study: "Study", function: Measure, max_pulls: int | None, callbacks: Iterable[Callback], progress: bool, worker: str
) -> int:
    """How many pulls were made here: until the study ends, or so many."""
    if not callable(function):
        raise InvalidInput("function", function, "must be callable", "Pass a function that takes a pull.")
    most = None if max_pulls is None else check_count("max_pulls", max_pulls)
    after_each = list(callbacks)
    for each in after_each:
        if not callable(each):
            raise InvalidInput("callbacks", each, "must be callable", "Pass functions that take a study and a pull.")
    made = 0
    with shown_progress(study, progress) as show:
        while most is None or made < most:
            try:
                pull = study.ask(worker=worker)
            except (Finished, BudgetOpen):  # of the budget, others have what is left
                break
            study.tell(pull, **as_result(function(pull)))
            made += 1
            for each in after_each:
                each(study, pull)
            show(pull)
    return made


def as_result(returned: object) -> dict[str, Any]:
    """What a function returned, as `tell` takes it."""
    if isinstance(returned, Mapping):
        known_keys("result", returned, ("reward", "safety", "level"))
        if "reward" in returned and "safety" in returned:
            return dict(returned)
    elif isinstance(returned, tuple | list) and len(returned) == 2:
        return {"reward": returned[0], "safety": returned[1]}
    raise InvalidInput("result", returned, "is not the result of a pull", RESULT)


@contextmanager
def shown_progress(study: "Study", wanted: bool) -> Iterator[Callable[[Pull], None]]:
    """What to call after each pull; it keeps a line on the terminal up to date, if that is wanted."""
    if not wanted:
        yield lambda pull: None
        return
    from rich.console import Console
    from rich.status import Status

    def line(pull: Pull | None) -> str:
        gap = "" if pull is None or pull.gap is None else f", gap {pull.gap:.4g} (epsilon {study.problem.epsilon:.4g})"
        last = "" if pull is None else f": pull {pull.number}, {pull.name} at level {pull.level:.4g}, {pull.phase}{gap}"
        return f"{study.name}{last}"

    with Status(line(None), console=Console(stderr=True)) as status:
        yield lambda pull: status.update(line(pull))
