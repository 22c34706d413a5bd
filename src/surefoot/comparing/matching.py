"""The same confidence sets for all: what a policy stops by is an option, and where several have it they can agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from surefoot.errors import InvalidInput
from surefoot.policies import POLICIES, Policy, SafeGap
from surefoot.policies.radii import BIAS_FREE, RADII
from surefoot.problem.checks import did_you_mean

OWN, OURS = "own", "ours"
WORDS = (OURS, OWN, *RADII)
STOPS_BY = ("stop", "radius", "reward_radius", "safety_radius")  # options that name what a policy stops by
NEAREST = {OURS: (OURS, BIAS_FREE)}  # for a policy that cannot take ours: least squares without a norm's bias


def check_radius(radius: object) -> str:
    """The word that says which sets all are to have."""
    if not isinstance(radius, str) or radius not in WORDS:
        remedy = did_you_mean(radius, WORDS)
        raise InvalidInput("radius", radius, f"must be one of {', '.join(WORDS)}", remedy)
    return radius


def matched(options: Mapping[str, Any], radius: str) -> dict[str, Any]:
    """The table of a policy with these sets, as far as it has them; an option that somebody gave stays as it is."""
    found, kind = dict(options), POLICIES.get(str(options.get("name")))
    if radius == OWN or kind is None:
        return found
    for option in fields(kind):
        if option.name in STOPS_BY and option.name not in found:
            words = [word for word in NEAREST.get(radius, (radius,)) if word in option.metadata.get("choices", ())]
            found |= {option.name: words[0]} if words else {}
    return found


def stops_by(policy: Policy) -> str:
    """The sets or the threshold that a policy stops by, in a word."""
    if isinstance(policy, SafeGap):
        return OURS
    there: list[str] = [option.name for option in fields(policy)] if is_dataclass(policy) else []
    words = dict.fromkeys(str(getattr(policy, name)) for name in STOPS_BY if name in there)
    return " and ".join(words) or OWN
