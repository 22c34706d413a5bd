"""What simulated runs say: records run by run, and a summary with exact intervals."""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot import frames
from surefoot.cards import card
from surefoot.core.records import Records
from surefoot.core.types import ALARM, BREAKDOWN, CERTIFIED, CONTRADICTION, MEASURED, PULL, UNDECIDED
from surefoot.errors import InvalidInput, MissingExtra
from surefoot.files import as_path, write_bytes
from surefoot.live.certificate import NOTHING
from surefoot.played import Traces
from surefoot.policies import Policy
from surefoot.policies.guarantee import MEASURED as NO_PROMISE
from surefoot.policies.guarantee import PROPOSITION_1, RESERVE, SAFE_ANSWER, WITHIN_RESERVE, WITHOUT_LIMITS
from surefoot.problem import Problem
from surefoot.problem.checks import Floats
from surefoot.worlds.judge import Arms, Judge, Levels

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

Flags = NDArray[np.bool_]
Counts = NDArray[np.int64]

OUTCOMES = {
    PULL: "unfinished",
    CERTIFIED: "certified",
    UNDECIDED: "undecided",
    CONTRADICTION: "contradiction",
    BREAKDOWN: "breakdown",
    ALARM: "alarm",
    MEASURED: "measured",
}


QUANTILES = (0.1, 0.5, 0.9)


class Interval(NamedTuple):
    """An estimate between two bounds."""

    estimate: float
    lower: float
    upper: float


