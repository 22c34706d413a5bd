"""What can be typed after `surefoot study`: each verb of a study as a command, for scripts in any language."""

from pathlib import Path
from typing import Any

import typer

from surefoot.cli import help_pages, options
from surefoot.cli.job import Job
from surefoot.cli.output import Output

app = typer.Typer(rich_markup_mode=None, help="Experiments that are kept: they survive crashes, workers and years.",
                  epilog=help_pages.STUDY)  # fmt: skip


def verb(json: bool, name: str, *words: Any, **named: Any) -> Job:
    """The job that calls this function of `surefoot.cli.study`; it is loaded when the job is done."""

    def work(output: Output) -> int:
        from surefoot.cli import study

        status: int = getattr(study, name)(output, *words, **named)
        return status

    return Job(work, json)


@app.command(cls=help_pages.Command, epilog=help_pages.STUDY_CREATE)
def create(
    name: options.StudyName,
    file: options.ProblemFile,
    policy: options.Policy = None,
    selection: options.Selection = None,
    levels: options.Levels = None,
    pull: options.PullRule = None,
    explore: options.Explore = None,
    reward_radius: options.RewardRadius = None,
    safety_radius: options.SafetyRadius = None,
    null_pull: options.NullPull = None,
    seed: options.Seed = 0,
    max_pulls: options.StudyBudget = None,
    fold: options.Fold = "order",
    alarm_level: options.AlarmLevel = 0.01,
    warm_start: options.WarmStart = None,
    load_if_exists: options.LoadIfExists = False,
    storage: options.Storage = None,
    json: options.Json = False,
) -> Job:
    """A new study of the problem in a file."""
    wishes = {
        "name": policy, "selection": selection, "levels": levels, "pull": pull, "explore": explore,
        "reward_radius": reward_radius, "safety_radius": safety_radius, "null_pull": null_pull,
    }  # fmt: skip
    settings = {
        "seed": seed, "max_pulls": max_pulls, "fold": fold, "alarm_level": alarm_level,
        "load_if_exists": load_if_exists,
    }  # fmt: skip
    return verb(json, "create", storage, name, file, wishes, warm_start, settings)


@app.command("list", cls=help_pages.Command)
def list_(storage: options.Storage = None, json: options.Json = False) -> Job:
    """The studies of a storage."""
    return verb(json, "list_all", storage)


@app.command(cls=help_pages.Command)
def show(name: options.StudyName, storage: options.Storage = None, json: options.Json = False) -> Job:
    """Where a study stands; at its end, the certificate."""
    return verb(json, "show", storage, name)


@app.command(cls=help_pages.Command, epilog=help_pages.STUDY_ASK)
def ask(
    name: options.StudyName,
    count: options.HowMany = None,
    worker: options.Worker = None,
    storage: options.Storage = None,
    json: options.Json = False,
) -> Job:
    """The next pull, or several."""
    return verb(json, "ask", storage, name, count, worker)


@app.command(cls=help_pages.Command, epilog=help_pages.STUDY_TELL)
def tell(
    name: options.StudyName,
    number: options.PullNumber,
    reward: options.RewardTold,
    safety: options.SafetyTold,
    level: options.LevelTold = None,
    storage: options.Storage = None,
    json: options.Json = False,
) -> Job:
    """The result of an open pull."""
    return verb(json, "tell", storage, name, number, reward, safety, level)


@app.command(cls=help_pages.Command)
def add(
    name: options.StudyName,
    arm: options.ArmName,
    level: options.AppliedLevel,
    reward: options.RewardTold,
    safety: options.SafetyTold,
    source: options.Source = None,
    not_because_of_result: options.Confirmed = False,
    storage: options.Storage = None,
    json: options.Json = False,
) -> Job:
    """A result that was measured elsewhere, under the same truth."""
    return verb(json, "add", storage, name, arm, level, reward, safety, source, not_because_of_result)


@app.command(cls=help_pages.Command)
def cancel(
    name: options.StudyName,
    number: options.PullNumber,
    reason: options.Reason,
    not_because_of_result: options.Confirmed = False,
    storage: options.Storage = None,
    json: options.Json = False,
) -> Job:
    """Give up an open pull that was not applied."""
    return verb(json, "give_up", storage, name, "cancel", number, reason, not_because_of_result)


@app.command(cls=help_pages.Command)
def fail(
    name: options.StudyName,
    number: options.PullNumber,
    reason: options.Reason,
    not_because_of_result: options.Confirmed = False,
    storage: options.Storage = None,
    json: options.Json = False,
) -> Job:
    """Give up an open pull whose measurement failed."""
    return verb(json, "give_up", storage, name, "fail", number, reason, not_because_of_result)


@app.command(cls=help_pages.Command)
def expire(
    name: options.StudyName,
    number: options.OptionalNumber = None,
    older_than: options.OlderThan = None,
    reason: options.StaleReason = "no result came back",
    not_because_of_result: options.Confirmed = False,
    storage: options.Storage = None,
    json: options.Json = False,
) -> Job:
    """Give up open pulls from which nothing was heard."""
    return verb(json, "expire", storage, name, number, older_than, reason, not_because_of_result)


@app.command(cls=help_pages.Command)
def abort(
    name: options.StudyName,
    number: options.PullNumber,
    reason: options.Reason,
    by: options.By = None,
    storage: options.Storage = None,
    json: options.Json = False,
) -> Job:
    """A pull looked unsafe and was stopped; freezes the study."""
    return verb(json, "abort", storage, name, number, reason, by)


@app.command(cls=help_pages.Command)
def freeze(
    name: options.StudyName,
    reason: options.Reason,
    by: options.By = None,
    storage: options.Storage = None,
    json: options.Json = False,
) -> Job:
    """Emergency stop: nobody is given a pull until release."""
    return verb(json, "hold", storage, name, "freeze", reason, by)


@app.command(cls=help_pages.Command)
def release(
    name: options.StudyName,
    reason: options.Reason,
    by: options.By = None,
    storage: options.Storage = None,
    json: options.Json = False,
) -> Job:
    """Let a frozen study go on."""
    return verb(json, "hold", storage, name, "release", reason, by)


@app.command(cls=help_pages.Command, epilog=help_pages.STUDY_WATCH)
def watch(
    name: options.StudyName,
    once: options.Once = False,
    every: options.Every = 1.0,
    storage: options.Storage = None,
    json: options.Json = False,
) -> Job:
    """The study as it goes, on the terminal; it only reads."""

    def work(output: Output) -> int:
        from surefoot.cli.watch import watch_study

        return watch_study(output, storage, name, once, every)

    return Job(work, json)


@app.command(cls=help_pages.Command)
def audit(name: options.StudyName, storage: options.Storage = None, json: options.Json = False) -> Job:
    """Every stored decision against the one recomputed."""
    return verb(json, "audit", storage, name)


@app.command(cls=help_pages.Command)
def export(
    name: options.StudyName, path: options.NewFile, storage: options.Storage = None, json: options.Json = False
) -> Job:
    """The whole study as one file, with checksums."""
    return verb(json, "export", storage, name, path)


@app.command("import", cls=help_pages.Command)
def import_(
    path: options.StudyFile,
    name: options.NewName = None,
    storage: options.Storage = None,
    json: options.Json = False,
) -> Job:
    """A study from a file, into this storage."""
    return verb(json, "import_file", storage, Path(path), name)


@app.command(cls=help_pages.Command)
def delete(
    name: options.StudyName, yes: options.Yes = False, storage: options.Storage = None, json: options.Json = False
) -> Job:
    """Forget a study and all that happened to it."""
    return verb(json, "delete", storage, name, yes)
