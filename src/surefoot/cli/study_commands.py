"""What can be typed after `surefoot study`: each verb of a study as a command, for scripts in any language.

The file is long because a study has many verbs, and each states its options here; what they do is elsewhere.
"""

from importlib import import_module
from typing import Any

import typer

from surefoot.cli import help_pages, options
from surefoot.cli.command import Command
from surefoot.cli.job import Job, Which
from surefoot.cli.output import Output
from surefoot.cli.policy_options import PolicyCommand, wishes

app = typer.Typer(rich_markup_mode=None, help="Experiments that are kept: they survive crashes, workers and years.",
                  epilog=help_pages.STUDY)  # fmt: skip


def verb(json: bool, place: str, *words: Any) -> Job:
    """The job that calls this function of `surefoot.cli`, written MODULE.NAME; it is loaded when the job is done."""
    home, _, name = place.partition(".")

    def work(output: Output) -> int:
        status: int = getattr(import_module(f"surefoot.cli.{home}"), name)(output, *words)
        return status

    return Job(work, json)


@app.command(cls=PolicyCommand, epilog=help_pages.STUDY_CREATE)
def create(
    context: typer.Context,
    name: options.NewStudyName,
    file: options.ProblemFile,
    seed: options.Seed = 0,
    max_pulls: options.StudyBudget = None,
    intake: options.Intake = "by-number",
    alarm_level: options.AlarmLevel = 0.01,
    warm_start: options.WarmStart = None,
    load_if_exists: options.LoadIfExists = False,
    fold: options.Fold = None,
    key: options.Key = None,
    storage: options.Storage = None,
    json: options.Json = False,
) -> Job:
    """A new study of the problem in a file.

    The policy is safe-gap unless the file or --policy names another.
    """
    settings = {
        "seed": seed, "max_pulls": max_pulls, "intake": intake, "fold": fold, "alarm_level": alarm_level,
        "load_if_exists": load_if_exists,
    }  # fmt: skip
    return verb(
        json, "study_lifecycle.create", Which(name, storage, key=key), file, wishes(context), warm_start, settings
    )


@app.command("list", cls=Command)
def list_(storage: options.Storage = None, json: options.Json = False) -> Job:
    """The studies of a storage."""
    return verb(json, "study_list.list_all", storage)


@app.command(cls=Command)
def show(
    name: options.StudyName,
    every_arm: options.EveryArm = False,
    policy: options.HandedIn = None,
    storage: options.Storage = None,
    json: options.Json = False,
) -> Job:
    """Where a study stands; at its end, the certificate.

    Of many arms it lists those that matter: tried, leading, challenging, best by estimate, or the answer.
    """
    return verb(json, "study_status.show", Which(name, storage, policy), every_arm)


@app.command(cls=Command, epilog=help_pages.STUDY_ASK)
def ask(
    name: options.StudyName,
    count: options.HowMany = None,
    worker: options.Worker = None,
    key: options.Key = None,
    policy: options.HandedIn = None,
    storage: options.Storage = None,
    json: options.Json = False,
) -> Job:
    """The next pull, or several."""
    return verb(json, "study_pulls.ask", Which(name, storage, policy, key), count, worker)


@app.command(cls=Command, epilog=help_pages.STUDY_TELL)
def tell(
    name: options.StudyName,
    number: options.PullNumber,
    reward: options.RewardTold,
    safety: options.SafetyTold = None,
    level: options.LevelTold = None,
    confirm: options.Confirm = False,
    key: options.Key = None,
    policy: options.HandedIn = None,
    storage: options.Storage = None,
    json: options.Json = False,
) -> Job:
    """The result of an open pull."""
    return verb(json, "study_pulls.tell", Which(name, storage, policy, key), number, reward, safety, level, confirm)


@app.command(cls=Command, epilog=help_pages.STUDY_CORRECT)
def correct(
    name: options.StudyName,
    number: options.PullNumber,
    reason: options.Reason,
    reward: options.NewReward = None,
    safety: options.NewSafety = None,
    by: options.By = None,
    confirm: options.Confirm = False,
    key: options.Key = None,
    policy: options.HandedIn = None,
    storage: options.Storage = None,
    json: options.Json = False,
) -> Job:
    """Put a told result right."""
    which = Which(name, storage, policy, key)
    return verb(json, "study_corrections.correct", which, number, reward, safety, reason, by, confirm)


