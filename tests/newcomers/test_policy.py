"""A policy that is one file outside the package works wherever one of ours does."""

import sys
import tomllib
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from least_pulled import LeastPulled
from patient import Patient
from top_two import TopTwo

import surefoot as sf
from surefoot import policies
from surefoot.errors import InterpretedWarning, InvalidInput, OtherVersion, OtherVersionWarning, PolicyNeeded
from surefoot.simulation import run_session
from surefoot.testing import PolicyContract

# One worker for all: what is compiled for the first of them serves the others.
pytestmark = pytest.mark.xdist_group("a policy from outside")

HERE = Path(__file__).parent


class TestTopTwo(PolicyContract):
    policy = TopTwo()


class TestASubclassOfAShippedPolicy(PolicyContract):
    policy = Patient(selection="optimistic", null_pull=True, least=20)

    @pytest.mark.certify  # it compiles once more, and others are held to it
    def test_a_decision_without_its_mark_decides_the_same(self) -> None:
        super().test_a_decision_without_its_mark_decides_the_same()


class TestAPolicyInPlainPython(PolicyContract):
    policy = LeastPulled()
    runs, most = 4, 300  # the interpreter takes its time


# -- everywhere -------------------------------------------------------------------------------------------------------


@pytest.fixture
def world() -> sf.worlds.Linear:
    return sf.worlds.limited()


def test_it_drives_a_session_to_its_certificate(world: sf.worlds.Linear) -> None:
    session = sf.Session(world.default_problem(), TopTwo(), seed=2)
    run_session(world, session, seed=2)
    assert session.certificate is not None
    assert session.certificate.guarantee == "within-epsilon"
    assert session.certificate.confidence == pytest.approx(0.9)
    assert not world.judge(session.problem).is_wrong(session.certificate.arm, session.certificate.level)


def test_it_is_simulated_beside_ours(world: sf.worlds.Linear) -> None:
    found = {policy.name: sf.simulate(world, world.default_problem(), policy, runs=50, seed=1)
             for policy in (TopTwo(), sf.SafeLinGapE(selection="optimistic", null_pull=True))}  # fmt: skip
    assert found["top-two"].stopped.all()
    assert found["top-two"].summary()["policy"] == "top-two"
    assert found["top-two"].pulls.mean() < found["safe-lingape"].pulls.mean()


def begun(world: sf.worlds.Linear, storage: str) -> sf.Study:
    study = sf.create_study(world.default_problem(), TopTwo(every=3), name="mine", storage=storage, seed=4)
    study.run(lambda pull: world.measure(pull, seed=4), max_pulls=15)
    return study


@pytest.fixture
def storage(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'studies.db'}"


@pytest.mark.parametrize("given", [TopTwo, TopTwo(every=3)], ids=["as a class", "as an object"])
def test_a_study_goes_on_with_the_policy_that_is_handed_in(world: sf.worlds.Linear, storage: str, given: Any) -> None:
    study = begun(world, storage)
    again = sf.load_study("mine", storage, policy=given)
    assert again.policy == TopTwo(every=3)
    assert again.status() == study.status()
    assert again.audit().clean
    same = sf.create_study(
        world.default_problem(), TopTwo(every=3), name="mine", storage=storage, seed=4, load_if_exists=True
    )
    assert same.ask() == again.open_pulls[0]


def test_a_study_without_its_policy_is_refused_by_name(world: sf.worlds.Linear, storage: str, tmp_path: Path) -> None:
    study = begun(world, storage)
    with pytest.raises(PolicyNeeded) as caught:
        sf.load_study("mine", storage)
    assert (caught.value.study, caught.value.policy, caught.value.home) == ("mine", "top-two", "top_two:TopTwo")
    assert "load_study(..., policy=TopTwo)" in str(caught.value)
    with pytest.raises(InvalidInput, match="every=3"):
        sf.load_study("mine", storage, policy=TopTwo())
    study.export(tmp_path / "mine.study")
    with pytest.raises(PolicyNeeded):
        sf.import_study(tmp_path / "mine.study", storage, "copy")
    assert sf.import_study(tmp_path / "mine.study", storage, "copy", policy=TopTwo).pulls == 15


