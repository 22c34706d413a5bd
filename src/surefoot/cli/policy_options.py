"""The options of policies on the command line: made from the fields of their dataclasses, here and nowhere else.

A field's metadata (`policies.options.option`) says what it is for and which words it takes. The options are made when
a command that has them is really read, so that other commands need not load the policies. Values stay text until it is
known which policy they are for: the same option may mean a word to one and a number to another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from inspect import Parameter, Signature
from itertools import pairwise
from types import UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import typer

from surefoot.cli import help_pages
from surefoot.cli.command import Command
from surefoot.errors import ABSENT, InvalidInput

PANEL = help_pages.POLICY
GENERATED, PLACES = "surefoot.policy_options", "surefoot.policy_places"  # keys of what a command line's context holds
PREFIX = "policy_option_"  # keeps the generated parameters apart from a command's own
FLAG, WORD, WHOLE, REAL, TEXT, EXPLORATION = "flag", "word", "whole number", "number", "text", "exploration"
METAVARS = {WORD: "WORD", WHOLE: "NUMBER", REAL: "NUMBER", TEXT: "TEXT", EXPLORATION: "KIND:ROUNDS[@LEVEL]"}
FORM_OF: dict[Any, str] = {bool: FLAG, int: WHOLE, float: REAL, str: TEXT}


class Wishes(NamedTuple):
    """What a command line says about policies."""

    policies: tuple[str, ...]  # names or places; none when --policy was not given
    options: Mapping[str, str | bool]  # by field; only those that were given

    @property
    def policy(self) -> str | None:
        """The one policy of a command that takes one."""
        return self.policies[-1] if self.policies else None


class PolicyOption(NamedTuple):
    """A field of a policy that can be set from the command line."""

    name: str
    form: str
    default: Any  # ABSENT for one that must be given
    words: str
    choices: tuple[Any, ...]

    @property
    def flag(self) -> str:
        """How it is typed."""
        return "--" + self.name.replace("_", "-")

    def value(self, typed: str | bool) -> Any:
        """What was typed, as the field holds it."""
        if isinstance(typed, bool) or self.form in (FLAG, TEXT):
            return typed
        if self.form == EXPLORATION:
            return exploration(typed)
        if self.form == WORD:
            return next((choice for choice in self.choices if str(choice) == typed), typed)
        try:
            return int(typed) if self.form == WHOLE else float(typed)
        except ValueError:
            raise InvalidInput(self.flag, typed, f"must be a {self.form}", "Write digits.") from None


# -- what a policy has ------------------------------------------------------------------------------------------------


def options_of(kind: Any) -> list[PolicyOption]:
    """The options of a policy, a class or an object of one; fields of other types are for files and for Python."""
    if not is_dataclass(kind):
        return []
    hints = hints_of(kind if isinstance(kind, type) else type(kind))
    found = []
    for field in fields(kind):
        choices = tuple(field.metadata.get("choices", ()))
        form, listed = form_of(field.name, hints.get(field.name, type(field.default)), choices)
        if form is not None and field.init:
            default = field.default if field.default is not MISSING else ABSENT
            if default is ABSENT and field.default_factory is not MISSING:
                default = field.default_factory()
            words = field.metadata.get("help", "")
            found.append(PolicyOption(field.name, form, default, words, choices or listed))
    return found


def hints_of(kind: type) -> dict[str, Any]:
    """The types of its fields; none where they cannot be told, as with names that only a type checker imports."""
    try:
        return get_type_hints(kind)
    except Exception:  # annotations are a stranger's code
        return {}


def form_of(name: str, hint: Any, choices: tuple[Any, ...]) -> tuple[str | None, tuple[Any, ...]]:
    """How values of this type are typed, and the words that a Literal lists; None for what cannot be typed."""
    if name == "explore":
        return EXPLORATION, ()
    if choices:
        return WORD, ()
    if get_origin(hint) in (Union, UnionType):
        kinds = {each for each in get_args(hint) if each is not type(None)}
        kinds -= {int} if float in kinds else set()
        return form_of(name, kinds.pop(), choices) if len(kinds) == 1 else (None, ())
    if get_origin(hint) is Literal:
        return WORD, get_args(hint)
    return FORM_OF.get(hint), ()


def exploration(text: str) -> dict[str, Any] | None:
    """The table of an exploration that is written KIND:ROUNDS@LEVEL, the last two optional; None for "none"."""
    if text == "none":
        return None
    plan, _, level = text.partition("@")
    kind, _, rounds = plan.partition(":")
    try:
        return {
            "kind": kind,
            **({"rounds": int(rounds)} if rounds else {}),
            **({"level": float(level)} if level else {}),
        }
    except ValueError:
        raise InvalidInput(
            "--explore", text, "must read KIND:ROUNDS@LEVEL", "For example round-robin:800@0.2, or none."
        ) from None


# -- a command that has them ------------------------------------------------------------------------------------------


class PolicyCommand(Command):
    """A command with the option --policy and those of the policies, ours and those that its words name by a place."""

    several = False  # whether --policy may be given again, for a comparison

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """What is left of the words. Policies of the user's own are imported first, since they bring options along."""
        ctx.meta[PLACES] = places_in(args)
        rest: list[str] = super().parse_args(ctx, args)
        return rest

    def get_params(self, ctx: Any) -> list[Any]:
        """The command's own parameters, and the generated ones."""
        own = super().get_params(ctx)
        if GENERATED not in ctx.meta:
            taken = {flag for parameter in own for flag in parameter.opts}
            ctx.meta[GENERATED] = parameters(ctx.meta.get(PLACES, ()), self.several, taken)
        return [*own, *ctx.meta[GENERATED]]

    def invoke(self, ctx: Any) -> Any:
        """The command's result; what was said about policies waits in the context, for `wishes`."""
        typed = {name: ctx.params.pop(name) for name in list(ctx.params) if name.startswith(PREFIX)}
        given = {name.removeprefix(PREFIX): value for name, value in typed.items()}
        named = given.pop("", None)
        words = tuple(named or ()) if self.several else () if named is None else (named,)
        ctx.meta[Wishes.__name__] = Wishes(words, {name: value for name, value in given.items() if value is not None})
        return super().invoke(ctx)


