"""What `--help` teaches beyond the options: examples, files, and what the exit status says.

The file is long because it is text: the page of each command in one piece.
"""

from surefoot.cli import exit_codes

PROBLEM, POLICY, WORK, OUTPUT = "Problem", "Policy (see `surefoot policies`)", "Work", "Output"
ORDER = ("Arguments", PROBLEM, POLICY, WORK, OUTPUT, "Options")


def verbatim(text: str) -> str:
    """The text marked so that its lines stay as they are."""
    return "\n\n".join("\b\n" + paragraph for paragraph in text.strip("\n").split("\n\n"))


EXIT_STATUS = "Exit status:\n" + "\n".join(f"  {code:<4} {meaning}" for code, meaning in exit_codes.MEANINGS.items())

SUREFOOT = verbatim(f"""
Examples:
  surefoot run                             the paper's experiment, LinGapE beside it
  surefoot run --world doses --seed 3      another world, other noise
  surefoot run problem.toml                your own problem, simulated
  surefoot simulate --runs 1000 --json     how often it is wrong or unsafe
  surefoot sweep plan.toml                 many settings, on many machines
  surefoot compare -o report.html          methods side by side
  surefoot init arms.csv                   a problem file from a few questions
  surefoot show problem.toml               check a problem file
  surefoot plan problem.toml               how many trials it may take
  surefoot calibrate pilot.csv problem.toml   what pilot trials say about it
  surefoot theory problem.toml             what the theory says about it
  surefoot reproduce --quick               the paper's experiments
  surefoot study create lab problem.toml   a real experiment, kept in a database
  surefoot study ask lab                   its next pull

{EXIT_STATUS}
""")

RUN = verbatim(f"""
Examples:
  surefoot run
  surefoot run --world base-station --policy uniform
  surefoot run --policy safe-lingape --explore round-robin:800@0.2
  surefoot run --policy mine.py:Mine --help      a policy of your own, and its options
  surefoot run problem.toml --max-pulls 50000 --json

A file names a world and may change its problem:
  epsilon = 0.05
  [world]
  name = "hard"               # with any parameter of that world:
  omega = 0.2

Or it states a problem of its own (see surefoot show --help) and the truth
to simulate, in the units you read:
  [world]
  theta_star = [1.5, 0.3]     # reward per unit of each feature
  mu_star = [[4.0, 2.0]]      # a row per limit: what a unit adds to its reading
  # optional: noise, safety_noise, distribution = "gaussian"

A table [policy] is optional:
  [policy]
  name = "safe-lingape"
  selection = "optimistic"
  explore = {{ kind = "round-robin", rounds = 400 }}

{EXIT_STATUS}
""")

SIMULATE = verbatim(f"""
Examples:
  surefoot simulate --runs 1000 --seed 1
  surefoot simulate --policy safe-gap --policy safe-lingape --policy lingape
  surefoot simulate --world limited --policy safe-lingape --selection optimistic
  surefoot simulate problem.toml --runs 400 --out runs.parquet
  surefoot simulate --runs 1000000 --device cuda

Run r is the same whatever --runs, --workers and --device are, and all policies meet the
same noise. Ctrl-C keeps the runs that are finished. The exit status is 0 when
all runs are done, however they ended; the table counts that.

{EXIT_STATUS}
""")

PLAN = verbatim(f"""
Examples:
  surefoot plan problem.toml
  surefoot plan problem.toml --budget 500 -o plan.png
  surefoot plan problem.toml --like pilot.csv --runs 400 --json
  surefoot plan problem.toml --policy safe-lingape

No truth is needed, and a [world] in the file is not looked at: worlds are drawn
that the statements allow, every known level safe in them, in three scenarios from
kind to harsh, and each is met once. It tells what a tenth, a half and nine tenths
of the runs stay within, how often the budget does not suffice, medians over
epsilon and delta, and what a better statement would save on the same worlds.
Rows of a pilot (columns as in surefoot study add-table --help) shape the worlds;
they are not counted as data.

{EXIT_STATUS}
""")

