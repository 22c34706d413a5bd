"""The bridges, each with the real tool at its other end."""

import re
from pathlib import Path
from typing import Any

import mlflow
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import surefoot as sf
from surefoot.bridges.gymnasium_world import WorldEnv
from surefoot.bridges.mlflow_log import LogToMlflow
from surefoot.bridges.optuna_words import Trial
from surefoot.core.kernel import interpreting
from surefoot.errors import InvalidInput

WORLD = sf.worlds.limited()
PROBLEM = WORLD.default_problem()


@pytest.fixture
def study(tmp_path: Path) -> Any:
    with interpreting():
        yield sf.create_study(PROBLEM, name="power", storage=f"sqlite:///{tmp_path / 'studies.db'}", seed=3)


def measured(trial: Trial) -> Any:
    return WORLD.measure(trial.pull, seed=3)


# -- in the words of Optuna -------------------------------------------------------------------------------------------


def test_an_objective_is_given_trials_and_its_results_are_kept(study: sf.Study) -> None:
    seen: list[Trial] = []

    def objective(trial: Trial) -> Any:
        seen.append(trial)
        found = measured(trial)
        return found["reward"], found["safety"]

    study.optimize(objective, n_trials=5)
    assert [trial.number for trial in seen] == [1, 2, 3, 4, 5]
    assert [result.number for result in study.results()] == [1, 2, 3, 4, 5]
    for trial in seen:
        assert trial.params == {"option": PROBLEM.names[trial.pull.arm], "level": trial.pull.level}
        assert trial.features == tuple(PROBLEM.features[trial.pull.arm])


def test_optimizing_makes_the_pulls_that_run_makes(study: sf.Study, tmp_path: Path) -> None:
    study.optimize(measured, n_trials=6)
    with interpreting():
        other = sf.create_study(PROBLEM, name="other", storage=f"sqlite:///{tmp_path / 'studies.db'}", seed=3)
        other.run(lambda pull: WORLD.measure(pull, seed=3), max_pulls=6)
    assert study.results() == other.results()


def test_callbacks_see_the_study_and_the_trial(study: sf.Study) -> None:
    seen = []
    study.optimize(measured, 3, callbacks=[lambda here, trial: seen.append((here is study, trial.number))])
    assert seen == [(True, 1), (True, 2), (True, 3)]


def test_after_the_timeout_no_further_trial_is_begun(study: sf.Study) -> None:
    study.optimize(measured, timeout=0.0)
    assert study.results() == []
    assert study.run(lambda pull: WORLD.measure(pull, seed=3), max_pulls=2, timeout=1e6) == 2


