"""Tables of a problem file, as the reward and the limits that they describe."""

from __future__ import annotations

from collections.abc import Mapping

from surefoot.errors import ABSENT, InvalidInput
from surefoot.problem.checks import known_keys
from surefoot.problem.hints import HINTS
from surefoot.problem.limits import Limit, Reward
from surefoot.problem.noise import OTHERWISE


def reward_in(table: object) -> Reward:
    """The reward that a table of a file describes."""
    optional = ("norm", "guess", "at_most", "unit", "largest", "within")
    given = _table("reward", table, required=("noise",), optional=optional)
    return Reward(**given)  # type: ignore[arg-type]  # it checks its values itself


def limits_in(tables: object) -> list[Limit]:
    """The limits that the tables of a file describe; a single table will do for one."""
    listed = [tables] if isinstance(tables, Mapping) else tables
    if not isinstance(listed, list | tuple):
        remedy = "Write one table [[safety]] for each limit."
        raise InvalidInput("safety", tables, "must be a list of tables", remedy)
    stated = ("at_least", "at_most", "baseline", "norm", "covers", "reading_risk", "unit")
    optional = (*stated, "guess", "noise_at_most", "largest", "within")
    given = [_table(f"safety[{i}]", table, ("name", "noise"), optional) for i, table in enumerate(listed)]
    return [Limit(**each) for each in given]  # type: ignore[arg-type]  # they check their values themselves


def _table(
    where: str, table: object, required: tuple[str, ...], optional: tuple[str, ...] = ()
) -> Mapping[str, object]:
    """The table of a file, once it is sure that it has every key it needs and none besides."""
    if not isinstance(table, Mapping):
        raise InvalidInput(where, table, "must be a table", f"Write the keys {', '.join(required)} under it.")
    known_keys(where, table, (*required, *optional), HINTS)
    missing = next((key for key in required if key not in table), None)
    if missing is not None:
        remedy = OTHERWISE if missing == "noise" else "Give the limit a short name."
        raise InvalidInput(f"{where}.{missing}", ABSENT, "is required", remedy)
    return table
