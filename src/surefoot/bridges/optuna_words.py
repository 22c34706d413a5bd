"""Studies in the words of Optuna: an objective that takes a trial, and `study.optimize(objective, n_trials)`.

What differs is what has to: a trial is one of the problem's options at a level that is certified safe, so there is
nothing to suggest, and an objective returns the safety readings beside the value.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from surefoot.errors import InvalidInput
from surefoot.live.pulls import Pull

if TYPE_CHECKING:
    from surefoot.studies.running import Callback, Measure
    from surefoot.studies.study import Study


@dataclass(frozen=True)
class Trial:
    """What to try: an option of the problem, and the level at which it is applied."""

    pull: Pull
    features: tuple[float, ...]  # of the option, at full level

    @property
    def number(self) -> int:
        """Counts from 1, as pulls do."""
        return self.pull.number

    @property
    def params(self) -> dict[str, str | float]:
        """The option by its name, and the level."""
        return {"option": self.pull.name, "level": self.pull.level}


Objective = Callable[[Trial], Any]
TrialCallback = Callable[["Study", Trial], object]


def with_trials(
    study: "Study", objective: Objective, callbacks: Iterable[TrialCallback]
) -> tuple["Measure", list["Callback"]]:
    """The objective and the callbacks as `study.run` calls them: with pulls."""
    if not callable(objective):
        raise InvalidInput("objective", objective, "must be callable", "Pass a function that takes a trial.")

    def trial_of(pull: Pull) -> Trial:
        return Trial(pull, tuple(study.problem.features[pull.arm].tolist()))

    def with_pulls(callback: object) -> "Callback":
        if not callable(callback):
            remedy = "Pass functions that take a study and a trial."
            raise InvalidInput("callbacks", callback, "must be callable", remedy)
        return lambda study, pull: callback(study, trial_of(pull))

    return lambda pull: objective(trial_of(pull)), [with_pulls(each) for each in callbacks]