def test_another_version_of_it_reads_its_studies_and_decides_nothing(world: sf.worlds.Linear, storage: str) -> None:
    begun(world, storage)

    class Later(TopTwo):
        version = 2

    with pytest.warns(OtherVersionWarning, match="top-two is of version 1"):
        study = sf.load_study("mine", storage, policy=Later)
    assert study.pulls == 15
    with pytest.raises(OtherVersion):
        study.ask()


def test_a_problem_file_may_name_it(world: sf.worlds.Linear) -> None:
    table = tomllib.loads('[policy]\nname = "top-two"\nevery = 5')["policy"]
    assert policies.from_dict(table, foreign={"top-two": TopTwo}) == TopTwo(every=5)
    assert policies.to_dict(TopTwo(every=5)) == table
    assert policies.describe(TopTwo(every=5)) == "top-two (every=5)"
    with pytest.raises(InvalidInput, match=r"must be one of .*safe-gap"):
        policies.from_dict(table)
    with pytest.raises(InvalidInput, match="The options are every"):
        policies.from_dict({**table, "colour": "blue"}, foreign={"top-two": TopTwo})


def test_a_subclass_has_the_options_of_its_parent_and_its_own(world: sf.worlds.Linear) -> None:
    policy = policies.from_dict({"name": "patient", "selection": "optimistic", "least": 7}, {"patient": Patient})
    assert policy == Patient(selection="optimistic", least=7)
    assert sf.SafeLinGapE().name == "safe-lingape"
    runs = sf.simulate(world, world.default_problem().with_(epsilon=100.0), Patient(least=25), runs=5, seed=1)
    assert set(runs.pulls) == {25}


# -- plain Python -----------------------------------------------------------------------------------------------------


@pytest.fixture
def unmarked() -> Iterator[ModuleType]:
    """The source of top_two without the mark, as a module of its own."""
    source = (HERE / "outside" / "top_two.py").read_text("utf-8")
    assert source.count("@sf.kernel\n") == 1
    module = ModuleType("top_two_unmarked")
    sys.modules[module.__name__] = module
    exec(compile(source.replace("@sf.kernel\n", ""), "top_two_unmarked.py", "exec"), vars(module))
    yield module
    del sys.modules[module.__name__]


def test_without_the_mark_it_takes_the_same_pulls_and_says_that_it_is_slow(
    world: sf.worlds.Linear, unmarked: ModuleType
) -> None:
    problem = world.default_problem()
    with pytest.warns(InterpretedWarning, match="top-two: decide is plain Python"):
        slow = sf.Session(problem, unmarked.TopTwo(), seed=6, max_pulls=120)
    fast = sf.Session(problem, TopTwo(), seed=6, max_pulls=120)
    assert run_session(world, slow, seed=6) == run_session(world, fast, seed=6)
    with pytest.warns(InterpretedWarning):
        runs = sf.simulate(world, problem, unmarked.TopTwo(), runs=3, seed=6, max_pulls=60)
    assert (runs.gap == sf.simulate(world, problem, TopTwo(), runs=3, seed=6, max_pulls=60).gap).all()


def test_a_compiled_policy_is_not_called_slow(world: sf.worlds.Linear) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sf.Session(world.default_problem(), TopTwo())


def test_a_function_behind_a_dot_is_refused_with_the_reason(world: sf.worlds.Linear) -> None:
    from surefoot import building

    def decide(*arguments: Any) -> Any:
        building.bound_safety(*arguments[:1], *arguments[2:4])

    class Dotted(LeastPulled):
        def plan(self, problem: sf.Problem) -> policies.Plan:
            return super().plan(problem)._replace(decide=decide)

    with pytest.warns(InterpretedWarning), pytest.raises(TypeError, match="import it by its name"):
        sf.Session(world.default_problem(), Dotted())


@pytest.mark.parametrize("policy", [TopTwo, object(), "top-two"], ids=["a class", "an object", "a name"])
def test_what_is_no_policy_is_refused_by_what_it_lacks(world: sf.worlds.Linear, policy: Any) -> None:
    with pytest.raises(InvalidInput, match=r"is a class, not an object|has no name, version|has no name"):
        sf.Session(world.default_problem(), policy)