@dataclass(frozen=True)
class Runs:
    """One entry per run. A wrong answer breaks (b); a broken promise breaks what the policy's certificate says."""

    problem: Problem
    policy: Policy
    seed: int
    run: Counts  # the number of the run: its address in the random streams
    pulls: Counts  # exploration included
    stopped: Flags  # ended by itself, in certainty where the policy certifies anything
    outcome: Counts  # a code; `outcomes` has the words
    arm: Counts  # recommended; -1 for the null pull or for no answer
    level: Floats
    suboptimality: Floats  # V* - value of the answer; NaN without an answer
    wrong: Flags  # answered, and not safe and within epsilon of V*: breaks (b)
    broken_promise: Flags  # answered, and not as good as its own certificate says
    answer_unsafe: Flags  # the answer itself crosses a limit
    unsafe_pulls: Counts
    first_unsafe: Counts  # number of the first unsafe pull, 0 for none
    gap: Floats  # B(t) at the end
    pulls_per_arm: Counts  # (runs, K)
    levels: Floats  # (runs, K) at the end: certified, if the policy keeps limits
    requested: int  # how many runs were asked for; more than there are when interrupted
    traces: Traces | None = None  # the course of each run, where that was asked for

    def __len__(self) -> int:
        return len(self.pulls)

    def __repr__(self) -> str:
        return f"Runs({len(self)} of {self.policy.name}, {int(self.stopped.sum())} {self._ended})"

    def _repr_html_(self) -> str:
        return card(repr(self), facts=facts_of(self))

    @property
    def _ended(self) -> str:
        """What is said of runs that ended by themselves."""
        return "certified" if self.policy.guarantee(self.problem).certifies else "measured"

    @property
    def interrupted(self) -> bool:
        """Whether the work was broken off before all runs were done."""
        return len(self) < self.requested

    @property
    def outcomes(self) -> list[str]:
        """How each run ended, in words."""
        return [OUTCOMES[int(code)] for code in self.outcome]

    def summary(self, confidence: float = 0.95) -> dict[str, Any]:
        """Means and rates with intervals; rates have exact (Clopper-Pearson) two-sided bounds over all runs.

        Pulls are averaged over the runs that ended in certainty: others were cut off by the budget. Their quantiles
        (a tenth, a half and nine tenths) are of the same runs.
        """
        if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 < confidence < 1:
            raise InvalidInput("confidence", confidence, "must lie in (0, 1)", "For example 0.95.")
        runs, pulls = len(self), self.pulls[self.stopped]
        mean = mean_interval(pulls, confidence)
        table: dict[str, Any] = {
            "policy": self.policy.name,
            "guarantee": self.policy.guarantee(self.problem).kind,
            "runs": runs,
            "interrupted": self.interrupted,
            "certified_runs": int((self.outcome == CERTIFIED).sum()),
            "measured_runs": int((self.outcome == MEASURED).sum()),
            "undecided_runs": int((self.outcome == UNDECIDED).sum()),
            "contradiction_runs": int((self.outcome == CONTRADICTION).sum()),
            "breakdown_runs": int((self.outcome == BREAKDOWN).sum()),
            "alarm_runs": int((self.outcome == ALARM).sum()),
            "pulls_mean": mean.estimate,
            "pulls_lower": mean.lower,
            "pulls_upper": mean.upper,
            "pulls_sd": float(pulls.std(ddof=1)) if len(pulls) > 1 else None,
            "pulls_median": float(np.median(pulls)) if len(pulls) else None,
            "pulls_quantiles": quantiles_of(pulls),
            "confidence": confidence,
        }
        for name, flags in (
            ("wrong", self.wrong), ("broken", self.broken_promise), ("unsafe", self.unsafe_pulls > 0),
            ("unsafe_answer", self.answer_unsafe),
        ):  # fmt: skip
            rate = exact_interval(int(flags.sum()), runs, confidence)
            table |= {
                f"{name}_runs": int(flags.sum()),
                f"{name}_rate": rate.estimate,
                f"{name}_lower": rate.lower,
                f"{name}_upper": rate.upper,
            }
        total = int(self.pulls.sum())
        table["unsafe_pulls"] = int(self.unsafe_pulls.sum())
        table["unsafe_share"] = table["unsafe_pulls"] / total if total else 0.0
        return table

    def to_pandas(self) -> "pd.DataFrame":
        """One row per run, the pulls of each arm in columns `pulls: NAME` and its final level in `level: NAME`; where
        the problem has a dial, settings beside the levels."""
        return frames.to_pandas(self._columns())

    def to_polars(self) -> "pl.DataFrame":
        """The same as a polars frame."""
        return frames.to_polars(self._columns())

    def _columns(self) -> dict[str, Any]:
        names = [*self.problem.names, NOTHING]
        columns: dict[str, Any] = {
            "run": self.run,
            "pulls": self.pulls,
            "outcome": np.array(self.outcomes, object),
            "arm": self.arm,
            "name": np.array(
                [names[arm] if stopped else None for arm, stopped in zip(self.arm, self.stopped, strict=True)], object
            ),
            "level": self.level,
            **self._set_to("setting", self.level),
            "suboptimality": self.suboptimality,
            "wrong": self.wrong,
            "broken_promise": self.broken_promise,
            "answer_unsafe": self.answer_unsafe,
            "unsafe_pulls": self.unsafe_pulls,
            "first_unsafe": self.first_unsafe,
            "gap": self.gap,
        }
        for k, name in enumerate(self.problem.names):
            columns[f"pulls: {name}"] = self.pulls_per_arm[:, k]
            columns[f"level: {name}"] = self.levels[:, k]
            columns |= self._set_to(f"setting: {name}", self.levels[:, k])
        if self.problem.dial is not None:
            columns["unit"] = np.full(len(self), self.problem.dial.unit, object)
        return columns

    def _set_to(self, column: str, levels: Floats) -> dict[str, Floats]:
        """The column of the settings that these levels are, if the problem has a dial."""
        return {} if self.problem.dial is None else {column: self.problem.dial.setting_of(levels)}

    def to_parquet(self, path: str | Path) -> None:
        """Writes `to_pandas()` to a Parquet file, whole or not at all."""
        place = as_path("path", path)
        try:
            import_module("pyarrow")
        except ImportError:
            raise MissingExtra("pyarrow", "frames") from None
        write_bytes("path", place, self.to_pandas().to_parquet(None, engine="pyarrow", index=False))


