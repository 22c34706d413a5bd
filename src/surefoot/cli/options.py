"""The options of the command line, each written once; those of policies are made in `policy_options`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from surefoot.cli import completion
from surefoot.cli.help_pages import OUTPUT, PICTURES, PROBLEM, WORK


def _work(flag: str, words: str, default: bool | str = True) -> Any:
    return typer.Option(flag, help=words, show_default=default, rich_help_panel=WORK)


def _output(*flags: str, words: str) -> Any:
    return typer.Option(*flags, help=words, rich_help_panel=OUTPUT)


_FILE = "A problem file, TOML or JSON, with a [world] table. Left out: the paper's instance."
_WORLD = "A world of `surefoot worlds` with its own problem, in place of FILE."

File = Annotated[Path | None, typer.Argument(help=_FILE, show_default=False)]
ProblemFile = Annotated[Path, typer.Argument(help="A problem file, TOML or JSON.")]
World = Annotated[str | None, typer.Option("--world", help=_WORLD, metavar="NAME", rich_help_panel=PROBLEM)]


def _stated(flag: str, words: str, metavar: str | None = None) -> Any:
    return typer.Option(flag, help=words, metavar=metavar, show_default=False, rich_help_panel=PROBLEM)


_SAFE = "A level known to be safe for every arm, such as 0.2, or a setting: '8 mg'."

ArmsFile = Annotated[Path, typer.Argument(metavar="ARMS", help="A CSV or Parquet file of arms, with a column 'name'.")]
NewProblemFile = Annotated[
    Path | None, _output("--out", "-o", words="The file to write, .toml; left out: named as ARMS is.")
]
DialUnit = Annotated[str | None, _stated("--unit", "The unit of what is set, such as mg; '' for plain levels.", "TEXT")]
DialFull = Annotated[float | None, _stated("--full", "The setting at full strength.")]
SafeLevel = Annotated[str | None, _stated("--safe-level", _SAFE, "LEVEL")]
RewardNoise = Annotated[str | None, _stated("--noise", "The standard deviation of the reward's noise.", "NUMBER")]
RewardUnit = Annotated[str | None, _stated("--reward-unit", "The unit of the reward.", "TEXT")]
LimitName = Annotated[str | None, _stated("--limit", "What must keep a limit, by name, or none.", "TEXT")]
AtMost = Annotated[float | None, _stated("--at-most", "Its limit, where it must not rise above.")]
AtLeast = Annotated[float | None, _stated("--at-least", "Its limit, where it must not fall below.")]
Baseline = Annotated[float | None, _stated("--baseline", "What it reads when nothing is applied; left out: 0.")]
LimitNoise = Annotated[str | None, _stated("--limit-noise", "The standard deviation of its noise.", "NUMBER")]
LimitUnit = Annotated[str | None, _stated("--limit-unit", "The unit of its readings.", "TEXT")]
Epsilon = Annotated[float | None, _stated("--epsilon", "How far from the best the answer may be.")]
Delta = Annotated[float | None, _stated("--delta", "The accepted chance of a worse answer; left out: 0.05.")]
DeltaSafety = Annotated[
    float | None, _stated("--delta-safety", "The accepted chance of any unsafe pull; left out: 0.05.")
]

Seed = Annotated[int, _work("--seed", "Fixes every random draw.")]
MaxPulls = Annotated[int, _work("--max-pulls", "Give up after so many pulls: undecided.")]
Compare = Annotated[bool, _work("--compare/--no-compare", "Run LinGapE, which knows no limits, beside it.")]
RunCount = Annotated[int, _work("--runs", "How many runs of each policy.")]
Workers = Annotated[int | None, _work("--workers", "Threads; results do not depend on it.", "all cores")]
_LIKE = "Pilot results, a CSV file: arm, level, reward, safety. Worlds are drawn like them."

WorldCount = Annotated[int, _work("--runs", "How many worlds in each scenario, one run in each.")]
Budget = Annotated[int, _work("--budget", "How many trials there may be at most.")]
Like = Annotated[Path | None, _stated("--like", _LIKE, "FILE")]
PlanPicture = Annotated[
    Path | None, _output("--out", "-o", words="Draw it into this file: .png, .svg or .pdf.")
]  # fmt: skip
PilotFile = Annotated[
    Path, typer.Argument(metavar="PILOT", help="Pilot results, a CSV file: arm, level, reward, safety.")
]
PilotConfidence = Annotated[
    float | None,
    _work("--confidence", "Of all bounds on noise together.", "all but a quarter of the smaller delta"),
]
SuggestedFile = Annotated[Path | None, _output("--out", "-o", words="Write what they suggest into this .toml file.")]
PilotPicture = Annotated[Path | None, _output("--plot", words="Draw the rows into this file: .png, .svg or .pdf.")]
Device = Annotated[str, _work("--device", "cpu, or cuda for an NVIDIA GPU; results do not depend on it.")]
Alarm = Annotated[bool, _work("--alarm", "Watch each run as `run` does; one whose alarm rings ends.")]
Confidence = Annotated[float, _work("--confidence", "Of the intervals.")]

Json = Annotated[bool, _output("--json", words="One JSON document on standard output, for results and errors.")]
Quiet = Annotated[bool, _output("--quiet", "-q", words="No progress.")]
Out = Annotated[Path | None, _output("--out", words="Write one row per run to this .parquet or .csv file.")]

_EXPERIMENTS = "table1, fig-a, fig-b, fig-c, fig-d or all."
_FOLDER = "New, empty, or of an earlier reproduction, which is then continued."

Experiments = Annotated[list[str] | None, typer.Argument(help=_EXPERIMENTS, show_default="all")]
ReproductionFolder = Annotated[Path, _output("--out", words=_FOLDER)]
ReproductionRuns = Annotated[int | None, _work("--runs", "How many runs of each setting.", "1000, with --quick 40")]
Quick = Annotated[bool, _work("--quick", "A first look in seconds: fewer runs and fewer points.")]

_PLAN = "A plan, TOML or JSON: worlds, problems, policies, runs."
_SWEPT = "New, empty, or of an earlier sweep, which is then continued."
_SCHEDULER = "The cluster's address, such as tcp://head:8786; without it one is made here."

PlanFile = Annotated[Path, typer.Argument(help=_PLAN)]
SweepFolder = Annotated[Path, _output("--out", words=_SWEPT)]
SweepRuns = Annotated[int | None, _work("--runs", "How many runs of each cell.", "the plan's")]
SweepSeed = Annotated[int | None, _work("--seed", "Fixes every random draw.", "the plan's")]
Engine = Annotated[str, _work("--engine", "threads, processes, dask or ray; results do not depend on it.")]
EngineWorkers = Annotated[
    int | None, _work("--workers", "Threads or processes; results do not depend on it.", "all cores")
]
Scheduler = Annotated[str | None, _work("--scheduler", _SCHEDULER, False)]

_POLICIES = "Names with commas between them; options as NAME:key=value; see below."
_WORLDS = "Names or problem files, likewise; values in turn as NAME:key=1/2."
_RADIUS = "Confidence sets of all that can: ours, own (each its own), or a radius."
_COMPARED = "New, empty, or of an earlier comparison, which is then continued."


def _named(flag: str, words: str, default: str) -> Any:
    return typer.Option(flag, help=words, show_default=default, metavar="NAMES", rich_help_panel=WORK)


ComparedPolicies = Annotated[list[str] | None, _named("--policies", _POLICIES, "five of them")]
ComparedWorlds = Annotated[list[str] | None, _named("--worlds", _WORLDS, "the paper's, and some of the gallery")]
ComparedDeltas = Annotated[
    str | None,
    typer.Option(
        "--delta", help="Errors allowed, with commas between.", show_default="0.1,0.01,0.001", metavar="NUMBERS",
        rich_help_panel=WORK,
    ),
]  # fmt: skip
ComparedDeltaSafety = Annotated[float | None, _work("--delta-safety", "The same of the limits.", "as delta")]
ComparedEpsilon = Annotated[float | None, _work("--epsilon", "For all worlds.", "each world's own")]
Radius = Annotated[str, _work("--radius", _RADIUS)]
ComparedFolder = Annotated[Path, _output("--out", words=_COMPARED)]
ComparedReport = Annotated[Path | None, _output("--report", "-o", words="Write a page: .html or .md.")]

_STORAGE = "Where studies are kept, such as sqlite:///power.db or postgresql://host/lab."
_CONFIRMED = "Confirm it: nothing is left out, or picked, because of a result."
_SAFETY = "What was read: a number, or NAME=NUMBER for each of several limits."
_NEW_SAFETY = "The right readings, of all limits; left out: as they were told."
_INTAKE = "Take results in by-number, whatever the delays, or on-arrival, if delays do not depend on results."
_ORDER = "as-measured, or fixed-beforehand: order and settings fixed without looking at results."
_TIME = "The column of time stamps; alone they sort the rows."
_SUSPICIOUS = "Take rows in although they look as if they were sorted by their results."
_HANDED_IN = "The study's policy, if it is one of your own: MODULE:NAME or FILE.py:NAME."
_KEY = "For this step alone: repeated with it, nothing happens twice."
_FORMAT, _FORMATS = "csv, parquet, json, or jsonl: an object on each line.", ("csv", "parquet", "json", "jsonl")
_OLDER = "All that were asked for longer ago: seconds, or such as 30m, 12h, 7d."


def _study(
    *flags: str, words: str, metavar: str | None = None, default: bool | str = False, offer: tuple[str, ...] = ()
) -> Any:
    offered = completion.one_of(*offer) if offer else None
    return typer.Option(*flags, help=words, metavar=metavar, show_default=default, autocompletion=offered)


Storage = Annotated[
    str | None, _study("--storage", words=_STORAGE, metavar="URL", default="SUREFOOT_STORAGE, or surefoot.db here")
]
HandedIn = Annotated[str | None, _study("--policy", words=_HANDED_IN, metavar="PLACE")]
AllHandedIn = Annotated[
    list[str] | None, _study("--policy", words="As for a study; again for each that is needed.", metavar="PLACE")
]
FilesPolicy = Annotated[
    str | None, _study("--policy", words="The file's policy, if it is one of your own.", metavar="PLACE")
]
StudyName = Annotated[
    str, typer.Argument(metavar="STUDY", help="The name of the study.", autocompletion=completion.study_names)
]
NewStudyName = Annotated[str, typer.Argument(metavar="STUDY", help="The name of the study.")]
PullNumber = Annotated[int, typer.Argument(metavar="NUMBER", help="The number of the pull.")]
OptionalNumber = Annotated[int | None, typer.Argument(metavar="NUMBER", help="The number of one pull.")]
ArmName = Annotated[str, typer.Argument(metavar="ARM", help="The name of the arm, or its place, from 0.")]
AppliedLevel = Annotated[
    str, typer.Argument(metavar="LEVEL", help="The level at which it was applied, or the setting: '18 mg'.")
]
NewFile = Annotated[Path, typer.Argument(metavar="PATH", help="The file to write, .study or .zip.")]
HistoryFormat = Annotated[
    str | None, _study("--format", words=_FORMAT, metavar="WORD", default="by --out, or csv", offer=_FORMATS)
]
HistoryFile = Annotated[Path | None, _study("--out", words="The file to write, not standard output.", metavar="FILE")]
MaybeStudy = Annotated[
    str | None, typer.Argument(metavar="STUDY", help="The name of the study.", autocompletion=completion.study_names)
]
PictureKind = Annotated[
    str | None,
    typer.Argument(metavar="KIND", help="What to draw: see below.", autocompletion=completion.one_of(*PICTURES)),
]
PictureFile = Annotated[
    Path | None, _study("--out", "-o", words="The file to write: .png, .svg or .pdf.", metavar="FILE")
]
ReportFile = Annotated[Path | None, _study("--out", "-o", words="The file to write: .html or .md.", metavar="FILE")]
ListPictures = Annotated[bool, _study("--list", words="Name the pictures there are, and end.")]
PictureTheme = Annotated[
    str, _study("--theme", words="light, or dark.", metavar="WORD", default=True, offer=("light", "dark"))
]
PictureWidth = Annotated[float, _study("--width", words="Its width in inches.", default=True)]
PictureArms = Annotated[
    list[str] | None, _study("--arm", words="Only this option, of levels or rewards; again for more.", metavar="NAME")
]
Shell = Annotated[str, typer.Argument(help="bash, zsh or fish.", autocompletion=completion.one_of(*completion.SHELLS))]
Force = Annotated[bool, _study("--force", words="Replace a file that is there.")]
TableFile = Annotated[Path, typer.Argument(metavar="FILE", help="A CSV file: arm, level, reward, safety.")]
StudyFile = Annotated[Path, typer.Argument(metavar="PATH", help="A file that `surefoot study export` wrote.")]

EveryArm = Annotated[bool, _study("--all", words="List every arm, not only those that matter.")]
LoadIfExists = Annotated[bool, _study("--load-if-exists", words="Continue a study of this name, if it is the same.")]
Intake = Annotated[
    str, _study("--intake", words=_INTAKE, metavar="WORD", default=True, offer=("by-number", "on-arrival"))
]
Fold = Annotated[str | None, typer.Option("--fold", hidden=True)]  # what --intake was called in the first version
AlarmLevel = Annotated[float, _study("--alarm-level", words="The chance of a false alarm in its life.", default=True)]
StudyBudget = Annotated[int | None, _study("--max-pulls", words="Give up after so many pulls: undecided.")]
WarmStart = Annotated[
    str | None,
    typer.Option(
        "--warm-start", help="Take over all results of this study.", metavar="STUDY", show_default=False,
        autocompletion=completion.study_names,
    ),
]  # fmt: skip
HowMany = Annotated[int | None, _study("--count", "-n", words="So many pulls at once, to be applied side by side.")]
Worker = Annotated[str | None, _study("--worker", words="Who asks; asking again gives the open pull.", metavar="NAME")]
RewardTold = Annotated[float, _study("--reward", words="The reward that was measured.")]
SafetyTold = Annotated[list[str] | None, _study("--safety", words=_SAFETY, metavar="[NAME=]NUMBER")]
LevelTold = Annotated[
    str | None, _study("--level", words="The level really applied, where it differs; or the setting: '18 mg'.",
                       metavar="LEVEL")
]  # fmt: skip
Source = Annotated[str | None, _study("--source", words="Where the result is from.", metavar="TEXT")]
Order = Annotated[
    str | None, _study("--order", words=_ORDER, metavar="WORD", offer=("as-measured", "fixed-beforehand"))
]
Time = Annotated[str | None, _study("--time", words=_TIME, metavar="COLUMN")]
ConfirmOrder = Annotated[bool, _study("--confirm", words=_SUSPICIOUS)]
Reason = Annotated[str, _study("--reason", words="Why; it is kept with the study.", metavar="TEXT")]
StaleReason = Annotated[str, _study("--reason", words="Why; it is kept with the study.", metavar="TEXT", default=True)]
By = Annotated[str | None, _study("--by", words="Who does this.", metavar="NAME", default="your login name")]
Confirm = Annotated[bool, _study("--confirm", words="It was measured so, however implausible it is.")]
NewReward = Annotated[float | None, _study("--reward", words="The right reward; left out: as it was told.")]
NewSafety = Annotated[list[str] | None, _study("--safety", words=_NEW_SAFETY, metavar="[NAME=]NUMBER")]
Confirmed = Annotated[bool, _study("--not-because-of-result", words=_CONFIRMED)]
OlderThan = Annotated[str | None, _study("--older-than", words=_OLDER, metavar="AGE")]
Key = Annotated[str | None, _study("--key", words=_KEY, metavar="TEXT")]
NotedHead = Annotated[str | None, _study("--head", words="The head that was noted once, or its file.", metavar="HASH")]
SignWith = Annotated[Path | None, _study("--sign-with", words="Sign it: a PEM file, Ed25519.", metavar="FILE")]
SignedBy = Annotated[Path | None, _study("--signed-by", words="Who signed it: a public key, PEM.", metavar="FILE")]
HeadFile = Annotated[Path | None, _study("--out", words="Write the signed head to a new file.", metavar="FILE")]
Once = Annotated[bool, _study("--once", words="Show it once and end.")]
Every = Annotated[float, _study("--every", words="Seconds between two looks.", default=True)]
NewName = Annotated[str | None, _study("--name", words="Another name for it here.", metavar="STUDY")]
Yes = Annotated[bool, _study("--yes", words="Really: it cannot be undone.")]

_JOURNAL = (
    "wal: fast, the newest results in a second file while it is open; truncate: one file at every moment, slower."
)
_GROUP = "Let the group of the file read and write it too; otherwise only its owner may."

NewStorage = Annotated[str | None, typer.Argument(metavar="URL", help="Its address, in place of --storage.")]
NewJournal = Annotated[str, _study("--journal", words=_JOURNAL, metavar="WORD", default=True)]
Journal = Annotated[str | None, typer.Argument(metavar="WORD", help=f"{_JOURNAL} Left out: say which it has.")]
SharedWithGroup = Annotated[bool, _study("--shared-with-group", words=_GROUP)]
