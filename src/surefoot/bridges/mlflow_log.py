"""Studies in MLflow (`surefoot[mlflow]`): a callback that logs every result as it is kept.

    study.run(measure, callbacks=[LogToMlflow()])

Problem and policy become parameters, readings, levels and the gap metrics by number of the pull; at the end outcome and
statement become tags, and the certificate an artifact. It writes into the run that is active, or into one of its own
with the name of the study. A log is no evidence: the study's own storage is.
"""

from typing import TYPE_CHECKING, Any

from surefoot.errors import MissingExtra

if TYPE_CHECKING:
    from surefoot.live.pulls import Pull
    from surefoot.studies.study import Study

try:
    import mlflow
except ImportError as error:
    raise MissingExtra("mlflow", "mlflow") from error


class LogToMlflow:
    """A callback for `study.run` and, through it, for `study.optimize`."""

    def __init__(self) -> None:
        self._run: Any = None
        self._begun_here = False

    def __call__(self, study: "Study", pull: Any) -> None:
        """Logs the result of this pull, which is kept already."""
        pull = getattr(pull, "pull", pull)  # of a trial
        if self._run is None:
            self._run = mlflow.active_run()
            self._begun_here = self._run is None
            self._run = self._run or mlflow.start_run(run_name=study.name)
            mlflow.log_params(parameters_of(study), run_id=self._run.info.run_id)
        mlflow.log_metrics(metrics_of(study, pull), step=pull.number, run_id=self._run.info.run_id)
        if study.outcome is not None:
            self._end(study)

    def _end(self, study: "Study") -> None:
        """What the study has come to."""
        client, run = mlflow.MlflowClient(), self._run.info.run_id
        client.set_tag(run, "surefoot.outcome", str(study.outcome))
        client.set_tag(run, "surefoot.statement", study.statement)
        certificate = study.certificate
        if certificate is not None:
            client.log_dict(run, dict(certificate.to_dict()), "certificate.json")
        if self._begun_here:  # another's is another's to end
            mlflow.end_run()


def parameters_of(study: "Study") -> dict[str, Any]:
    """What was asked for."""
    problem = study.problem
    safely = {"delta_safety": problem.delta_safety} if problem.safety else {}
    return {
        "study": study.name, "policy": study.policy.name, "arms": problem.size, "epsilon": problem.epsilon,
        "delta": problem.delta, **safely, "seed": study.seed,
    }  # fmt: skip


def metrics_of(study: "Study", pull: "Pull") -> dict[str, float]:
    """What was read, and how far the study is."""
    told, names = study.result(pull), [f"safety.{limit.name}" for limit in study.problem.safety]
    gap = {} if pull.gap is None else {"gap": pull.gap}
    margin = {"margin": pull.margin} if names else {}
    if told is None:  # held back as implausible, or voided meanwhile
        return {"level": pull.level, **margin, **gap}
    readings = dict(zip(names, told.readings, strict=True))
    return {"reward": told.reward, "level": told.level, **margin, **readings, **gap}