CALIBRATE = verbatim("""
Examples:
  surefoot calibrate pilot.csv problem.toml
  surefoot calibrate pilot.csv problem.toml -o suggested.toml --plot pilot.png
  surefoot calibrate pilot.csv problem.toml --confidence 0.99 --json

The columns are arm, level (or setting, on a dial: "20 mg"), reward, and safety or
safety_NAME. It tells an upper confidence bound for the noise of each signal beside
what is stated, whether effects are proportional to the level and follow the
features, how large they may be, and what the rows cannot show. Repeats of the same
setting tell most. Settings must not have been chosen because of results.

--out writes a commented problem file with these figures. What the confidence leaves
open is taken from delta and delta_safety there, so that the promises stay as stated.
The rows are not data of the experiment that follows: do not add them to its study.
""")

SWEEP = verbatim(f"""
Examples:
  surefoot sweep plan.toml
  surefoot sweep plan.toml --runs 10000 --engine processes --workers 8
  surefoot sweep plan.toml --engine dask --scheduler tcp://head:8786

A plan; a list stands for its values in turn, and every choice is a cell:
  runs = 200                  # of each cell
  seed = 4
  max_pulls = 200000
  [[worlds]]                  # once for each; or worlds = ["hard", "doses"]
  name = "hard"               # see surefoot worlds; or file = "problem.toml"
  omega = [0.1, 0.2]
  [problem]                   # changes to each world's own problem
  delta = [0.05, 0.01]
  [[policies]]                # left out: safe-gap
  name = "safe-lingape"
  selection = ["conservative", "optimistic"]

The folder gets every run as Parquet as soon as it is finished (runs/), the
settings (cells) and their means and exact intervals (summary), both as Parquet
and CSV. After Ctrl-C, a crash or a full disk the same command continues; a plan
with more runs or more cells adds to what is there. The result is the same bit
for bit whatever --engine and --workers are, and when workers are killed. Needs
the extra frames; dask and ray are extras too.

{EXIT_STATUS}
""")

INIT = verbatim("""
Examples:
  surefoot init pumps.csv                  asks, and writes pumps.toml
  surefoot init doses.csv --unit mg --full 40 --safe-level "8 mg" --noise 0.5 \\
    --limit pressure --at-most 8 --baseline 5 --limit-noise 0.3 --epsilon 0.15

Every answer can be an option, so that it works in a script; on a terminal what
is left out is asked for. The file states what was answered, with a comment on
every line, and a made-up world, so that surefoot run has something to simulate.
A file that is there is not replaced without --force.
""")

SHOW = verbatim("""
A problem file:
  safe_level = 0.2            # every arm is known to be safe at this level
  epsilon = 0.15              # how far from the best the answer may be
  delta = 0.05                # the chance of a worse answer
  delta_safety = 0.05         # the chance of any unsafe pull
  [arms]
  "pump A" = [1.0, 0.0]       # features; or arms_file = "arms.csv"
  "pump B" = [0.0, 1.0]
  [reward]
  noise = 0.5                 # the size of its noise
  [[safety]]                  # once for each limit
  name = "pressure"
  at_most = 8.0               # or at_least; of the mean, unless it
                              # covers = "readings", with reading_risk = 0.01
  baseline = 5.0              # what it reads at level 0
  noise = 0.3

Optional at the top: regularization, level_grid, max_level, max_step. Optional in
[reward] and [[safety]]: unit, shown with its numbers; largest, by which no option
changes it more at full strength, in the units that are read, or in its place norm,
a bound on the length of its weights: either tunes safe-gap and nothing rests on it
there, the other policies ask for one of them.

noise may also be "unknown" (Gaussian of one size; optional then: guess, which only
tunes, and at_most, of a limit noise_at_most, which caps it; for safe-gap),
"binary" (readings 0 and 1) or ["bounded", lo, hi].

A dial in real units; then levels may be given as text, such as "8 mg":
  [dial]
  unit = "mg"
  full = 40                   # the setting at full strength; or a known curve:
                              # settings = [0, 10, 40], effects = [0, 0.6, 1]
""")

