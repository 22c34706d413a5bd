"""The options of policies on the command line are their fields: a new field is a new option, and nobody types it in."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal

import pytest

import surefoot as sf
from surefoot.cli import app, policy_options, study_commands
from surefoot.cli.choosing import chosen_policy
from surefoot.errors import InvalidInput, RenamedWarning

Typed = Callable[..., Any]
COMMANDS = {("run",): app.run, ("simulate",): app.simulate, ("study", "create"): study_commands.create}


@dataclass(frozen=True)
class Own:
    """A policy with a field of every kind."""

    name: ClassVar[str] = "own"
    version: ClassVar[int] = 1
    must: int
    mood: Literal["calm", "bold"] = "calm"
    share: float | None = 0.5
    loud: bool = False
    label: str = "x"
    whole_or_real: int | float = 1
    table: tuple[int, ...] = ()

    def guarantee(self, problem: sf.Problem) -> Any:
        return sf.SafeGap().guarantee(problem)

    def plan(self, problem: sf.Problem) -> Any:
        return sf.SafeGap().plan(problem)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_field_of_every_policy_is_an_option(typed: Typed, command: tuple[str, ...]) -> None:
    shown = typed(*command, "--help").stdout
    for kind in sf.policies.POLICIES.values():
        for field in fields(kind):
            assert f"  --{field.name.replace('_', '-')} " in shown


@pytest.mark.parametrize("command", COMMANDS.values(), ids=lambda command: command.__name__)
def test_no_command_writes_an_option_of_a_policy_out(command: Callable[..., Any]) -> None:
    of_policies = {field.name for kind in sf.policies.POLICIES.values() for field in fields(kind)} | {"policy"}
    assert not of_policies & set(inspect.signature(command).parameters)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_the_help_names_the_policy_that_one_really_gets(typed: Typed, command: tuple[str, ...]) -> None:
    shown = " ".join(typed(*command, "--help").stdout.split())
    name = sf.policies.default_policy().name
    assert f"the policy is {name} unless" in shown.replace("The policy", "the policy")
    assert f"{name} (the default)" in shown


def test_fields_are_read_by_their_types() -> None:
    found = {option.name: option for option in policy_options.options_of(Own)}
    assert list(found) == ["must", "mood", "share", "loud", "label", "whole_or_real"]  # a tuple cannot be typed
    assert found["mood"].choices == ("calm", "bold")
    typed = {"must": "3", "mood": "bold", "share": "0.25", "loud": True, "label": "y", "whole_or_real": "2.5"}
    values = {name: found[name].value(word) for name, word in typed.items()}
    assert Own(**values) == Own(3, "bold", 0.25, True, "y", 2.5)
    with pytest.raises(InvalidInput, match="must be a whole number"):
        found["must"].value("many")


def test_the_listing_says_what_the_help_says(typed: Typed) -> None:
    listed = " ".join(typed("policies").stdout.split())
    for kind in sf.policies.POLICIES.values():
        for option in policy_options.options_of(kind):
            assert f"{option.name} = {option.default} {policy_options.sentence(option.words, option.choices)}" in listed


def test_options_start_from_the_file_and_another_policy_from_its_own_defaults() -> None:
    stated = {"name": "uniform", "selection": "optimistic"}
    assert chosen_policy(stated, None, {"levels": "static"}) == sf.Uniform(levels="static", selection="optimistic")
    assert chosen_policy(stated, "uniform", {}) == sf.Uniform(selection="optimistic")
    assert chosen_policy(stated, "safe-lingape", {}) == sf.SafeLinGapE()
    assert chosen_policy(None, None, {}) is None


def test_a_word_of_an_earlier_version_goes_on_working_with_a_note() -> None:
    with pytest.warns(RenamedWarning, match="'bias-free'"):
        found = chosen_policy(None, "safe-lingape", {"reward_radius": "mixture"})
    assert found == sf.SafeLinGapE(reward_radius="bias-free")


@pytest.mark.parametrize(
    ("words", "places"),
    [
        (["--policy", "a:B"], ("a:B",)),
        (["x.toml", "--policy=a.py:B", "--seed", "3", "--policy", "c:D"], ("c:D", "a.py:B")),
        (["--policy", "uniform"], ()),
        (["--", "--policy", "a:B"], ()),
        (["--policy"], ()),
    ],
)
def test_places_are_seen_before_the_words_are_read(words: list[str], places: tuple[str, ...]) -> None:
    assert policy_options.places_in(words) == places
