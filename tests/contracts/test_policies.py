"""Every policy that races for a gap with every option it has: as a value, in files, on a dial and at its end.

Those of the field are held by the shipped contracts, tests/policies/test_field.py and test_field_safe.py.
"""

import warnings
from collections.abc import Iterator
from dataclasses import FrozenInstanceError, fields
from itertools import product
from typing import Any

import pytest

import surefoot as sf
from surefoot.core.kernel import is_kernel
from surefoot.core.types import CERTIFIED
from surefoot.errors import Finished, InvalidInput
from surefoot.policies import POLICIES, RACING, Policy, check_policy, describe, from_dict, options, radii, to_dict
from surefoot.policies.bound import parts_of
from surefoot.policies.safe_gap import OPENINGS, ROUNDINGS
from surefoot.simulation import run_session
from surefoot.testing import PolicyContract
from surefoot.testing.driving import arena

CHOICES: dict[str, list[Any]] = {
    "levels": list(options.LEVELS),
    "selection": list(options.SELECTIONS),
    "pull": list(options.PULLS),
    "reward_radius": list(radii.RADII),
    "safety_radius": list(radii.SAFETY_RADII),
    "radius": list(radii.RADII),
    "null_pull": [False, True],
    "opening": list(OPENINGS),
    "coordinates": list(ROUNDINGS),
}
DEALT = ("reward_radius", "safety_radius", "explore")  # four, five and nine of them: no two go round together
EXPLORATIONS = [
    None, sf.RoundRobin(9), sf.UniformRandom(9), sf.EOptimal(9), sf.UntilConfident(rounds=9), sf.RoundRobin(0),
    sf.RoundRobin(5, level=0.1), sf.UniformRandom(5, level=0.1), sf.EOptimal(5, level=0.1),
]  # fmt: skip


def every_policy() -> Iterator[Any]:
    """Each policy with each combination of its options; radii and the ways to explore are dealt out in turn."""
    turn, all_of = 0, {**CHOICES, "explore": EXPLORATIONS}
    for kind in RACING:
        options = [field.name for field in fields(kind)]
        names, dealt = [o for o in options if o not in DEALT], [o for o in options if o in DEALT]
        for values in product(*(CHOICES[name] for name in names)):
            chosen = {name: all_of[name][turn % len(all_of[name])] for name in dealt}
            yield kind(**dict(zip(names, values, strict=True)), **chosen)
            turn += 1
        for name in dealt:
            yield from (kind(**{name: choice}) for choice in all_of[name])


EVERY = list(every_policy())
KINDS = [kind() for kind in RACING]


@pytest.fixture(autouse=True)
def frozen_levels_may_be_optimistic() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sf.errors.NeverStopsWarning)
        yield


def drive(policy: Any, most: int, seed: int = 5) -> tuple[sf.Session, list[sf.Pull]]:
    """A session driven for so many pulls at most, and its pulls."""
    world, problem = arena()
    session = sf.Session(problem, policy, seed=seed, max_pulls=most, alarm_level=None)
    return session, run_session(world, session, seed=seed)


@pytest.mark.parametrize("kind", POLICIES)
def test_a_policy_is_listed_under_its_own_name(kind: str) -> None:
    assert POLICIES[kind].name == kind
    assert POLICIES[kind]().name == kind
    assert POLICIES[kind].__doc__


def test_every_policy_is_a_value() -> None:
    for policy in EVERY:
        again = from_dict(to_dict(policy))
        assert again == policy
        assert hash(again) == hash(policy)
        assert "\n" not in describe(policy)
        assert describe(policy).startswith(policy.name)
        with pytest.raises(FrozenInstanceError):
            policy.explore = None


@pytest.mark.parametrize("policy", KINDS, ids=lambda policy: policy.name)
def test_options_that_do_not_exist_are_refused_by_name(policy: Any) -> None:
    for name, _ in CHOICES.items():
        if name in {field.name for field in fields(policy)}:
            with pytest.raises(InvalidInput) as caught:
                type(policy)(**{name: "sideways"})
            assert caught.value.field == name
    with pytest.raises(InvalidInput) as caught:
        from_dict({"name": policy.name, "colour": "blue"})
    assert caught.value.field == "policy.colour"
    if hasattr(policy, "explore"):
        with pytest.raises(InvalidInput):
            type(policy)(explore=800)


