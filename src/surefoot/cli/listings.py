"""`surefoot worlds` and `surefoot policies`: what there is, by name."""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import Any

from surefoot.cli import exit_codes
from surefoot.cli.answers import PROMISES
from surefoot.cli.output import Output
from surefoot.errors import counted
from surefoot.live.certificate import guarantee_of
from surefoot.policies import POLICIES, options
from surefoot.policies.exploration import EXPLORATIONS
from surefoot.worlds import WORLDS

CHOICES = {
    "levels": options.LEVELS, "selection": options.SELECTIONS, "pull": options.PULLS, "radius": options.RADII,
    "reward_radius": options.RADII, "safety_radius": options.SAFETY_RADII,
}  # fmt: skip


def list_worlds(output: Output) -> int:
    """The exit status, once the worlds are told."""
    listed = [described_world(name) for name in WORLDS]
    if output.json:
        output.document({"worlds": listed})
        return exit_codes.OK
    for world in listed:
        parameters = ", ".join(f"{key} = {value}" for key, value in world["parameters"].items())
        size = f"{counted(world['arms'], 'arm')}, {counted(world['limits'], 'limit')}"
        tell_entry(output, world["name"], world["what"], [size, parameters])
    return exit_codes.OK


def described_world(name: str) -> dict[str, Any]:
    """The world as a table."""
    factory = WORLDS[name]
    world = factory()
    return {
        "name": name,
        "what": first_line(factory),
        "arms": world.size,
        "limits": world.signals,
        "parameters": {key: given.default for key, given in inspect.signature(factory).parameters.items()},
    }


def list_policies(output: Output) -> int:
    """The exit status, once the policies and the ways to explore are told."""
    listed = [described_policy(name) for name in POLICIES]
    ways: list[dict[str, Any]] = [
        {"kind": kind, "what": first_line(way), "options": [field.name for field in fields(way)]}
        for kind, way in EXPLORATIONS.items()
    ]
    if output.json:
        output.document({"policies": listed, "explorations": ways})
        return exit_codes.OK
    for policy in listed:
        choices = [
            f"{option['name']} = {option['default']}"
            + (f" (of {', '.join(option['choices'])})" if option["choices"] else "")
            for option in policy["options"]
        ]
        keeps = "keeps the limits" if policy["keeps_limits"] else "ignores the limits"
        tell_entry(output, policy["name"], policy["what"], [f"{keeps}; promise: {policy['promise']}", *choices])
    output.out.print("Ways to explore first (--explore KIND:ROUNDS@LEVEL)", style="bold")
    for way in ways:
        tell_entry(output, way["kind"], way["what"], [])
    return exit_codes.OK


def described_policy(name: str) -> dict[str, Any]:
    """The policy as a table."""
    kind = POLICIES[name]
    promises = [PROMISES[guarantee_of(kind(**given))] for given in promised_by(kind)]
    return {
        "name": name,
        "what": first_line(kind),
        "keeps_limits": kind.keeps_limits,
        "promise": promises[0]
        if len(set(promises)) == 1
        else f"{promises[0]} (conservative), {promises[1]} (optimistic)",
        "options": [
            {"name": field.name, "default": field.default, "choices": list(CHOICES.get(field.name, ()))}
            for field in fields(kind)
        ],
    }


def promised_by(kind: type) -> list[dict[str, Any]]:
    """The settings of a policy that change what it promises."""
    if "selection" not in [field.name for field in fields(kind)]:
        return [{}]
    return [{"selection": "conservative"}, {"selection": "optimistic"}]


def first_line(thing: object) -> str:
    """The first line of its docstring: what it is."""
    return (inspect.getdoc(thing) or "").partition("\n")[0]


def tell_entry(output: Output, name: str, what: str, details: list[str]) -> None:
    """Prints one entry: name, what it is, and the details below."""
    from rich.padding import Padding
    from rich.text import Text

    output.out.print(Text.assemble((name, "bold cyan"), f"  {what}"))
    for detail in details:
        output.out.print(Padding(Text(detail, "dim"), (0, 0, 0, 4), expand=False))
