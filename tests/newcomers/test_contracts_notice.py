"""The test of the tests: a part that breaks its contract fails, at the sentence that it breaks."""

import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from json_lines import Events, JsonLines
from least_pulled import LeastPulled
from plain_mean import build, plain_mean
from saturating import Saturating

import surefoot as sf
from surefoot.building import (
    CERTIFIED,
    DECIDING,
    PULL,
    ROUND,
    ConfidenceSet,
    Decision,
    Grams,
    Guarantee,
    Plan,
    linked,
    sets_for,
)
from surefoot.core.kernel import interpreting
from surefoot.testing import ContractBroken, PolicyContract, SetContract, StoreContract, WorldContract


@pytest.fixture(autouse=True)
def in_the_interpreter() -> Iterator[None]:
    with interpreting():
        yield


def broken(contract: Any) -> set[str]:
    """The sentences of the contract that do not hold; each is held against a contract of its own."""
    found = set()
    for name in [name for name in dir(contract) if name.startswith("test_")]:
        try:
            getattr(contract(), name)()
        except Exception:  # ContractBroken, or whatever a broken thing raises by itself when it is raced
            found.add(name.removeprefix("test_"))
    return found


def test_the_contracts_need_no_test_framework() -> None:
    program = "import sys, surefoot.testing; print('pytest' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


# -- policies ---------------------------------------------------------------------------------------------------------


class Short(PolicyContract):
    pulls, runs, most = 14, 6, 40


def deciding(change: Any) -> Any:
    """A contract for a policy that pulls the arms in turn at their known levels, as changed by the function."""

    def decide(inst: Any, rules: Any, state: Any, work: Any, seed: int, run: int) -> Any:
        k = int(state.clock[ROUND]) % len(inst.X)
        level = float(inst.dial.gamma0[k])
        return change(Decision(PULL, DECIDING, k, level, 0, level, 1, 1.0), inst, state)

    class Changed(LeastPulled):
        def plan(self, problem: sf.Problem) -> Plan:
            return super().plan(problem)._replace(decide=decide)

    class Contract(Short):
        policy = Changed()

    return Contract


def test_a_fair_policy_breaks_nothing() -> None:
    assert broken(deciding(lambda decision, inst, state: decision)) == set()


def test_pulls_above_the_certified_level_are_noticed() -> None:
    found = broken(deciding(lambda decision, inst, state: decision._replace(level=1.0)))
    assert {"no_pull_is_above_the_level_certified_for_it", "every_pull_can_be_set_on_the_dial"} <= found


def test_levels_that_do_not_follow_from_the_sets_are_noticed() -> None:
    def lie(decision: Any, inst: Any, state: Any) -> Any:
        state.levels.low[:] = state.levels.low_of[:] = 0.6
        return decision._replace(level=0.6)

    assert "no_pull_is_above_the_level_certified_for_it" in broken(deciding(lie))


def test_levels_beside_the_dial_are_noticed() -> None:
    assert "every_pull_can_be_set_on_the_dial" in broken(
        deciding(lambda decision, inst, state: decision._replace(level=0.15))
    )


def test_hidden_randomness_is_noticed() -> None:
    found = broken(deciding(lambda decision, inst, state: decision._replace(arm=random.randrange(4), level=0.2)))
    assert {"the_same_results_give_the_same_pulls", "a_study_can_be_replayed_and_its_audit_is_clean"} <= found


def test_a_memory_outside_the_state_is_noticed() -> None:
    calls = count()
    found = broken(deciding(lambda decision, inst, state: decision._replace(arm=next(calls) % 4, level=0.2)))
    assert {"several_pulls_may_be_open", "a_study_can_be_replayed_and_its_audit_is_clean"} & found
    assert "the_same_results_give_the_same_pulls" in found


def test_certainty_without_a_reason_is_noticed() -> None:
    def stop(decision: Any, inst: Any, state: Any) -> Any:
        return decision._replace(status=CERTIFIED) if state.clock[ROUND] >= 5 else decision

    assert "what_it_promises_holds_in_simulation" in broken(deciding(stop))


def test_guarantees_that_are_none_are_noticed() -> None:
    class Boasting(LeastPulled):
        def guarantee(self, problem: sf.Problem) -> Guarantee:
            return Guarantee("mine", "it is the best", 1.5, 0.95, ())

    class Contract(Short):
        policy = Boasting()

    assert "its_guarantee_is_well_formed" in broken(Contract)


def test_options_that_do_not_come_back_are_noticed() -> None:
    @dataclass(frozen=True)
    class Forgetful(LeastPulled):
        margin: float = 0.1

        def __post_init__(self) -> None:
            object.__setattr__(self, "margin", self.margin + 1.0)

    contract = PolicyContract()
    contract.policy = Forgetful()
    with pytest.raises(ContractBroken, match="the same options"):
        contract.test_it_is_written_in_a_table_and_read_back()


# -- sets -------------------------------------------------------------------------------------------------------------


def set_contract(make: Any) -> Any:
    """A contract of few runs for the set that the function builds."""

    class Contract(SetContract):
        runs, rounds = 16, 25

        def build(self, problem: sf.Problem) -> tuple[Grams, ConfidenceSet]:
            found: tuple[Grams, ConfidenceSet] = make(problem)
            return found

    return Contract


def changed(problem: sf.Problem, **kernels: Any) -> tuple[Grams, ConfidenceSet]:
    """The plain means, with other kernels."""
    grams, sets = sets_for(problem, "determinant", "norm")
    ours = plain_mean(problem, problem.delta_safety)
    return grams, linked(sets, ConfidenceSet("changed", 1, ours.params, ours.memory, **kernels))