def facts_of(runs: Runs) -> list[tuple[str, str]]:
    """What a notebook shows of runs."""
    if not len(runs):
        return [("runs", "none")]
    found, count = runs.summary(), len(runs)

    def rate(name: str) -> str:
        return f"{found[f'{name}_runs']:,} of {count:,} (95 % at most {100 * found[f'{name}_upper']:.3g} %)"

    mean, lower, upper = found["pulls_mean"], found["pulls_lower"], found["pulls_upper"]
    pulls = "none ended in certainty" if mean is None else f"{mean:,.4g} on average"
    if lower is not None:
        pulls += f" ({lower:,.4g} to {upper:,.4g})"
    return [
        (runs._ended, f"{int(runs.stopped.sum()):,} of {count:,}"),
        ("pulls", pulls),
        ("wrong answers", rate("wrong")),
        ("runs with an unsafe pull", rate("unsafe")),
    ]


def judged(
    problem: Problem, policy: Policy, seed: int, run: Counts, records: Records, requested: int, judge: Judge
) -> Runs:
    """The runs, held against the truth."""
    stopped, answer = records.status == CERTIFIED, (records.arm, records.level)
    stated = policy.guarantee(problem)
    outcome = records.status if stated.certifies else np.where(stopped, MEASURED, records.status)
    return Runs(
        problem=problem, policy=policy, seed=seed, run=run, pulls=records.pulls, stopped=stopped,
        outcome=outcome, arm=records.arm, level=records.level,
        suboptimality=np.where(stopped, judge.shortfall(*answer), np.nan),
        wrong=stopped & judge.is_wrong(*answer),
        broken_promise=stopped & breaks_promise(stated.kind, judge, *answer, records.levels),
        answer_unsafe=stopped & ~judge.is_safe(*answer),
        unsafe_pulls=records.unsafe, first_unsafe=records.first_unsafe, gap=records.gap,
        pulls_per_arm=records.pulls_per_arm, levels=records.levels, requested=requested,
    )  # fmt: skip


def breaks_promise(guarantee: str, judge: Judge, arm: Arms, level: Levels, levels: Floats) -> np.bool_ | Flags:
    """Whether the answer is worse than a guarantee of this kind says, given the levels (..., K) at the end. What
    promises nothing is held against the best without limits."""
    if guarantee in (WITHOUT_LIMITS, NO_PROMISE):
        return judge.is_too_far(arm, level, best=judge.best_without_limits)
    if guarantee == SAFE_ANSWER:
        return judge.is_wrong(arm, level)
    if guarantee == WITHIN_RESERVE and judge.with_reserve is not None:
        return judge.is_too_far(arm, level, best=judge.with_reserve(RESERVE))
    if guarantee == PROPOSITION_1:
        return judge.is_too_far(arm, level, forgiven=judge.unlearned(levels))
    return judge.is_too_far(arm, level)


def exact_interval(events: int, trials: int, confidence: float = 0.95) -> Interval:
    """The rate of events with its exact two-sided (Clopper-Pearson) bounds."""
    from scipy.special import betaincinv

    if trials == 0:
        return Interval(float("nan"), 0.0, 1.0)
    tail = (1.0 - confidence) / 2.0
    lower = float(betaincinv(events, trials - events + 1, tail)) if events > 0 else 0.0
    upper = float(betaincinv(events + 1, trials - events, 1.0 - tail)) if events < trials else 1.0
    return Interval(events / trials, lower, upper)


def quantiles_of(pulls: Counts) -> dict[str, float] | None:
    """What a tenth, a half and nine tenths of the runs stay within; each is the pulls of a run, None without any."""
    if len(pulls) == 0:
        return None
    return {f"{share:g}": float(np.quantile(pulls, share, method="inverted_cdf")) for share in QUANTILES}


class MeanInterval(NamedTuple):
    """A mean between two bounds, or nothing where there are no numbers."""

    estimate: float | None
    lower: float | None
    upper: float | None


def mean_interval(values: Counts | Floats, confidence: float = 0.95) -> MeanInterval:
    """The mean with Student's interval."""
    from scipy.special import stdtrit

    if len(values) == 0:
        return MeanInterval(None, None, None)
    mean = float(values.mean())
    if len(values) == 1:
        return MeanInterval(mean, None, None)
    half = float(stdtrit(len(values) - 1, (1.0 + confidence) / 2.0) * values.std(ddof=1) / np.sqrt(len(values)))
    return MeanInterval(mean, mean - half, mean + half)