def test_every_policy_states_what_it_guarantees() -> None:
    _, problem = arena()
    for policy in EVERY:
        assert isinstance(policy, Policy)
        assert isinstance(policy.version, int)
        assert policy.version >= 1
        stated = policy.guarantee(problem)
        assert 0.0 <= stated.confidence <= 1.0 - problem.delta
        assert stated.safety in (None, 1.0 - problem.delta_safety)
        assert stated.keeps_limits == (policy.name != "lingape")
        assert "{answer}" in stated.value
        assert len(stated.assumptions) >= 1 + len(problem.safety)
        assert all(limit.name in " ".join(stated.assumptions) for limit in problem.safety)


def test_every_policy_is_made_of_kernels_and_its_sets_have_versions() -> None:
    _, problem = arena()
    for policy in EVERY:
        plan = policy.plan(problem)
        assert all(is_kernel(part) for part in parts_of(plan).values()), policy
        assert plan.sets.versions
        assert all(isinstance(version, int) and version >= 1 for version in plan.sets.versions.values())


@pytest.mark.parametrize("option", ["reward_radius", "safety_radius"])
def test_a_word_of_earlier_versions_still_works_with_a_note(option: str) -> None:
    with pytest.warns(sf.errors.RenamedWarning, match="'bias-free' now") as caught:
        policy = sf.SafeLinGapE(**{option: "mixture"})
    assert policy == sf.SafeLinGapE(**{option: "bias-free"})
    assert caught[0].filename == __file__
    with pytest.warns(sf.errors.RenamedWarning):
        assert from_dict({"name": "uniform", option: "mixture"}) == sf.Uniform(**{option: "bias-free"})
    with pytest.warns(sf.errors.RenamedWarning):
        assert sf.LinGapE(radius="mixture") == sf.LinGapE(radius="bias-free")


class Nameless:
    version = 1


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("safe-gap", "has no name, version, guarantee, plan"),
        (Nameless(), "has no name, guarantee, plan"),
        (sf.SafeGap, "is a class, not an object"),
        (7, "has no name"),
    ],
    ids=["a word", "half a policy", "a class", "a number"],
)
def test_what_is_no_policy_is_refused_by_what_it_lacks(given: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words) as caught:
        check_policy(given)
    assert caught.value.field == "policy"


def test_whoever_names_no_policy_gets_the_whole_promise() -> None:
    assert check_policy(None) == sf.SafeGap()


NO_POLICIES: list[dict[str, Any]] = [
    {},
    {"name": "none"},
    {"name": ["uniform"]},
    {"name": "uniform", "explore": 3},
    {"name": "uniform", "explore": {}},
    {"name": "uniform", "explore": {"kind": "x"}},
    {"name": "uniform", "explore": {"kind": "round-robin"}},
    {"name": "uniform", "explore": {"kind": "round-robin", "rounds": -1}},
    {"name": "uniform", "explore": {"kind": "round-robin", "rounds": 1, "x": 2}},
]