def test_a_fair_set_breaks_nothing() -> None:
    assert broken(set_contract(build)) == set()


def test_bounds_that_are_too_narrow_are_noticed() -> None:
    def narrow(inst: Any, params: Any, memory: Any, state: Any, bounds: Any) -> None:
        estimate = state.estimate.est[1:]
        bounds.lower[:], bounds.upper[:] = estimate - 0.01, estimate + 0.01

    assert "bounds_hold_where_they_are_tightest" in broken(
        set_contract(lambda problem: changed(problem, bound_safety=narrow))
    )


def test_an_error_that_is_read_the_wrong_way_round_is_noticed() -> None:
    def inverted(inst: Any, params: Any, memory: Any, state: Any, bounds: Any) -> None:
        bounds.upper[:] += 10.0 / params.log_inv_alpha

    found = broken(set_contract(lambda problem: changed(problem, bound_safety=inverted)))
    assert found == {"a_smaller_error_never_makes_a_bound_narrower"}


def test_memory_that_is_not_computed_anew_is_noticed() -> None:
    def drift(inst: Any, params: Any, memory: Any, state: Any, scratch: Any, g: int) -> None:
        memory.levels[:] += 1.0

    def reads(inst: Any, params: Any, memory: Any, state: Any, bounds: Any) -> None:
        bounds.upper[:] += 1.0 + memory.levels.sum()

    found = broken(set_contract(lambda problem: changed(problem, bound_safety=reads, refresh=drift)))
    assert "computing_anew_changes_bounds_by_rounding_alone" in found


def test_a_memory_of_its_own_is_noticed() -> None:
    pulls: list[int] = []

    def learn(inst: Any, params: Any, memory: Any, state: Any, k: int, gamma: float, observed: Any) -> None:
        pulls.append(k)

    def reads(inst: Any, params: Any, memory: Any, state: Any, bounds: Any) -> None:
        bounds.upper[:] += len(pulls)

    found = broken(set_contract(lambda problem: changed(problem, bound_safety=reads, learn=learn)))
    assert {"a_copied_state_says_the_same_and_goes_its_own_way", "beginning_anew_forgets_everything"} & found


# -- worlds -----------------------------------------------------------------------------------------------------------


class Lying(Saturating):
    """A world with something wrong in it."""

    def default_problem(self) -> sf.Problem:
        return self.linear.default_problem()


def world_contract(**changes: Any) -> Any:
    """A contract for a world with these methods."""
    kind = type("Changed", (Lying,), changes)

    class Contract(WorldContract):
        world = kind(sf.worlds.limited())
        samples, pulls = 60, 8

    return Contract


def test_a_fair_world_breaks_nothing_but_that_its_known_levels_may_be_unsafe() -> None:
    assert broken(world_contract()) <= {"every_arm_is_truly_safe_at_its_known_level"}


def test_measurements_without_an_address_are_noticed() -> None:
    def measure(self: Any, pull: Any, seed: int = 0, **more: Any) -> Any:
        return Saturating.measure(self, pull, random.randrange(10**9), **more)

    found = broken(world_contract(measure=measure))
    assert {"a_measurement_has_an_address", "the_simulator_draws_what_is_measured"} <= found


def test_a_judge_of_another_world_is_noticed() -> None:
    found = broken(world_contract(judge=lambda self, problem: self.linear.judge(problem)))
    assert "measurements_average_to_what_the_judge_says" in found
    assert "the_simulator_and_the_judge_agree_about_what_is_unsafe" in found


def test_a_world_that_takes_every_problem_is_noticed() -> None:
    found = broken(world_contract(matches=lambda self, problem: None))
    assert "a_problem_that_is_not_posed_in_it_is_refused" in found


# -- stores -----------------------------------------------------------------------------------------------------------


class AtOnce(Events):
    """Events that are kept before the step is done."""

    def __init__(self, store: JsonLines, study: int, kept: Any) -> None:
        super().__init__(kept, store.address)
        self.store, self.study = store, study

    def append(self, events: Any) -> None:
        super().append(events)
        self.store._keep({"study": self.study, "events": self.new})
        self.new = []


class Hasty(JsonLines):
    def write(self, study: int, name: str, work: Any, meanwhile: Any = None) -> Any:
        with self._alone():
            return work(AtOnce(self, study, self._events(study, name).kept))


class Careless(JsonLines):
    def delete(self, name: str, key: str | None = None) -> None:
        self.path.write_text("")


def store_contract(kind: Any, folder: Path) -> Any:
    """A contract for this kind of store, in a new file each time."""
    numbers = count()

    class Contract(StoreContract):
        def __init__(self) -> None:
            self.path = folder / f"{next(numbers)}.jsonl"

        def open(self) -> Any:
            return kind(self.path)

    return Contract


def test_a_fair_store_breaks_nothing(tmp_path: Path) -> None:
    assert broken(store_contract(JsonLines, tmp_path)) == set()


def test_a_store_that_keeps_half_a_step_is_noticed(tmp_path: Path) -> None:
    assert "a_step_that_fails_leaves_nothing" in broken(store_contract(Hasty, tmp_path))


def test_a_store_that_forgets_too_much_is_noticed(tmp_path: Path) -> None:
    contract = store_contract(Careless, tmp_path)()
    with pytest.raises((ContractBroken, sf.errors.StudyNotFound)):
        contract.test_a_deleted_study_is_gone_and_the_arms_of_others_stay()
