"""The problem: arms, a reward, limits that must not be crossed, and how certain the answer must be.

Everything is checked when a `Problem` is made, before anything is pulled; afterwards nothing in it can change.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Never

from surefoot.errors import InvalidInput, NotSpanningWarning, counted
from surefoot.files import as_path
from surefoot.problem.arms import ArmTable, read_arms, renamed
from surefoot.problem.checks import Flags, Floats, did_you_mean, frozen, known_keys
from surefoot.problem.dial import Dial, dial_in
from surefoot.problem.dial_settings import stated_step
from surefoot.problem.files import read_table, write_table
from surefoot.problem.fingerprints import digest_of
from surefoot.problem.hints import HINTS
from surefoot.problem.limits import Limit, Reward
from surefoot.problem.mapped_files import MappedFile, check_unchanged, mapped_file_of
from surefoot.problem.names import Names
from surefoot.problem.required import REQUIRED, arms_in, check_given
from surefoot.problem.settings import OF_LIMITS, checked_settings, compact_levels, with_names
from surefoot.problem.showing import card_of
from surefoot.problem.signal_tables import limits_in, reward_in
from surefoot.problem.span import Span, check_reached, notice_of, span_of
from surefoot.problem.units import with_unit

__all__ = ["Limit", "Problem", "Reward"]


class Problem:
    """A checked problem that never changes: K arms, a reward, one or more limits, and the certainty asked for.

    arms          rows of features, a mapping from name to features, a data frame with a column "name", a path to a CSV
                  or Parquet file with one, or a path to a .npy file of rows. That, or a numpy memmap that is only read,
                  stays where it is and is not copied: the file must not change as long as the problem is used
    reward        what is to be as large as possible, a `Reward`
    safety        what must keep a limit: a `Limit`, or one for each reading; [] or left out where nothing must. Then
                  all levels are at the top of the dial, and neither delta_safety nor safe_level is stated
    names         of the arms, where they are rows without names
    dial          what is set in real units, `Dial("mg", full=40)`: a level may then be text with the unit, "20 mg"
    safe_level    where every arm is known to be safe, rounded down to the grid: a number, or for each arm, or by name
    level_grid    the levels that the dial can take; None when it takes them all
    pullable      False for arms that may be the answer and cannot be tried: one for each arm, or by name
    max_level     the highest level ever to be used, one number or one for each arm
    max_step      the largest increase of an arm's level between its pulls; as text, of its setting
    epsilon       how far from the best the answer may be
    delta         the chance that the answer may be worse than that
    delta_safety  the chance that any pull at all may be unsafe
    regularization  lambda of the paper's policies; SafeGap does without
    calibrated_by  marks of the pilot rows by which it was stated, as `surefoot calibrate` writes them: a study of the
                  problem does not take these rows as data

    Arms that do not span their space are handled in coordinates of their span (`features`, by `basis`), and a
    `NotSpanningWarning` says so; a direction counts when its singular value is above max(K, D) * 2.2e-16 times the
    largest. Two problems with the same content are equal, hash alike and share a `fingerprint`.
    """

    __slots__ = (
        "__weakref__", "_file", "_fingerprint", "arms", "basis", "calibrated_by", "delta", "delta_safety", "dial",
        "epsilon", "features", "level_grid", "max_level", "max_setting_step", "max_step", "names", "pullable", "rank",
        "regularization", "reward", "safe_level", "safety", "spans",
    )  # fmt: skip

    names: Names  # read like a tuple
    arms: Floats  # (K, D) as given
    features: Floats  # (K, d) the same arms in coordinates of their span; `arms` itself when they span
    basis: Floats  # (D, d) orthonormal, features = arms @ basis; the identity when they span
    rank: int  # d
    spans: bool
    reward: Reward
    safety: tuple[Limit, ...]
    safe_level: Floats  # (K,) without limits the top of the dial
    pullable: Flags  # (K,)
    max_level: Floats  # (K,)
    level_grid: tuple[float, ...]  # ascending; empty when every level can be set
    max_step: float | None  # in level; of a step in settings on a curve, where it is largest
    max_setting_step: float | None  # the same in the unit of the dial, where it was given so
    dial: Dial | None
    epsilon: float
    delta: float
    delta_safety: float  # 0 without limits
    regularization: float
    calibrated_by: tuple[str, ...]
    _file: MappedFile | None  # that the arms lie in
    _fingerprint: str | None

    def __init__(
        self,
        arms: object,
        reward: Reward,
        safety: Limit | Sequence[Limit] = (),
        *,
        epsilon: float,
        delta: float,
        delta_safety: float | None = None,
        safe_level: object = None,
        pullable: object = None,
        regularization: float = 1.0,
        dial: Dial | None = None,
        level_grid: object = None,
        max_level: object = 1.0,
        max_step: float | str | None = None,
        calibrated_by: Sequence[str] | None = None,
        names: Sequence[str] | None = None,
        **unknown: Never,
    ) -> None:
        known_keys("", unknown, _KEYS, HINTS)
        table = read_arms(arms, names)
        span = span_of(table.features)
        settings = {
            "reward": reward, "safety": safety, "safe_level": safe_level, "epsilon": epsilon, "delta": delta,
            "delta_safety": delta_safety, "regularization": regularization, "level_grid": level_grid,
            "max_level": max_level, "max_step": max_step, "dial": dial, "calibrated_by": calibrated_by,
            "pullable": pullable,
        }  # fmt: skip
        self._settle(table, span, settings)
        if not span.spans:
            warnings.warn(notice_of(span), NotSpanningWarning, stacklevel=2)

    @classmethod
    def load(cls, path: str | Path) -> Problem:
        """The problem in a TOML or JSON file; its tables "world" and "policy" are left to others."""
        table = read_table(path)
        try:
            return cls.from_dict(table, folder=as_path("path", path).parent)
        except InvalidInput as error:
            error.add_note(f"while reading {path}")
            raise

    @classmethod
    def from_dict(cls, table: Mapping[str, object], *, folder: str | Path = ".") -> Problem:
        """The problem that a table in the form of `to_dict` describes; `arms_file` is relative to the folder."""
        if not isinstance(table, Mapping):
            raise InvalidInput("table", table, "must be a mapping", "Pass what Problem.to_dict gives.")
        given = {key: value for key, value in table.items() if key not in _KEYS_OF_OTHERS}
        known_keys("", given, (*_KEYS, "arms_file"), HINTS)
        given["arms"] = arms_in(given, Path(folder))
        given.pop("arms_file", None)
        check_given(given)
        given["reward"] = reward_in(given["reward"])
        given["safety"] = limits_in(given.get("safety", ()))
        if given.get("dial") is not None:
            given["dial"] = dial_in(given["dial"])
        return cls(**given)  # type: ignore[arg-type]  # the constructor checks every type itself

    def save(self, path: str | Path) -> None:
        """The file, TOML or JSON by its ending, holds exactly this problem; what was in it before is replaced."""
        write_table(path, self.to_dict())

    def to_dict(self) -> dict[str, object]:
        """The problem as plain numbers, texts, lists and dicts, from which `from_dict` makes an equal one."""
        self.check_unchanged()
        arms = dict(zip(self.names, self.arms.tolist(), strict=True))
        return {**self.plain_settings(), "arms": arms, **self.plain_signals()}

    def to_dict_without_arms(self) -> dict[str, object]:
        """The same without the arms, which may be many."""
        return {**self.plain_settings(), **self.plain_signals()}

    def with_(self, **changes: object) -> Problem:
        """A copy with these changes, checked anew; new arms bring their own names, and what was stated for each arm
        goes with its name."""
        known_keys("", changes, _KEYS, HINTS)
        settings = {**self._settings(), **changes}
        if "safety" in changes and changes["safety"] in ([], ()):  # what was stated for the limits goes with them
            settings = {key: value for key, value in settings.items() if key in changes or key not in OF_LIMITS}
        arms, names = settings.pop("arms", None), settings.pop("names", None)
        if "arms" in changes:
            settings = with_names(settings, changes, self.names, read_arms(arms, names))
            return type(self)(arms, names=names, **settings)  # type: ignore[arg-type]
        self.check_unchanged()
        table, copy = ArmTable(self.names, self.arms), object.__new__(type(self))  # its user was told of the span
        copy._settle(renamed(table, names) if "names" in changes else table, self._span(), settings)
        return copy

    @property
    def size(self) -> int:
        """The number of arms."""
        return len(self.names)

    @property
    def fingerprint(self) -> str:
        """SHA-256 over the whole content, in hexadecimal."""
        if self._fingerprint is None:
            self.check_unchanged()
            object.__setattr__(self, "_fingerprint", digest_of(self))  # on demand: a large table takes a while
        return str(self._fingerprint)

    def check_unchanged(self) -> None:
        """Refuses to go on where the arms lie in a file that somebody has written into."""
        check_unchanged(self._file)

    def index_of(self, name: str) -> int:
        """The place of the arm with this name, from 0."""
        found = self.names.find(name)
        if found is not None:
            return found
        raise InvalidInput("arm", name, "is not the name of an arm", did_you_mean(name, self.names))

    def _settle(self, table: ArmTable, span: Span, settings: Mapping[str, object]) -> None:
        """Every attribute, checked and in place; the arms are frozen already."""
        arms = table.features
        content: dict[str, object] = {
            **checked_settings(table, settings), "names": table.names, "arms": arms, "basis": frozen(span.basis),
            "rank": span.basis.shape[1], "spans": span.spans,
            "features": arms if span.spans else frozen(span.features),
            "_file": mapped_file_of(arms), "_fingerprint": None,
        }  # fmt: skip
        check_reached(content["features"], content["pullable"], table.names)  # type: ignore[arg-type]
        for name, value in content.items():
            object.__setattr__(self, name, value)

    def _span(self) -> Span:
        """The span as it was found: computed once, so that every copy has the same coordinates to the last bit."""
        return Span(self.features, self.basis, self.spans)

    def _settings(self) -> dict[str, object]:
        """What the constructor takes besides the arms."""
        return {**self.plain_settings(), "reward": self.reward, "safety": self.safety, "dial": self.dial}

    def plain_settings(self) -> dict[str, object]:
        """The settings as plain numbers and lists; levels as one number where they are all the same."""
        optional = {
            "pullable": None if self.pullable.all() else self.pullable.tolist(),
            "level_grid": list(self.level_grid) or None,
            "max_step": stated_step(self.dial, self.max_setting_step, self.max_step),
            "dial": None if self.dial is None else self.dial.to_dict(),
            "calibrated_by": list(self.calibrated_by) or None,
        }
        always = {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "delta_safety": self.delta_safety,
            "regularization": self.regularization,
            "safe_level": compact_levels(self.safe_level),
            "max_level": compact_levels(self.max_level),
        }
        return {
            **{key: value for key, value in always.items() if self.safety or key not in OF_LIMITS},
            **{key: value for key, value in optional.items() if value is not None},
        }

    def plain_signals(self) -> dict[str, object]:
        """The reward and the limits as plain tables."""
        return {"reward": self.reward.to_dict(), "safety": [limit.to_dict() for limit in self.safety]}

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"A problem never changes: make a changed copy with problem.with_({name}=...).")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"A problem never changes: {name} cannot be deleted.")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Problem):
            return NotImplemented
        return self is other or self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __copy__(self) -> Problem:
        return self

    def __deepcopy__(self, memo: object) -> Problem:
        return self

    def __reduce__(self) -> tuple[Callable[..., Problem], tuple[object, ...]]:
        # Arrays come out of a pickle writable, so the copy is settled anew, with the same basis and no new warning.
        return _restored, (type(self), self.names, self.arms, self._span(), self._settings())

    _repr_html_ = card_of

    def __repr__(self) -> str:
        limits = ", ".join(
            f"{x.name} {'>=' if x.sign > 0 else '<='} {with_unit(f'{x.limit:g}', x.unit)}" for x in self.safety
        )
        safely = f", delta_safety={self.delta_safety:g}" if self.safety else ""
        return (
            f"Problem({counted(self.size, 'arm')} in {counted(self.rank, 'dimension')}, {limits or 'no limits'}, "
            f"epsilon={self.epsilon:g}, delta={self.delta:g}{safely})"
        )


_KEYS = (
    *REQUIRED, "safety", "safe_level", "delta_safety", "pullable", "arms", "names", "regularization", "level_grid",
    "max_level", "max_step", "dial", "calibrated_by",
)  # fmt: skip
_KEYS_OF_OTHERS = ("world", "policy")


def _restored(kind: type[Problem], names: Names, arms: Floats, span: Span, settings: Mapping[str, object]) -> Problem:
    """The problem that was pickled."""
    problem = object.__new__(kind)
    problem._settle(ArmTable(names, frozen(arms)), span, settings)
    return problem