COMPARE = verbatim(f"""
Examples:
  surefoot compare -o report.html
  surefoot compare --policies safe-gap,lingape --worlds hard,limited --delta 0.05
  surefoot compare --policies safe-gap,frank-wolfe:stop=own,frank-wolfe:stop=ours
  surefoot compare --worlds hard:dim=3/6/10:epsilon=0,problem.toml --runs 1000

A policy is one of `surefoot policies`, or one of your own (FILE.py:NAME), with
options after colons. A world is one of `surefoot worlds` with its parameters, or
a problem file with a [world]; both may change epsilon, safe_level and other
settings of the problem. delta is the same for all, and so are the confidence
sets where a policy can take them: --radius. Whoever refuses a problem is a row
with the reason. Differences of pulls are to the first policy, in the same runs.

Every run is kept in the folder --out as soon as it is finished, as by surefoot
sweep: after Ctrl-C or a crash the same command continues. Needs the extra
frames, and plots for a report.

{EXIT_STATUS}
""")

THEORY = verbatim("""
Examples:
  surefoot theory problem.toml
  surefoot theory problem.toml --json

Without a [world] table: complexity, a bound on the pulls after exploration, the
exploration that the theory asks for (in the worst case), and the level
confidence by a union over rounds and by sets that hold for all rounds.
With one (see surefoot run --help) these are for that truth, and two more are
added: the pulls that no safe method can do without, and the oracle's shares.
""")

REPRODUCE = verbatim(f"""
Examples:
  surefoot reproduce --quick               everything, roughly, in seconds
  surefoot reproduce                       everything, in about two minutes
  surefoot reproduce table1 fig-c --runs 4000 --out more

The folder gets report.html (one page that needs no network), report.md,
findings.json, the figures as PNG and SVG, and every run as CSV and Parquet.
Finished runs are kept there at once: after Ctrl-C, a crash or a full disk the
same command continues, and the result is the same bit for bit. Needs the
extras plots and frames.

{EXIT_STATUS}
""")

STUDY = verbatim(f"""
A study from beginning to end:
  surefoot study create power problem.toml
  surefoot study ask power --worker bench-1        what to apply
  surefoot study tell power 1 --reward 0.42 --safety 6.1
  surefoot study watch power                       as it goes
  surefoot study show power                        the answer, with its certificate
  surefoot study plot power levels -o levels.png   a picture of it
  surefoot study report power -o power.html        a page for those who decide

Studies are kept in ./surefoot.db, in the storage that SUREFOOT_STORAGE names,
or in that of --storage. Any number of programs may work on one study at once.
A study with a policy of your own needs it for every verb: --policy mine.py:Mine

{EXIT_STATUS}
""")

STUDY_CREATE = verbatim("""
Examples:
  surefoot study create power problem.toml
  surefoot study create power problem.toml --max-pulls 5000 --storage sqlite:///lab.db
  surefoot study create power2 problem.toml --warm-start power
  surefoot study create power problem.toml --load-if-exists    in a script that may run again

The file is the one of `surefoot show --help`; its table [policy] is heeded, a
[world] is not needed. After a warm start the promise needs epsilon, delta and arms
that were not chosen after looking at the results taken over.
""")

STUDY_ASK = verbatim(f"""
Examples:
  surefoot study ask power
  surefoot study ask power --worker bench-1        again: the same pull until it is told
  surefoot study ask power -n 4 --json             four, to be applied side by side

In a shell, until the study ends:
  while pull=$(surefoot study ask power --worker me --json); do
    number=$(echo "$pull" | jq .pull.number)
    ...apply .pull.name at .pull.level, measure...
    surefoot study tell power "$number" --reward "$r" --safety "$s" || break
  done

{EXIT_STATUS}
""")

STUDY_TELL = verbatim("""
Examples:
  surefoot study tell power 7 --reward 0.42 --safety 6.1
  surefoot study tell power 7 --reward 0.42 --safety pressure=6.1 --safety heat=48
  surefoot study tell power 7 --reward 0.42 --safety 6.1 --level 0.5    applied lower than asked
  surefoot study tell power 7 --reward 0.42 --safety 6.1 --level "18 mg"  the same, on a dial in mg

Results count in order of number: a late one holds back later ones. What is
implausible is held, not taken in: tell it again, the right value, or the same
with --confirm. A mistake that was taken in is put right by `correct`. The promise
needs that another level was not chosen because of this pull's own result, of one
with a larger number, or of one still open.
""")

STUDY_GIVE_UP = verbatim("""
The promise needs that giving up a pull depends neither on its own result, nor on
any result with a larger number, nor on one still open: a broken sensor is a
reason, a reading that looked odd is none.
""")

