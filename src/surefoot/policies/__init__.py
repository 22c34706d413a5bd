"""The policies by name, and how they are written in files."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from surefoot.errors import InvalidInput
from surefoot.policies.alba import ALBA
from surefoot.policies.beside import Beside
from surefoot.policies.exploration import EXPLORATIONS, EOptimal, Explore, RoundRobin, UniformRandom, UntilConfident
from surefoot.policies.frank_wolfe import FrankWolfe
from surefoot.policies.guarantee import Guarantee
from surefoot.policies.lazy_track_and_stop import LazyTrackAndStop
from surefoot.policies.lingame import LinGame
from surefoot.policies.lingame_c import LinGameC
from surefoot.policies.lingape import LinGapE
from surefoot.policies.peace import Peace
from surefoot.policies.protocol import Plan, Policy
from surefoot.policies.rage import RAGE
from surefoot.policies.safe_elimination import SafeElimination
from surefoot.policies.safe_game import SafeGame
from surefoot.policies.safe_gap import SafeGap
from surefoot.policies.safe_linear import SafeLinear
from surefoot.policies.safe_lingape import SafeLinGapE
from surefoot.policies.safe_monotonic import SafeMonotonic
from surefoot.policies.uniform import Uniform
from surefoot.policies.xy_adaptive import XYAdaptive
from surefoot.policies.xy_static import XYStatic

__all__ = [
    "ALBA", "POLICIES", "RAGE", "Beside", "EOptimal", "Explore", "FrankWolfe", "Guarantee", "LazyTrackAndStop",
    "LinGame", "LinGameC", "LinGapE", "Peace", "Plan", "Policy", "RoundRobin", "SafeElimination", "SafeGame", "SafeGap",
    "SafeLinGapE", "SafeLinear", "SafeMonotonic", "Uniform", "UniformRandom", "UntilConfident", "XYAdaptive",
    "XYStatic", "default_policy", "describe", "from_dict", "of_version", "to_dict",
]  # fmt: skip


OF_THE_FIELD = (XYStatic, XYAdaptive, LinGame, LinGameC, RAGE, LazyTrackAndStop, FrankWolfe, ALBA, Peace)
SAFELY = (SafeElimination, SafeGame, Beside, SafeLinear, SafeMonotonic)  # of the field too, and they know limits
RACING = (SafeGap, SafeLinGapE, LinGapE, Uniform)
POLICIES: dict[str, Any] = {policy.name: policy for policy in (*RACING, *OF_THE_FIELD, *SAFELY)}


def default_policy() -> Policy:
    """The policy that a user gets who names none: it certifies the full promise (b)."""
    return SafeGap()


def check_policy(policy: object) -> Policy:
    """The policy, the default in place of None; what does not fulfil the protocol is refused by name."""
    if policy is None:
        return default_policy()
    missing = [name for name in ("name", "version", "guarantee", "plan") if not hasattr(policy, name)]
    if missing or isinstance(policy, type):
        names = ", ".join(f"sf.{kind.__name__}()" for kind in POLICIES.values())
        lacks = "is a class, not an object" if isinstance(policy, type) else f"has no {', '.join(missing)}"
        reason = f"must be a policy, one of {names} or one of your own, and {lacks}"
        raise InvalidInput("policy", policy, reason, "For example sf.SafeGap(), or see docs/own_policy.md.")
    return policy  # type: ignore[return-value]


def describe(policy: Policy) -> str:
    """The policy in one line, with its options."""
    return shown(to_dict(policy))


def shown(table: Mapping[str, Any]) -> str:
    """The table of a policy in one line."""
    shown = [f"{key}={value}" for key, value in table.items() if key not in ("name", "explore")]
    explore = table.get("explore")
    if isinstance(explore, Mapping):
        shown.append("explore=" + " ".join(str(value) for value in explore.values() if value is not None))
    return f"{table['name']} ({', '.join(shown)})" if shown else str(table["name"])


def to_dict(policy: Policy) -> dict[str, Any]:
    """The policy as a table for files; `from_dict` reads it back."""
    table: dict[str, Any] = {"name": policy.name}
    options: tuple[Any, ...] = fields(policy) if is_dataclass(policy) else ()
    for field in options:
        value = getattr(policy, field.name)
        if field.name == "explore":
            if value is not None:
                table["explore"] = {"kind": value.kind} | {f.name: getattr(value, f.name) for f in fields(value)}
        elif not field.metadata.get("quiet") or value != field.default:
            table[field.name] = value
    return table


def from_dict(table: Mapping[str, Any], foreign: Mapping[str, Any] | None = None) -> Policy:
    """The policy that the table describes; `foreign` holds classes that are not ours, by name."""
    options = dict(table)
    kind = chosen("policy.name", options.pop("name", None), {**POLICIES, **(foreign or {})})
    policy: Policy = built("policy", kind, with_exploration(options))
    return policy


def of_version(table: Mapping[str, Any], version: int | None) -> dict[str, Any]:
    """The table of a policy that was written by this version of it, with the options that it decided by then."""
    kind = POLICIES.get(table.get("name"))  # type: ignore[arg-type]
    return {**getattr(kind, "options_of", {}).get(version, {}), **table}


def with_exploration(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options with the way to explore, if a table describes one, as an object."""
    if options.get("explore") is None:
        return dict(options)
    explore = options["explore"]
    if not isinstance(explore, Mapping):
        raise InvalidInput(
            "policy.explore", explore, "must be a table", 'Write { kind = "round-robin", rounds = 800 }.'
        )
    plan = dict(explore)
    way = chosen("policy.explore.kind", plan.pop("kind", None), EXPLORATIONS)
    return {**options, "explore": built("policy.explore", way, plan)}


def chosen(field: str, name: object, choices: Mapping[str, Any]) -> Any:
    """The choice of that name."""
    if not isinstance(name, str) or name not in choices:
        raise InvalidInput(field, name, f"must be one of {', '.join(choices)}", "Write one of these names.")
    return choices[name]


def remedy_for(kind: Any, key: str, known: list[str]) -> str:
    """What to do about an option that this kind does not have."""
    others = [name for name, other in POLICIES.items() if key in [f.name for f in fields(other)]]
    if kind in POLICIES.values() and others:
        return f"It belongs to {' and '.join(others)}: name one of these policies, or leave the option out."
    return f"The options are {', '.join(known)}." if known else "There are no options; leave it out."


def built(field: str, kind: Any, options: Mapping[str, Any]) -> Any:
    """An object of that kind with these options; unknown and missing ones are refused by name."""
    known = [f.name for f in fields(kind)] if is_dataclass(kind) else []
    for key, value in options.items():
        if key not in known:
            raise InvalidInput(f"{field}.{key}", value, "is not an option here", remedy_for(kind, key, known))
    try:
        return kind(**options)
    except TypeError:
        raise InvalidInput(
            field, dict(options), "misses an option that has no default", f"The options are {', '.join(known)}."
        ) from None
