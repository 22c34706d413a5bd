"""A study whose results are logged in MLflow as they come; look at them with `mlflow ui`."""

import os

import mlflow

import surefoot as sf
from surefoot.bridges.mlflow_log import LogToMlflow

os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"  # a folder is enough here; a team has a tracking server
mlflow.set_tracking_uri("file:./runs")
world = sf.worlds.limited()
study = sf.create_study(world.default_problem(), name="limited", storage="sqlite:///studies.db", seed=3)
study.run(lambda pull: world.measure(pull, seed=3), max_pulls=50, callbacks=[LogToMlflow()])

run = mlflow.active_run()
assert run is not None
client = mlflow.MlflowClient()
rewards, gaps = (client.get_metric_history(run.info.run_id, name) for name in ("reward", "gap"))
print(f"{len(rewards)} results are logged; the gap is {gaps[-1].value:.3g}")
mlflow.end_run()
