"""`surefoot worlds` and `surefoot policies`: what there is, by name."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from surefoot.cli import exit_codes
from surefoot.cli.output import Output
from surefoot.errors import counted

if TYPE_CHECKING:
    from surefoot.problem import Problem


def list_worlds(output: Output) -> int:
    """The exit status, once the worlds are told."""
    from surefoot.worlds import WORLDS

    listed = [described_world(name, factory) for name, factory in WORLDS.items()]
    if output.json:
        output.json_result({"worlds": listed})
        return exit_codes.OK
    for world in listed:
        parameters = ", ".join(f"{key} = {value}" for key, value in world["parameters"].items())
        size = f"{counted(world['arms'], 'arm')}, {counted(world['limits'], 'limit')}"
        tell_entry(output, world["name"], world["what"], [size, parameters])
    return exit_codes.OK


def described_world(name: str, factory: Any) -> dict[str, Any]:
    """The world as a table."""
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
    from surefoot.policies import POLICIES
    from surefoot.policies.exploration import EXPLORATIONS

    listed = [described_policy(name, kind) for name, kind in POLICIES.items()]
    ways: list[dict[str, Any]] = [
        {"kind": kind, "what": first_line(way), "options": [field.name for field in fields(way)]}
        for kind, way in EXPLORATIONS.items()
    ]
    if output.json:
        output.json_result({"policies": listed, "explorations": ways})
        return exit_codes.OK
    for policy in listed:
        keeps = "keeps the limits" if policy["keeps_limits"] else "ignores the limits"
        details = [f"{keeps}; promise: {policy['promise']}", *(option_in_words(each) for each in policy["options"])]
        tell_entry(output, policy["name"], policy["what"], details)
    output.out.print("Ways to explore first (--explore KIND:ROUNDS@LEVEL)", style="bold")
    for way in ways:
        tell_entry(output, way["kind"], way["what"], [])
    return exit_codes.OK


def described_policy(name: str, kind: Any) -> dict[str, Any]:
    """The policy as a table."""
    from surefoot.cli.answers import promise_in_words
    from surefoot.cli.policy_options import options_of

    options = options_of(kind)
    selections = [word for option in options if option.name == "selection" for word in option.choices]
    variants = {word: kind(selection=word) for word in selections} or {"": kind()}
    found = {word: policy.guarantee(any_problem()) for word, policy in variants.items()}
    promises = [f"{promise_in_words(each.kind)} ({word})".removesuffix(" ()") for word, each in found.items()]
    return {
        "name": name,
        "what": first_line(kind),
        "keeps_limits": all(each.keeps_limits for each in found.values()),
        "promise": ", ".join(promises),
        "options": [
            {"name": each.name, "default": each.default, "choices": each.choices, "help": each.words}
            for each in options
        ],
    }


def any_problem() -> Problem:
    """A problem to ask policies about, and none of them refuses: which promise they make does not depend on it."""
    from surefoot.problem import Limit, Problem, Reward

    limit = Limit("reading", at_most=1.0, baseline=0.0, noise=1.0, norm=1.0)
    reward = Reward(noise=1.0, norm=1.0)
    return Problem([[1.0]], reward, limit, safe_level=0.5, epsilon=0.0, delta=0.1, delta_safety=0.1)


def option_in_words(option: Mapping[str, Any]) -> str:
    """An option of a policy in one line."""
    from surefoot.cli.policy_options import sentence

    return f"{option['name']} = {option['default']}  {sentence(option['help'], option['choices'])}"


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