@pytest.mark.parametrize(
    ("words", "field"),
    [
        ({"objective": 3}, "objective"),
        ({"objective": measured, "n_trials": -1}, "max_pulls"),
        ({"objective": measured, "timeout": float("nan")}, "timeout"),
        ({"objective": measured, "timeout": -1.0}, "timeout"),
        ({"objective": measured, "callbacks": [3]}, "callbacks"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_happens(study: sf.Study, words: Any, field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        study.optimize(**words)
    assert refused.value.field == field
    assert study.results() == []


def test_one_result_is_found_by_its_number(study: sf.Study) -> None:
    study.optimize(measured, n_trials=2)
    assert study.result(2) == study.results()[1]
    assert study.result(3) is None
    study.void(2, reason="the valve was shut", by="me")
    assert study.result(2) is None


def test_the_page_shows_what_runs() -> None:
    page = (Path(__file__).parents[2] / "docs" / "bridges.md").read_text("utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {}
    with interpreting():
        exec(compile(code, "bridges.md", "exec"), names)
    assert len(names["study"].results()) == 20


# -- Gymnasium --------------------------------------------------------------------------------------------------------


def env(**wishes: Any) -> WorldEnv:
    return WorldEnv(WORLD, PROBLEM, **wishes)


@pytest.mark.filterwarnings("ignore:.*A Box observation space m")  # readings have no bounds
def test_gymnasium_takes_it_for_an_environment() -> None:
    with interpreting():
        check_env(env(max_pulls=10), skip_render_check=True)


def test_an_episode_is_a_run_of_the_simulator() -> None:
    """The same arms at the same levels give the same numbers, in every episode."""
    with interpreting():
        here = env(max_pulls=4)
        for run in range(3):
            here.reset(seed=5 if run == 0 else None)
            session = sf.Session(PROBLEM, seed=5)
            for _ in range(4):
                pull = session.ask()
                found = WORLD.measure(pull, 5, run=run)
                readings, reward, ended, over, _ = here.step({"arm": pull.arm, "level": np.array(pull.level)})
                assert (readings.tolist(), reward, ended) == (found["safety"], found["reward"], False)
                assert over == (pull.number == 4)
                session.tell(pull, **found)


def test_it_says_what_truly_crosses_a_limit() -> None:
    judge = WORLD.judge(PROBLEM)
    with interpreting():
        here = env()
        here.reset(seed=1)
        for arm in range(PROBLEM.size):
            for level in (0.0, 0.1, 1.0):
                info = here.step({"arm": arm, "level": level})[4]
                assert info["unsafe"] == (not judge.is_safe(arm, level))
                assert info["name"] == PROBLEM.names[arm]
                assert info["regret"] == judge.shortfall(arm, level)


@pytest.mark.parametrize("action", [{"arm": 99, "level": 0.1}, {"arm": 0, "level": 1.5}, {"arm": 0, "level": np.nan}])
def test_an_action_that_is_none_is_refused(action: Any) -> None:
    here = env()
    here.reset(seed=1)
    with pytest.raises(InvalidInput, match="pull"):
        here.step(action)


def test_a_problem_of_another_world_is_refused() -> None:
    with pytest.raises(InvalidInput):
        WorldEnv(WORLD, sf.worlds.hard().default_problem())


# -- MLflow -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def tracked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri(f"file:{tmp_path / 'runs'}")
    yield mlflow.MlflowClient()
    while mlflow.active_run() is not None:
        mlflow.end_run()


def test_every_result_is_logged_as_it_was_told(study: sf.Study, tracked: Any) -> None:
    study.run(lambda pull: WORLD.measure(pull, seed=3), max_pulls=4, callbacks=[LogToMlflow()])
    run = mlflow.active_run()
    assert run is not None
    logged = tracked.get_run(run.info.run_id)
    assert logged.info.run_name == "power"
    assert logged.data.params["epsilon"] == str(PROBLEM.epsilon)
    for name, told in (
        ("reward", [each.reward for each in study.results()]),
        ("level", [each.level for each in study.results()]),
        (f"safety.{PROBLEM.safety[0].name}", [each.readings[0] for each in study.results()]),
    ):
        history = tracked.get_metric_history(run.info.run_id, name)
        assert [(each.step, each.value) for each in history] == list(enumerate(told, start=1)), name


def test_a_run_that_it_began_ends_with_the_study(tmp_path: Path, tracked: Any) -> None:
    problem = PROBLEM.with_(epsilon=1.0, delta=0.3)
    with interpreting():
        study = sf.create_study(problem, name="quick", storage=f"sqlite:///{tmp_path / 'studies.db'}", seed=3)
        study.optimize(measured, callbacks=[LogToMlflow()])
    assert mlflow.active_run() is None
    (run,) = tracked.search_runs(["0"])
    assert (run.info.run_name, run.info.status) == ("quick", "FINISHED")


def test_the_end_leaves_statement_and_certificate(tmp_path: Path, tracked: Any) -> None:
    problem = PROBLEM.with_(epsilon=1.0, delta=0.3)
    with interpreting():
        study = sf.create_study(problem, name="quick", storage=f"sqlite:///{tmp_path / 'studies.db'}", seed=3)
        with mlflow.start_run(run_name="mine") as run:
            study.optimize(measured, callbacks=[LogToMlflow()])
    assert study.outcome == "certified"
    logged = tracked.get_run(run.info.run_id)
    assert logged.info.run_name == "mine"
    assert logged.data.tags["surefoot.outcome"] == "certified"
    assert logged.data.tags["surefoot.statement"] == study.statement
    assert [each.path for each in tracked.list_artifacts(run.info.run_id)] == ["certificate.json"]
