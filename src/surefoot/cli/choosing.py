"""Which policy faces what is posed: the one that the command line names, the file's, or the one that a user gets who
says nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from surefoot import policies
from surefoot.cli.loading import is_a_place, policy_named
from surefoot.cli.policy_options import FLAG, WORD, Wishes, in_a_row, options_of
from surefoot.cli.posed import posed_for
from surefoot.errors import ABSENT, InvalidInput, SurefootError
from surefoot.policies import POLICIES, Policy, check_policy, default_policy
from surefoot.problem import Problem
from surefoot.worlds import World, check_world
from surefoot.worlds.files import reading

HAND_IN = "Hand it in with --policy MODULE:NAME or --policy FILE.py:NAME, or name one of these."


@dataclass(frozen=True)
class Scenario:
    """A world, a problem that is posed in it, and a policy."""

    world: World
    problem: Problem
    policy: Policy

    def __post_init__(self) -> None:
        check_world(self.world)


def scenarios_of(file: Path | None, world: str | None, wishes: Wishes) -> list[Scenario]:
    """One scenario for each policy, in the file or in the named world; without either in the paper's."""
    posed = posed_for(file, world)
    if posed.world is None:
        remedy = (
            "Add one: with name = one of `surefoot worlds`, or with a truth as `surefoot run --help` shows. To check "
            "the file alone, use `surefoot show`; for a real experiment, use `surefoot study create`."
        )
        with reading(file):
            raise InvalidInput("[world]", ABSENT, "run and simulate need a world that answers the pulls", remedy)
    chosen = chosen_policies(posed.policy, wishes, file)
    return [Scenario(posed.world, posed.problem, policy) for policy in chosen]


def chosen_policy(
    stated: Mapping[str, Any] | None, word: str | None, options: Mapping[str, str | bool], file: Path | None = None,
    beside: Sequence[str] = (),
) -> Policy | None:  # fmt: skip
    """The policy that the words name with these options, begun from what the file states; None if nobody says any.

    A policy of another name than the file's starts from its own defaults. An option that it lacks may belong to one of
    those that are named beside it, which the refusal then says.
    """
    if stated is None and word is None and not options:
        return None
    with reading(None if options else file):
        kind = kind_in(stated) if word is None else policy_named(word)
        values = options_in(stated) if stated is not None and stated.get("name") == name_of(kind) else {}
        given = {name: read(kind, name, typed, beside) for name, typed in options.items()}
        with refusals_of(kind):
            return check_policy(made(kind, policies.with_exploration({**values, **given})))


def chosen_policies(stated: Mapping[str, Any] | None, wishes: Wishes, file: Path | None = None) -> list[Policy]:
    """Every policy that is to be compared, the default if nobody says any."""
    words = wishes.policies or (None,)
    beside = [word for word in wishes.policies if is_a_place(word)]
    return [chosen_policy(stated, word, wishes.options, file, beside) or default_policy() for word in words]


def kind_in(stated: Mapping[str, Any] | None) -> Any:
    """The policy that the file names, the default if it names none; one that is not ours cannot come from a file."""
    if stated is None:
        return type(default_policy())
    name = stated.get("name")
    if not isinstance(name, str) or name not in POLICIES:
        reason = f"must be one of {', '.join(POLICIES)}, and code that a file names is never imported by itself"
        raise InvalidInput("policy.name", name, reason, HAND_IN)
    return POLICIES[name]


def name_of(kind: Any) -> str | None:
    """The name of the policy, where its class has one."""
    name = getattr(kind, "name", None)
    return name if isinstance(name, str) else None


def options_in(stated: Mapping[str, Any]) -> dict[str, Any]:
    """The options in a file's table."""
    return {key: value for key, value in stated.items() if key != "name"}


def read(kind: Any, name: str, typed: str | bool, beside: Sequence[str] = ()) -> Any:
    """What was typed for this option, as the policy holds it; an option that it lacks is refused."""
    known = {option.name: option for option in options_of(kind)}
    if name not in known:
        raise lacking(kind, name, typed, beside)
    option = known[name]
    if isinstance(typed, bool) != (option.form == FLAG):
        raise InvalidInput(
            option.flag, typed, f"is not what {shown(kind)} takes here: a {option.form}", "Leave it out."
        )
    value = option.value(typed)
    ours = kind in POLICIES.values()  # which refuse by themselves, and know the words of earlier versions
    if option.form == WORD and not ours and value not in option.choices:
        allowed = ", ".join(str(choice) for choice in option.choices)
        raise InvalidInput(option.flag, typed, f"must be one of {allowed}", "Write one of these words.")
    return value


def lacking(kind: Any, name: str, typed: object, beside: Sequence[str]) -> InvalidInput:
    """The refusal of an option that the policy does not have."""
    flag = "--" + name.replace("_", "-")
    known = {**POLICIES, **{place: policy_named(place) for place in beside}}
    others = [each for each, other in known.items() if name in {option.name for option in options_of(other)}]
    own = [option.flag for option in options_of(kind)]
    remedy = f"The options of {shown(kind)} are {', '.join(own)}." if own else f"{shown(kind)} has no options."
    if others:
        remedy = f"It belongs to {in_a_row(others, 'and')}: name one of these policies, or leave the option out."
    return InvalidInput(flag, typed, f"is not an option here: {shown(kind)} does not have it", remedy)


def shown(kind: Any) -> str:
    """The policy as it is called."""
    return name_of(kind) or str(getattr(kind, "__name__", type(kind).__name__))


def made(kind: Any, values: Mapping[str, Any]) -> Any:
    """A policy of the class with these options, or the object with these of its options changed."""
    if isinstance(kind, type):
        return policies.built("policy", kind, values)
    for key, value in values.items():
        if key not in {option.name for option in options_of(kind)}:
            raise InvalidInput(f"policy.{key}", value, "is not an option here", "Leave it out.")
    return replace(kind, **values) if values else kind


@contextmanager
def refusals_of(kind: Any) -> Iterator[None]:
    """Inside, whatever a policy of the user's own raises against its options is a refusal of them."""
    try:
        yield
    except SurefootError:
        raise
    except Exception as error:
        reason = f"refuses its options with {type(error).__name__}: {error}"
        raise InvalidInput("--policy", shown(kind), reason, "Give it others.") from error
