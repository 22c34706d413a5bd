"""What can be typed. Typer reads the command line; each command returns its work as a `Job`, and `main` does it.

Nothing heavy is imported before a job is done, so that `surefoot --help` answers at once. The file is long because
every command states its options here; what they do is elsewhere.
"""

import gc
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from surefoot.cli import completion, exit_codes, help_pages, interruption, options, storage_commands, study_commands
from surefoot.cli.command import Command
from surefoot.cli.job import Job
from surefoot.cli.output import Output, stranger
from surefoot.cli.policy_options import PoliciesCommand, PolicyCommand, wishes
from surefoot.errors import InvalidInput, SurefootError

app = typer.Typer(
    name="surefoot",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=help_pages.SUREFOOT,
)
app.add_typer(study_commands.app, name="study")
app.add_typer(storage_commands.app, name="storage")
GROUPS = ("study", "storage")  # commands that have commands of their own
SELDOM = 20_000  # new objects between two searches for cycles; Python's 700 would cost a tenth of a short command


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status, once everything asked for is done and told."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if arguments is None:
        gc.set_threshold(SELDOM)
    try:
        try:
            status = done(words)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # Nobody reads on. What Python still holds back goes nowhere, and silently.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return exit_codes.CLOSED_PIPE
    finally:
        if arguments is None:
            gc.freeze()  # the process ends: its memory goes back at once, and is not searched for cycles (0.3 s)
    return status


def done(words: list[str]) -> int:
    """The exit status of the command that these words ask for."""
    if not words and completion.is_asked_for():
        return completion.complete(app)
    try:
        unfinished = not words or (len(words) == 1 and words[0] in GROUPS)
        job = app([*words, "--help"] if unfinished else words, prog_name="surefoot", standalone_mode=False)
    except _usage_errors() as error:
        return misused(words, error)
    except SurefootError as error:  # from a policy of the user's own, which is imported while the words are read
        return Output(json="--json" in words).report(error)
    except typer.Abort:
        return Output(json="--json" in words).report(KeyboardInterrupt())
    if not isinstance(job, Job):
        return int(job or exit_codes.OK)  # help and version are told while reading
    output = Output(json=job.json, quiet=job.quiet)
    with output.heeding_warnings(), output.heeding_silence():
        try:
            with interruption.at_work():
                return job.work(output)
        except BrokenPipeError:
            raise
        except (Exception, KeyboardInterrupt) as error:
            return output.report(error)


def misused(words: list[str], error: Any) -> int:
    """The exit status for a command line that cannot be read, once that is told."""
    message = error.format_message()
    command = error.ctx.command_path if getattr(error, "ctx", None) else "surefoot"
    message = f"{message if message.endswith('?') else message.rstrip('.') + '.'} See {command} --help."
    output = Output(json="--json" in words)
    if output.json:
        output.json_result({"error": stranger("Usage", message), "exit_status": exit_codes.BAD_INPUT})
    else:
        output.paragraph(f"error: {message}", "red")
    return exit_codes.BAD_INPUT


def _usage_errors() -> type[Exception]:
    """The base of typer's complaints; it has no public name that is the same in all its releases."""
    found: type[Exception] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
    return found


def _tell_version(wanted: bool) -> None:
    if wanted:
        from surefoot import __version__

        typer.echo(f"surefoot {__version__}")
        raise typer.Exit