@pytest.mark.parametrize("table", NO_POLICIES, ids=str)
def test_tables_that_describe_no_policy_are_refused(table: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        from_dict(table)


def test_every_policy_runs_and_keeps_the_dial_and_its_certificate() -> None:
    world, problem = arena()
    for policy in EVERY:
        session, pulls = drive(policy, most=45)
        keeps_limits = policy.guarantee(problem).keeps_limits
        last = problem.safe_level.copy()
        for pull in pulls:
            assert pull.level in problem.level_grid, policy
            assert pull.name == problem.names[pull.arm]
            assert (pull.gap is None) == (pull.phase == "explore")
            if keeps_limits:
                assert pull.margin >= 0.0, policy
                assert world.is_safe(pull.arm, pull.level), policy
                assert pull.level <= max(last[pull.arm], problem.safe_level[pull.arm]) + 0.35 * (1 + 1e-8)
                last[pull.arm] = pull.level
            if pull.gap is not None:
                assert pull.gap > problem.epsilon
        if session.outcome == "certified":
            assert session.certificate is not None
            assert session.certificate.gap <= problem.epsilon
            if keeps_limits:
                assert session.recommendation is not None
                assert world.judge(problem).is_safe(session.recommendation.arm, session.recommendation.level)
        else:
            assert session.outcome == "undecided"
            assert session.recommendation is None
        with pytest.raises(Finished):
            session.ask()


def test_every_policy_keeps_the_shipped_contract() -> None:
    """The sentences that take no time, for every combination; `test_shipped` has all of them for some."""
    for policy in EVERY:
        contract = PolicyContract()
        contract.policy, contract.pulls = policy, 20
        contract.test_it_has_what_a_policy_has()
        contract.test_its_guarantee_is_well_formed()
        contract.test_a_session_is_run_0_of_a_simulation()
        contract.test_no_pull_is_above_the_level_certified_for_it()


@pytest.mark.parametrize("policy", KINDS, ids=lambda policy: policy.name)
def test_a_certificate_needs_a_gap_of_at_most_epsilon(policy: Any) -> None:
    world, problem = arena()
    runs = sf.simulate(world, problem, policy, runs=40, seed=1, max_pulls=3000)
    assert (runs.gap[runs.outcome == CERTIFIED] <= problem.epsilon).all()
    assert (runs.gap[runs.outcome != CERTIFIED] > problem.epsilon).all()
    assert runs.stopped.any()


@pytest.mark.parametrize("policy", KINDS, ids=lambda policy: policy.name)
def test_a_smaller_epsilon_never_stops_earlier(policy: Any) -> None:
    world, problem = arena()
    coarse = sf.simulate(world, problem, policy, runs=20, seed=1, max_pulls=5000)
    fine = sf.simulate(world, problem.with_(epsilon=0.1), policy, runs=20, seed=1, max_pulls=5000)
    assert (fine.pulls >= coarse.pulls).all()


@pytest.mark.parametrize("explore", [plan for plan in EXPLORATIONS if plan is not None], ids=str)
def test_exploration_has_its_length_and_its_level(explore: Any) -> None:
    _, problem = arena()
    for kind in (sf.SafeLinGapE, sf.Uniform):
        _, pulls = drive(kind(explore=explore), most=40)
        explored = [pull for pull in pulls if pull.phase == "explore"]
        assert [pull.number for pull in explored] == list(range(1, len(explored) + 1))
        if not isinstance(explore, sf.UntilConfident):
            assert len(explored) == explore.rounds
        for pull in explored:
            assert pull.level == (explore.level or problem.safe_level[pull.arm])


def test_without_a_plan_lingape_pulls_each_arm_once_and_safe_policies_decide_at_once() -> None:
    _, pulls = drive(sf.LinGapE(), most=10)
    assert [pull.arm for pull in pulls[:4]] == [0, 1, 2, 3]
    assert [pull.phase for pull in pulls[:5]] == ["explore"] * 4 + ["decide"]
    assert {pull.level for pull in pulls} == {1.0}
    for kind in (sf.SafeLinGapE, sf.Uniform):
        assert drive(kind(), most=5)[1][0].phase == "decide"
    phases = [pull.phase for pull in drive(sf.SafeGap(), most=8)[1]]  # explores until its pulls span
    dimensions = phases.count("explore")
    assert dimensions >= 1
    assert phases == ["explore"] * dimensions + ["decide"] * (len(phases) - dimensions)


def test_an_explored_level_is_set_on_the_dial() -> None:
    _, problem = arena()
    session = sf.Session(problem, sf.SafeLinGapE(explore=sf.RoundRobin(4, level=0.17)))
    assert session.ask().level == 0.1
    with pytest.raises(InvalidInput) as caught:
        sf.Session(problem, sf.SafeLinGapE(explore=sf.RoundRobin(4, level=0.05)))
    assert caught.value.field == "explore.level"
    with pytest.raises(InvalidInput):
        sf.Session(problem, sf.SafeLinGapE(explore=sf.RoundRobin(4, level=0.3)))
