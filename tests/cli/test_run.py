"""`surefoot run`: one experiment from the first pull to the certificate."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import surefoot as sf

Typed = Callable[..., Any]
Write = Callable[[str, str], str]


def test_without_a_file_it_is_the_papers_experiment(typed: Typed, strict_json: Callable[[str], Any]) -> None:
    done = typed("run", "--json", "--seed", "7")
    found = strict_json(done.stdout)
    assert (done.returncode, done.stderr, found["outcome"], found["warnings"]) == (0, "", "certified", [])
    problem = dict(found["problem"])
    assert problem.pop("fingerprint") == sf.worlds.hard().paper_problem().fingerprint
    assert sf.Problem.from_dict(problem) == sf.worlds.hard().paper_problem()
    assert sf.policies.from_dict(found["policy"]) == sf.SafeGap()
    assert found["certificate"]["pulls"] == found["pulls"] == sum(found["pulls_per_arm"].values())
    assert found["certificate"]["gap"] <= found["certificate"]["epsilon"]
    assert found["judged"]["unsafe_pulls"] == 0
    assert found["judged"]["answer_safe"] is True
    assert found["beside"]["policy"]["name"] == "lingape"
    assert 0.8 < found["beside"]["judged"]["unsafe_share"] < 1.0
    assert found["beside"]["certificate"]["guarantee"] == "without-limits"


def test_it_is_run_0_of_the_simulator(typed: Typed, strict_json: Callable[[str], Any]) -> None:
    found = strict_json(typed("run", "--json", "--seed", "7").stdout)
    world = sf.worlds.hard()
    safe = sf.simulate(world, world.paper_problem(), runs=1, seed=7)
    bold = sf.simulate(world, world.paper_problem(), sf.LinGapE(), runs=1, seed=7)
    assert list(found["pulls_per_arm"].values()) == safe.pulls_per_arm[0].tolist()
    assert np.allclose(list(found["levels"].values()), safe.levels[0], rtol=1e-12)
    assert found["beside"]["pulls"] == bold.pulls[0]
    assert found["beside"]["judged"]["unsafe_pulls"] == bold.unsafe_pulls[0]
    assert found["beside"]["judged"]["first_unsafe"] == bold.first_unsafe[0]


def test_progress_goes_to_standard_error_and_the_answer_to_standard_output(typed: Typed) -> None:
    done = typed("run", "--policy", "safe-lingape", "--explore", "round-robin:800", "--seed", "7")
    assert done.returncode == 0
    for word in ("explore", "decide", "certified", "gap", "epsilon", "levels"):
        assert word in done.stderr
    for word in ("Answer", "a1 at level 1", "Certificate", "delta_safety", "gap at stop", "Proposition 1", "lingape"):
        assert word in done.stdout
    assert "safe-lingape on hard" not in done.stdout


def test_quiet_shows_no_progress_and_the_comparison_can_be_left_out(
    typed: Typed, write: Write, pumps_in_a_world: str
) -> None:
    done = typed("run", write("pumps.toml", pumps_in_a_world), "--quiet", "--no-compare")
    assert (done.returncode, done.stderr) == (0, "")
    assert "pump A at level" in done.stdout
    assert "lingape (pull" not in done.stdout


def test_a_file_states_its_truth_in_the_units_of_the_readings(
    typed: Typed, write: Write, pumps_in_a_world: str, strict_json: Callable[[str], Any]
) -> None:
    found = strict_json(typed("run", write("pumps.toml", pumps_in_a_world), "--json").stdout)
    assert found["outcome"] == "certified"
    assert found["recommendation"]["name"] == "pump A"
    assert 0.6 < found["recommendation"]["level"] <= 0.75  # 5 + 4 * 0.75 = 8 bar
    assert found["judged"]["unsafe_pulls"] == 0
    assert found["beside"]["judged"]["answer_safe"] is False
    assert found["beside"]["judged"]["shortfall"] is None
    assert found["beside"]["recommendation"] is None


def test_a_file_may_name_a_world_and_change_its_problem(
    typed: Typed, write: Write, strict_json: Callable[[str], Any]
) -> None:
    content = 'epsilon = 0.2\n[world]\nname = "limited"\nlevel = 0.5\n[policy]\nname = "uniform"\n'
    found = strict_json(typed("run", write("limited.toml", content), "--json").stdout)
    assert found["problem"]["epsilon"] == 0.2
    assert found["problem"]["delta"] == sf.worlds.limited(level=0.5).default_problem().delta
    assert found["policy"]["name"] == "uniform"
    assert found["outcome"] == "certified"


def test_options_change_the_policy_of_the_file(typed: Typed, strict_json: Callable[[str], Any]) -> None:
    words = ("--policy", "safe-lingape", "--selection", "optimistic", "--levels", "dynamic-max", "--null-pull")
    found = strict_json(
        typed("run", "--json", "--max-pulls", "50", "--no-compare", *words, "--explore", "e-optimal:40@0.1").stdout
    )
    assert sf.policies.from_dict(found["policy"]) == sf.SafeLinGapE(
        selection="optimistic", levels="dynamic-max", explore=sf.EOptimal(40, level=0.1), null_pull=True
    )


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_a_spent_budget_is_undecided_with_status_3(typed: Typed, words: tuple[str, ...]) -> None:
    done = typed("run", "--max-pulls", "50", "--no-compare", *words)
    assert done.returncode == 3
    assert "undecided" in done.stdout + done.stderr
    assert "null" in done.stdout or "Nothing is certified" in done.stdout


def test_data_that_rule_out_every_model_end_with_status_4(typed: Typed, write: Write, pumps_in_a_world: str) -> None:
    """A known level that is not safe: at 0.75 of pump A the limit is reached."""
    unsafe = pumps_in_a_world.replace("safe_level = 0.2", "safe_level = 0.9")
    done = typed("run", write("unsafe.toml", unsafe), "--max-pulls", "3000", "--no-compare")
    assert done.returncode == 4, done.stdout + done.stderr
    assert "contradiction" in done.stderr
    assert "check its noise, norms and limits" in " ".join(done.stdout.split())


def test_data_that_contradict_the_problem_end_with_status_10(typed: Typed, write: Write, pumps: str) -> None:
    """However implausible it is, what a world answers is taken in: nobody could say what is right."""
    lying = pumps.replace("noise = 0.3", "noise = 0.001")
    world = "[world]\ntheta_star = [1.5, 0.3]\nmu_star = [[4.0, 2.0]]\nsafety_noise = 60.0\n"
    policy = '[policy]\nname = "safe-lingape"\nselection = "optimistic"\nlevels = "dynamic-max"\n'
    done = typed("run", write("lying.toml", lying + world + policy), "--max-pulls", "3000", "--no-compare")
    assert done.returncode == 10, done.stdout + done.stderr
    assert "warning: The data contradict the model (pressure: a reading lies further beyond the limit" in done.stderr
    assert "No answer: the data contradict what the problem states (pressure: " in " ".join(done.stdout.split())
    assert "Nothing is certified" in done.stdout


def test_a_selection_that_may_never_stop_is_warned_about_once(typed: Typed, strict_json: Callable[[str], Any]) -> None:
    words = ("run", "--policy", "safe-lingape", "--levels", "static", "--selection", "optimistic", "--max-pulls", "900")
    done = typed(*words)
    assert done.returncode == 3
    assert done.stderr.count("warning: levels='static' with selection='optimistic' may never stop") == 1
    told = strict_json(typed(*words, "--json").stdout)["warnings"]
    assert len(told) == 1
    assert "may never stop" in told[0]