@app.callback()
def surefoot(
    version: Annotated[
        bool, typer.Option("--version", callback=_tell_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Find the best option by experiment without stepping over a safety limit, and know when you are certain.

    You have options ("arms") with features, a dial for how strongly one is applied (its level), a reward, and readings
    that must not cross a limit, not even while learning. Give the problem in a file or in Python; here it is simulated.
    """


@app.command(cls=PolicyCommand, epilog=help_pages.RUN)
def run(
    context: typer.Context,
    file: options.File = None,
    world: options.World = None,
    seed: options.Seed = 0,
    max_pulls: options.MaxPulls = 200_000,
    compare: options.Compare = True,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> Job:
    """One complete experiment, simulated, with its certificate.

    The policy sees readings only; the truth answers its pulls and judges at the end. Without FILE it is the paper's
    instance; the policy is safe-gap unless the file or --policy names another.
    """
    wished = wishes(context)

    def work(output: Output) -> int:
        from surefoot.cli.choosing import scenarios_of
        from surefoot.cli.run import run_once

        (scenario,) = scenarios_of(file, world, wished)
        return run_once(output, scenario, seed, max_pulls, compare)

    return Job(work, json, quiet)


@app.command(cls=PoliciesCommand, epilog=help_pages.SIMULATE)
def simulate(
    context: typer.Context,
    file: options.File = None,
    world: options.World = None,
    runs: options.RunCount = 100,
    seed: options.Seed = 0,
    workers: options.Workers = None,
    max_pulls: options.MaxPulls = 200_000,
    confidence: options.Confidence = 0.95,
    alarm: options.Alarm = False,
    device: options.Device = "cpu",
    out: options.Out = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> Job:
    """Many runs: how long, how often wrong, how often unsafe.

    Without FILE it is the paper's instance; the policy is safe-gap unless the file or --policy names others.
    """
    wished = wishes(context)

    def work(output: Output) -> int:
        from surefoot.cli.choosing import scenarios_of
        from surefoot.cli.simulate import simulate_many

        scenarios = scenarios_of(file, world, wished)
        return simulate_many(output, scenarios, runs, seed, workers, max_pulls, confidence, out, alarm, device)

    return Job(work, json, quiet)


@app.command(cls=PolicyCommand, epilog=help_pages.PLAN)
def plan(
    context: typer.Context,
    file: options.ProblemFile,
    runs: options.WorldCount = 100,
    budget: options.Budget = 10_000,
    like: options.Like = None,
    seed: options.Seed = 0,
    workers: options.Workers = None,
    out: options.PlanPicture = None,
    force: options.Force = False,
    theme: options.PictureTheme = "light",
    width: options.PictureWidth = 9.0,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> Job:
    """How many trials a problem may take, before the first one, and which statement costs most."""
    wished = wishes(context)

    def work(output: Output) -> int:
        from surefoot.cli.plan import plan_file

        return plan_file(output, file, wished, runs, budget, like, seed, workers, out, force, theme, width)

    return Job(work, json, quiet)


@app.command(cls=Command, epilog=help_pages.CALIBRATE)
def calibrate(
    pilot: options.PilotFile,
    file: options.ProblemFile,
    confidence: options.PilotConfidence = None,
    out: options.SuggestedFile = None,
    plot: options.PilotPicture = None,
    force: options.Force = False,
    theme: options.PictureTheme = "light",
    width: options.PictureWidth = 9.0,
    json: options.Json = False,
) -> Job:
    """What pilot trials at known-safe levels say about a problem file, and the file that they suggest."""

    def work(output: Output) -> int:
        from surefoot.cli.calibrate import calibrate_file

        return calibrate_file(output, pilot, file, confidence, out, plot, force, theme, width)

    return Job(work, json)


@app.command(cls=Command, epilog=help_pages.SWEEP)
def sweep(
    plan: options.PlanFile,
    out: options.SweepFolder = Path("surefoot-sweep"),
    engine: options.Engine = "threads",
    workers: options.EngineWorkers = None,
    scheduler: options.Scheduler = None,
    runs: options.SweepRuns = None,
    seed: options.SweepSeed = None,
    confidence: options.Confidence = 0.95,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> Job:
    """Worlds x problems x policies x runs, on one machine or on many, kept run by run."""

    def work(output: Output) -> int:
        from surefoot.cli.sweep import sweep_plan

        return sweep_plan(output, plan, out, engine, workers, scheduler, runs, seed, confidence)

    return Job(work, json, quiet)


@app.command(cls=Command, epilog=help_pages.COMPARE)
def compare(
    policies: options.ComparedPolicies = None,
    worlds: options.ComparedWorlds = None,
    delta: options.ComparedDeltas = None,
    delta_safety: options.ComparedDeltaSafety = None,
    epsilon: options.ComparedEpsilon = None,
    radius: options.Radius = "ours",
    runs: options.RunCount = 30,
    seed: options.Seed = 0,
    max_pulls: options.MaxPulls = 200_000,
    confidence: options.Confidence = 0.95,
    engine: options.Engine = "threads",
    workers: options.EngineWorkers = None,
    scheduler: options.Scheduler = None,
    out: options.ComparedFolder = Path("surefoot-compare"),
    report: options.ComparedReport = None,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> Job:
    """Policies side by side on the same worlds and noise: pulls, wrong, unsafe, seconds."""

    def work(output: Output) -> int:
        from surefoot.cli.compare import compare_policies

        return compare_policies(
            output, policies, worlds, delta, delta_safety, epsilon, radius, runs, seed, max_pulls, confidence, out,
            engine, workers, scheduler, report, force,
        )  # fmt: skip

    return Job(work, json, quiet)


@app.command(cls=Command, epilog=help_pages.SHOW)
def show(file: options.ProblemFile, policy: options.FilesPolicy = None, json: options.Json = False) -> Job:
    """A problem file, checked and explained; it needs no world."""

    def work(output: Output) -> int:
        from surefoot.cli.show import show_file

        return show_file(output, file, policy)

    return Job(work, json)


@app.command(cls=Command, epilog=help_pages.INIT)
def init(
    arms: options.ArmsFile,
    out: options.NewProblemFile = None,
    unit: options.DialUnit = None,
    full: options.DialFull = None,
    safe_level: options.SafeLevel = None,
    noise: options.RewardNoise = None,
    reward_unit: options.RewardUnit = None,
    limit: options.LimitName = None,
    at_most: options.AtMost = None,
    at_least: options.AtLeast = None,
    baseline: options.Baseline = None,
    limit_noise: options.LimitNoise = None,
    limit_unit: options.LimitUnit = None,
    epsilon: options.Epsilon = None,
    delta: options.Delta = None,
    delta_safety: options.DeltaSafety = None,
    force: options.Force = False,
    json: options.Json = False,
) -> Job:
    """A commented problem file for a table of arms, from a few questions."""

    def work(output: Output) -> int:
        from surefoot.cli.init import Answers
        from surefoot.cli.init import init as write_file

        given = Answers(
            unit, full, safe_level, noise, reward_unit, limit, at_most, at_least, baseline, limit_noise, limit_unit,
            epsilon, delta, delta_safety,
        )  # fmt: skip
        return write_file(output, arms, out, force, given)

    return Job(work, json)


@app.command(cls=Command, epilog=help_pages.THEORY)
def theory(file: options.ProblemFile, json: options.Json = False) -> Job:
    """What the theory says about a problem file: pulls, exploration, confidence, lower bound."""

    def work(output: Output) -> int:
        from surefoot.cli.theory import tell_theory

        return tell_theory(output, file)

    return Job(work, json)


@app.command(cls=Command, epilog=help_pages.REPRODUCE)
def reproduce(
    experiment: options.Experiments = None,
    out: options.ReproductionFolder = Path("surefoot-reproduction"),
    runs: options.ReproductionRuns = None,
    quick: options.Quick = False,
    seed: options.Seed = 0,
    engine: options.Engine = "threads",
    workers: options.EngineWorkers = None,
    scheduler: options.Scheduler = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> Job:
    """The paper's experiments, run many times and held beside what is printed."""

    def work(output: Output) -> int:
        from surefoot.cli.reproduce import reproduce_paper

        return reproduce_paper(output, experiment or ["all"], out, runs, quick, seed, engine, workers, scheduler)

    return Job(work, json, quiet)


@app.command(cls=Command)
def worlds(json: options.Json = False) -> Job:
    """The worlds to simulate in, and their parameters."""

    def work(output: Output) -> int:
        from surefoot.cli.listings import list_worlds

        return list_worlds(output)

    return Job(work, json)


@app.command(cls=Command)
def policies(json: options.Json = False) -> Job:
    """The policies, what each promises, and their options."""

    def work(output: Output) -> int:
        from surefoot.cli.listings import list_policies

        return list_policies(output)

    return Job(work, json)


@app.command("completion", cls=Command, epilog=help_pages.COMPLETION)
def complete_in(shell: options.Shell, json: options.Json = False) -> Job:
    """What a shell has to be told so that it completes commands and names of studies."""

    def work(output: Output) -> int:
        if shell not in completion.SHELLS:
            remedy = f"Write one of {', '.join(completion.SHELLS)}."
            raise InvalidInput("SHELL", shell, "is no shell that is known here", remedy)
        script = completion.script_for(shell)
        return output.answer({"shell": shell, "script": script}, script)

    return Job(work, json)