@app.command(cls=Command)
def void(
    name: options.StudyName,
    number: options.PullNumber,
    reason: options.Reason,
    by: options.By = None,
    key: options.Key = None,
    policy: options.HandedIn = None,
    storage: options.Storage = None,
    json: options.Json = False,
) -> Job:
    """Take a result out, for a reason that is not the result."""
    return verb(json, "study_corrections.void", Which(name, storage, policy, key), number, reason, by)


@app.command(cls=Command)
def add(
    name: options.StudyName,
    arm: options.ArmName,
    level: options.AppliedLevel,
    reward: options.RewardTold,
    safety: options.SafetyTold = None,
    source: options.Source = None,
    not_because_of_result: options.Confirmed = False,
    confirm: options.ConfirmOrder = False,
    key: options.Key = None,
    policy: options.HandedIn = None,
    storage: options.Storage = None,
    json: options.Json = False,
) -> Job:
    """A result that was measured elsewhere, under the same truth."""
    return verb(
        json, "study_pulls.add", Which(name, storage, policy, key), arm, level, reward, safety, source,
        not_because_of_result, confirm,
    )  # fmt: skip


@app.command(cls=Command, epilog=help_pages.STUDY_ADD_TABLE)
def add_table(
    name: options.StudyName,
    file: options.TableFile,
    order: options.Order = None,
    time: options.Time = None,
    source: options.Source = None,
    not_because_of_result: options.Confirmed = False,
    confirm: options.ConfirmOrder = False,
    key: options.Key = None,
    policy: options.HandedIn = None,
    storage: options.Storage = None,
    json: options.Json = False,
) -> Job:
    """A table of results that were measured elsewhere, as one step."""
    return verb(
        json, "study_pulls.add_table", Which(name, storage, policy, key), file, order, time, source,
        not_because_of_result, confirm,
    )  # fmt: skip


@app.command(cls=Command, epilog=help_pages.STUDY_GIVE_UP)
def cancel(
    name: options.StudyName,
    number: options.PullNumber,
    reason: options.Reason,
    not_because_of_result: options.Confirmed = False,
    key: options.Key = None,
    policy: options.HandedIn = None,
    storage: options.Storage = None,
    json: options.Json = False,
) -> Job:
    """Give up an open pull that was not applied."""
    return verb(
        json, "study_stops.give_up", Which(name, storage, policy, key), "cancel", number, reason, not_because_of_result
    )


@app.command(cls=Command, epilog=help_pages.STUDY_GIVE_UP)
def fail(
    name: options.StudyName,
    number: options.PullNumber,
    reason: options.Reason,
    not_because_of_result: options.Confirmed = False,
    key: options.Key = None,
    policy: options.HandedIn = None,
    storage: options.Storage = None,
    json: options.Json = False,
) -> Job:
    """Give up an open pull whose measurement failed."""
    return verb(
        json, "study_stops.give_up", Which(name, storage, policy, key), "fail", number, reason, not_because_of_result
    )


@app.command(cls=Command, epilog=help_pages.STUDY_GIVE_UP)
def expire(
    name: options.StudyName,
    number: options.OptionalNumber = None,
    older_than: options.OlderThan = None,
    reason: options.StaleReason = "no result came back",
    not_because_of_result: options.Confirmed = False,
    key: options.Key = None,
    policy: options.HandedIn = None,
    storage: options.Storage = None,
    json: options.Json = False,
) -> Job:
    """Give up open pulls from which nothing was heard."""
    return verb(
        json, "study_stops.expire", Which(name, storage, policy, key), number, older_than, reason, not_because_of_result
    )


@app.command(cls=Command)
def abort(
    name: options.StudyName,
    number: options.PullNumber,
    reason: options.Reason,
    by: options.By = None,
    key: options.Key = None,
    policy: options.HandedIn = None,
    storage: options.Storage = None,
    json: options.Json = False,
) -> Job:
    """A pull looked unsafe and was stopped; freezes the study."""
    return verb(json, "study_stops.abort", Which(name, storage, policy, key), number, reason, by)


@app.command(cls=Command)
def freeze(
    name: options.StudyName,
    reason: options.Reason,
    by: options.By = None,
    key: options.Key = None,
    policy: options.HandedIn = None,
    storage: options.Storage = None,
    json: options.Json = False,
) -> Job:
    """Emergency stop: nobody is given a pull until release."""
    return verb(json, "study_stops.hold", Which(name, storage, policy, key), "freeze", reason, by)