STUDY_ADD_TABLE = verbatim("""
Examples:
  surefoot study add-table power spring.csv --order as-measured --not-because-of-result
  surefoot study add-table power spring.csv --time when --not-because-of-result

The first line of the file names the columns: arm (name or place), level, reward,
and safety, or safety_NAME for each limit. Others are left alone.
All rows are taken in, in order, and then the study decides; a row that cannot be
is named, and nothing is taken in. The promise needs rows in the order measured
(or an order and settings fixed without looking at results), none picked by its
result, and epsilon, delta and arms not chosen after looking at them.
""")

STUDY_CORRECT = verbatim("""
Examples:
  surefoot study correct power 7 --safety 5.6 --reason "typed 56 for 5.6"
  surefoot study correct power 7 --reward 0.42 --reason "wrong unit" --by Ada
  surefoot study void power 7 --reason "the gauge was not connected"

Everything is learned anew; open pulls above the level that is certified then are
recalled, and an answer that no longer stands is reopened. Whether a result is
corrected or voided must not depend on whether it pleased.
""")

STUDY_AUDIT = verbatim("""
Examples:
  surefoot study head power                     note it where nobody can change it
  surefoot study audit power --head 3f9c...     64 digits
  surefoot study head power --sign-with key.pem --out power.head
  surefoot study audit power --head power.head --signed-by public.pem

The head is a hash over the settings and every event. Whoever changes, cuts off
or reorders anything changes it; with the head of then, the audit finds out.
""")

STUDY_WATCH = verbatim("""
Examples:
  surefoot study watch power
  surefoot study watch power --every 10
  surefoot study watch power --once --json

Curves begin with the study, not with the view. Ctrl-C ends the view, not the
study. Away from a terminal it writes a line whenever something has happened.
""")

STUDY_HISTORY = verbatim("""
Examples:
  surefoot study history power                        CSV on standard output
  surefoot study history power --out power.parquet
  surefoot study history power --format jsonl | jq .reward

The columns are those of study.history in Python; `changes` says what was held,
corrected, voided, or told too late. Values are as they are stored: texts that begin
with = are not changed for spreadsheets. Nothing is recomputed: see study audit.
""")

PICTURES = {
    "levels": "certified and still possible level of each option, with the known start",
    "gap": "how much better another option might still be, against epsilon",
    "readings": "every reading against its limit, and what the certificate covers",
    "pulls": "how often each option was tried",
    "rewards": "estimated reward of each option, with what is still possible",
}  # of a study; here, so that help needs nothing that draws

STUDY_PLOT = verbatim(f"""
Pictures:
{chr(10).join(f"  {kind:<10} {what}" for kind, what in PICTURES.items())}

Examples:
  surefoot study plot power levels -o levels.png
  surefoot study plot power readings -o readings.svg --theme dark
  surefoot study plot power rewards -o rewards.pdf --arm "pump A" --arm both

Drawn by matplotlib: pip install 'surefoot[plots]'. The numbers behind a picture are
those of surefoot.plots in Python: levels_frame(study) and so on.
""")

STUDY_REPORT = verbatim("""
Examples:
  surefoot study report power -o power.html     one file that works offline
  surefoot study report power -o power.md       Markdown, pictures beside it

It begins with the answer, or with where the study stands. Needs matplotlib:
pip install 'surefoot[plots]'.
""")

COMPLETION = verbatim("""
Examples:
  eval "$(surefoot completion bash)"                   in ~/.bashrc
  eval "$(surefoot completion zsh)"                    in ~/.zshrc, after compinit
  surefoot completion fish > ~/.config/fish/completions/surefoot.fish

Commands, options and the names of studies are completed, the latter from the
storage of --storage or SUREFOOT_STORAGE; names that a shell would not take as they
are are left out.
""")

STORAGE = verbatim("""
Examples:
  surefoot storage backup /backups/lab.db            also while others work on it
  surefoot storage check
  surefoot storage upgrade --storage postgresql://lab@host/studies
  surefoot storage create sqlite:///lab.db --shared-with-group
  surefoot storage journal truncate                  one file, no -wal beside it

Copy a storage with `backup`, not with cp: while it is open, the newest results are
in a second file (lab.db-wal), and a copy without that is refused as incomplete.
A backup is a storage itself: --storage sqlite:////backups/lab.db
""")