class PoliciesCommand(PolicyCommand):
    """The same for a command that compares policies."""

    several = True


def wishes(context: typer.Context) -> Wishes:
    """What the command line says about policies."""
    found: Wishes = context.meta[Wishes.__name__]
    return found


def places_in(words: Sequence[str]) -> tuple[str, ...]:
    """The places that --policy names among the words of a command line that is not read yet."""
    words = words[: words.index("--")] if "--" in words else words
    apart = [value for flag, value in pairwise(words) if flag == "--policy"]
    joined = [word.removeprefix("--policy=") for word in words if word.startswith("--policy=")]
    return tuple(word for word in (*apart, *joined) if ":" in word)


def parameters(places: Iterable[str], several: bool, taken: set[str]) -> list[Any]:
    """The parameters of a command that takes policies; a name that the command needs itself gets a longer one."""
    from surefoot.cli.loading import policy_named
    from surefoot.policies import POLICIES

    kinds = {**{place: policy_named(place) for place in places}, **POLICIES}
    made = [parameter("", named_policy(several), list[str] | None if several else str | None)]
    holders: dict[str, list[tuple[str, PolicyOption]]] = {}
    for name, kind in kinds.items():
        for option in options_of(kind):
            holders.setdefault(option.name, []).append((name, option))
    for name, held in holders.items():
        flag = held[0][1].flag
        flag = f"--policy-{flag[2:]}" if flag in taken else flag
        form = held[0][1].form
        switch = f"{flag}/--no-{flag[2:]}" if form == FLAG else flag
        info = typer.Option(
            switch, help=help_of(held), metavar=METAVARS.get(form), show_default=False, rich_help_panel=PANEL
        )
        made.append(parameter(name, info, bool | None if form == FLAG else str | None))
    return built(made)


def parameter(name: str, info: Any, type_: Any) -> Parameter:
    """A parameter as a function would have it."""
    return Parameter(PREFIX + name, Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[type_, info])


def built(made: Sequence[Parameter]) -> list[Any]:
    """The parameters as typer makes them of a function's signature."""

    def signed() -> None: ...

    signed.__signature__ = Signature(made)  # type: ignore[attr-defined]
    signed.__annotations__ = {each.name: each.annotation for each in made}
    reader = typer.Typer(add_completion=False)
    reader.command()(signed)
    found: list[Any] = typer.main.get_command(reader).params
    return found


# -- in words ---------------------------------------------------------------------------------------------------------


def named_policy(several: bool) -> Any:
    """The option --policy."""
    from surefoot.policies import POLICIES, default_policy

    ours = [f"{name} (the default)" if name == default_policy().name else name for name in POLICIES]
    words = f"{', '.join(ours)}, or your own: MODULE:NAME or FILE.py:NAME." + (" Again to compare." if several else "")
    return typer.Option("--policy", help=words, metavar="NAME", show_default=False, rich_help_panel=PANEL)


def help_of(held: Sequence[tuple[str, PolicyOption]]) -> str:
    """What the option is for, which words it takes, and which policies have it."""
    option = held[0][1]
    said = sentence(
        option.words or option.name.replace("_", " "), [choice for _, each in held for choice in each.choices]
    )
    if option.form == EXPLORATION:
        from surefoot.policies.exploration import EXPLORATIONS

        said += f" KIND is {in_a_row(list(EXPLORATIONS), 'or')}."
    return f"{said} For {in_a_row([name for name, _ in held], 'and')}.{default_of(held)}"


def default_of(held: Sequence[tuple[str, PolicyOption]]) -> str:
    """What holds where the option is not given; nothing for one that must be."""
    shown = {name: as_typed(option.default) for name, option in held if option.default is not ABSENT}
    if len(set(shown.values())) == 1:
        return f" Default: {next(iter(shown.values()))}."
    return f" Default: {', '.join(f'{value} ({name})' for name, value in shown.items())}." if shown else ""


def as_typed(value: Any) -> str:
    """The value of a field as it is typed."""
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    kind = getattr(value, "kind", None)  # a way to explore
    rounds, level = getattr(value, "rounds", None), getattr(value, "level", None)
    plan = "" if rounds is None else f":{rounds}"
    return str(value) if kind is None else f"{kind}{plan}{'' if level is None else f'@{level:g}'}"


def sentence(words: str, choices: Iterable[Any]) -> str:
    """What an option is for, with the words that it takes unless they are said already."""
    listed = list(dict.fromkeys(str(choice) for choice in choices))
    spoken = words.replace(",", " ").split()
    if all(choice in spoken for choice in listed):
        return words.rstrip(".") + "."
    return f"{words.rstrip('.')}: {in_a_row(listed, 'or')}."


def in_a_row(words: Sequence[str], last: str) -> str:
    """The words as people list them."""
    return " ".join([", ".join(words[:-1]), last, words[-1]]) if len(words) > 1 else "".join(words)