@app.command(cls=Command)
def release(
    name: options.StudyName,
    reason: options.Reason,
    by: options.By = None,
    key: options.Key = None,
    policy: options.HandedIn = None,
    storage: options.Storage = None,
    json: options.Json = False,
) -> Job:
    """Let a frozen study go on."""
    return verb(json, "study_stops.hold", Which(name, storage, policy, key), "release", reason, by)


@app.command(cls=Command, epilog=help_pages.STUDY_WATCH)
def watch(
    name: options.StudyName,
    once: options.Once = False,
    every: options.Every = 1.0,
    policy: options.HandedIn = None,
    storage: options.Storage = None,
    json: options.Json = False,
) -> Job:
    """The study as it goes, on the terminal; it only reads."""
    return verb(json, "watch.watch_study", Which(name, storage, policy), once, every)


@app.command(cls=Command, epilog=help_pages.STUDY_AUDIT)
def audit(
    name: options.StudyName,
    head: options.NotedHead = None,
    signed_by: options.SignedBy = None,
    policy: options.HandedIn = None,
    storage: options.Storage = None,
    json: options.Json = False,
) -> Job:
    """Whether anything was changed, and every decision is the one due."""
    return verb(json, "study_heads.audit", Which(name, storage, policy), head, signed_by)


@app.command(cls=Command, epilog=help_pages.STUDY_AUDIT)
def head(
    name: options.StudyName,
    sign_with: options.SignWith = None,
    out: options.HeadFile = None,
    policy: options.HandedIn = None,
    storage: options.Storage = None,
    json: options.Json = False,
) -> Job:
    """The hash of the last event, to be kept elsewhere."""
    return verb(json, "study_heads.head", Which(name, storage, policy), sign_with, out)


@app.command(cls=Command, epilog=help_pages.STUDY_HISTORY)
def history(
    name: options.StudyName,
    form: options.HistoryFormat = None,
    out: options.HistoryFile = None,
    force: options.Force = False,
    storage: options.Storage = None,
    json: options.Json = False,
) -> Job:
    """Every pull as a row: what was asked, what came back, who, when and why."""
    return verb(json, "study_history.history", Which(name, storage), form, out, force)


@app.command(cls=Command, epilog=help_pages.STUDY_PLOT)
def plot(
    name: options.MaybeStudy = None,
    kind: options.PictureKind = None,
    out: options.PictureFile = None,
    arm: options.PictureArms = None,
    theme: options.PictureTheme = "light",
    width: options.PictureWidth = 7.2,
    listing: options.ListPictures = False,
    force: options.Force = False,
    policy: options.HandedIn = None,
    storage: options.Storage = None,
    json: options.Json = False,
) -> Job:
    """A picture of the study: levels, gap, readings, pulls or rewards."""
    return verb(json, "study_pictures.plot", name, kind, storage, policy, out, force, theme, width, arm, listing)


@app.command(cls=Command, epilog=help_pages.STUDY_REPORT)
def report(
    name: options.StudyName,
    out: options.ReportFile = None,
    force: options.Force = False,
    policy: options.HandedIn = None,
    storage: options.Storage = None,
    json: options.Json = False,
) -> Job:
    """One page for those who decide: the answer first, then pictures and reasons."""
    return verb(json, "study_pictures.report", Which(name, storage, policy), out, force)


@app.command(cls=Command)
def export(
    name: options.StudyName,
    path: options.NewFile,
    force: options.Force = False,
    policy: options.HandedIn = None,
    storage: options.Storage = None,
    json: options.Json = False,
) -> Job:
    """The whole study as one file, with checksums."""
    return verb(json, "study_lifecycle.export", Which(name, storage, policy), path, force)


@app.command("import", cls=Command)
def import_(
    path: options.StudyFile,
    name: options.NewName = None,
    policy: options.HandedIn = None,
    storage: options.Storage = None,
    json: options.Json = False,
) -> Job:
    """A study from a file, into this storage."""
    return verb(json, "study_lifecycle.import_file", storage, path, name, policy)


@app.command(cls=Command)
def delete(
    name: options.StudyName,
    yes: options.Yes = False,
    key: options.Key = None,
    storage: options.Storage = None,
    json: options.Json = False,
) -> Job:
    """Forget a study and all that happened to it."""
    return verb(json, "study_lifecycle.delete", Which(name, storage, key=key), yes)
