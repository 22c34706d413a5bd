"""`surefoot study`: the verbs of a study, each done in one call and told in words or as one JSON document."""

from __future__ import annotations

import getpass
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from surefoot import policies
from surefoot.cli import exit_codes
from surefoot.cli.answers import tell_answer
from surefoot.cli.output import Output
from surefoot.cli.scenario import posed_in, wished_policy
from surefoot.errors import ABSENT, InvalidInput, counted
from surefoot.live.certificate import rounded_down
from surefoot.live.session import Pull
from surefoot.storage.addresses import address_of
from surefoot.studies.lifecycle import create_study, delete_study, import_study, list_studies, load_study
from surefoot.studies.study import Study

ARMS_SHOWN = 12
UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}


def opened(output: Output, storage: str | None, name: str) -> Study:
    """The study, replayed and audited."""
    return load_study(name, storage)


def told(output: Output, table: Mapping[str, Any], words: str, status: int = exit_codes.OK) -> int:
    """The status, once the result is told: the table with --json, otherwise the words."""
    if output.json:
        output.document(table)
    else:
        output.out.print(words, soft_wrap=not output.out.is_terminal, markup=False)
    return status


# -- studies ------------------------------------------------------------------------------------------------


def create(
    output: Output, storage: str | None, name: str, file: Path, wishes: Mapping[str, Any], warm_start: str | None,
    settings: Mapping[str, Any],
) -> int:  # fmt: skip
    """A new study of the problem in the file."""
    problem, policy, _ = posed_in(file)
    wished = any(value is not None for value in wishes.values())
    if wished:
        policy = wished_policy(policy or policies.default_policy(), wishes)
    source = None if warm_start is None else opened(output, storage, warm_start)
    study = create_study(problem, policy, name=name, storage=storage, warm_start=source, **settings)
    study.status()  # compiles now, not under the first ask
    table = {
        "study": study.name, "storage": study.storage, "fingerprint": problem.fingerprint,
        "policy": policies.to_dict(study.policy), "seed": study.seed, "max_pulls": study.max_pulls,
        "fold": study.fold, "alarm_level": study.alarm_level,
    }  # fmt: skip
    words = (
        f"Study {study.name!r} in {study.storage}: {counted(problem.size, 'arm')}, "
        f"{policies.describe(study.policy)}. Next: surefoot study ask {study.name}"
    )
    return told(output, table, words)


def list_all(output: Output, storage: str | None) -> int:
    """The studies of the storage."""
    found, where = list_studies(storage), str(address_of(storage))
    if output.json or not found:
        return told(output, {"storage": where, "studies": found}, f"No studies in {where}.")
    from rich.table import Table
    from rich.text import Text

    table = Table("study", "created", "policy", "results", "events", box=None, pad_edge=False, header_style="dim")
    table.columns[-1].justify = "right"
    for row in found:
        created = row["created_at"][:16].replace("T", " ")
        counted_how = "by number" if row["fold"] == "order" else "as they come"
        table.add_row(Text(row["name"]), created, row["policy"], counted_how, f"{row['events']:,}")
    output.out.print(table)
    return exit_codes.OK


def show(output: Output, storage: str | None, name: str) -> int:
    """Where the study stands."""
    study = opened(output, storage, name)
    status, waiting = study.status(), study.open_pulls
    certificate, answer = study.certificate, study.recommendation
    if output.json:
        output.document(
            {
                "storage": study.storage, "status": status, "open": [vars(pull) for pull in waiting],
                "recommendation": vars(answer) if answer else None,
                "certificate": certificate.to_dict() if certificate else None,
            }
        )  # fmt: skip
        return exit_codes.OK
    tell_status(output, study, status)
    for pull in waiting:
        output.out.print(f"  {in_words(pull)}", soft_wrap=True, markup=False)
    if status["outcome"] is not None:
        tell_answer(output, status["outcome"], status["pulls"], certificate, answer)
    return exit_codes.OK


def tell_status(output: Output, study: Study, status: Mapping[str, Any]) -> None:
    """Prints where the study stands, in a few lines."""
    from rich.table import Table
    from rich.text import Text

    out = output.out
    gap = "" if status["gap"] is None else f", gap {status['gap']:.4g}"
    head = f"{status['outcome'] or status['phase']}, {counted(status['pulls'], 'result')}{gap}"
    out.print(Text.assemble((study.name, "bold"), f"  {head}, epsilon {status['epsilon']:.4g}"))
    if status["frozen"]:
        out.print(Text(f"Frozen by {status['frozen']['by']}: {status['frozen']['reason']}", "bold red"))
    for message in status["contradictions"]:
        out.print(Text(f"Alarm: {message}", "red"))
    if status["mismatches"]:
        out.print(Text(f"{counted(status['mismatches'], 'pull')} not as recomputed: surefoot study audit", "yellow"))
    table = Table("arm", "certified level", "pulls", box=None, pad_edge=False, header_style="dim")
    if not study.policy.keeps_limits:
        table.columns[1].header = "level"
    table.columns[-1].justify = "right"
    busiest = sorted(status["pulls_per_arm"], key=lambda arm: -status["pulls_per_arm"][arm])[:ARMS_SHOWN]
    for arm in (arm for arm in status["levels"] if arm in busiest):
        table.add_row(Text(arm), rounded_down(status["levels"][arm]), f"{status['pulls_per_arm'][arm]:,}")
    if len(status["levels"]) > len(busiest):
        table.add_row(f"and {len(status['levels']) - len(busiest):,} more", "", "")
    out.print(table)
    counts = [f"{count:,} {state}" for state, count in status["states"].items() if count]
    if status["held_back"]:
        counts.append(f"{counted(status['held_back'], 'result')} held back by an earlier pull")
    if status["imported"]:
        counts.append(f"{status['imported']:,} imported")
    out.print(f"Pulls: {', '.join(counts) or 'none yet'}", soft_wrap=True)


# -- ask and tell -------------------------------------------------------------------------------------------


def ask(output: Output, storage: str | None, name: str, count: int | None, worker: str | None) -> int:
    """The next pull, or so many."""
    study = opened(output, storage, name)
    if count is None:
        pull = study.ask(worker=worker)
        return told(output, {"pull": vars(pull)}, in_words(pull))
    pulls = study.ask(count, worker=worker)
    return told(output, {"pulls": [vars(pull) for pull in pulls]}, "\n".join(map(in_words, pulls)))


def in_words(pull: Pull) -> str:
    """The pull in one line; a printed level is never above the certified one."""
    why: str = pull.phase
    if pull.gap is not None:
        why = f"{pull.leader} leads, {pull.challenger} challenges, gap {pull.gap:.4g}"
    return f"Pull {pull.number}: {pull.name} at level {rounded_down(pull.level, 6)} ({why})"


def tell(
    output: Output, storage: str | None, name: str, pull: int, reward: float, safety: list[str], level: float | None
) -> int:
    """Takes the result of an open pull."""
    study = opened(output, storage, name)
    study.tell(pull, reward=reward, safety=readings_in(study, safety), level=level)
    return told_status(output, study, f"Pull {pull} is told", told=pull)


def add(
    output: Output, storage: str | None, name: str, arm: str, level: float, reward: float, safety: list[str],
    source: str | None, confirmed: bool,
) -> int:  # fmt: skip
    """Takes over a result that was measured elsewhere."""
    study = opened(output, storage, name)
    which: str | int = int(arm) if arm not in study.problem.names and arm.isdecimal() else arm
    made = study.add(
        which, level, reward, readings_in(study, safety), not_because_of_result=confirmed, source=source
    )  # fmt: skip
    return told_status(output, study, f"The result is pull {made}", added=made)


def readings_in(study: Study, words: list[str]) -> float | dict[str, float]:
    """What was read, from words such as 6.1 or pressure=6.1."""
    remedy = "Write --safety 6.1 for one limit, or --safety NAME=NUMBER for each of several."
    if len(words) == 1 and len(study.problem.safety) == 1 and "=" not in words[0]:
        return as_number(words[0], remedy)
    found: dict[str, float] = {}
    for word in words:
        key, sign, value = word.rpartition("=")
        if not sign or key in found:
            reason = "must read NAME=NUMBER" if not sign else "names a limit twice"
            raise InvalidInput("--safety", word, reason, remedy)
        found[key] = as_number(value, remedy)
    return found


def as_number(word: str, remedy: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise InvalidInput("--safety", word, "is not a number", remedy) from None


def told_status(output: Output, study: Study, words: str, **table: Any) -> int:
    """The status 0, once it is told what was done and where the study stands now."""
    status = study.status()
    keys = ("pulls", "outcome", "gap", "frozen", "open", "held_back", "contradictions")
    gap = "" if status["gap"] is None else f", gap {status['gap']:.4g}"
    held = f", {status['held_back']:,} held back" if status["held_back"] else ""
    stands = "frozen" if status["frozen"] else status["outcome"] or status["phase"]
    said = f"{words}. {study.name}: {stands}, {counted(status['pulls'], 'result')}{held}{gap}."
    return told(output, {**table, **{key: status[key] for key in keys}}, said)


# -- pulls that never come back, and the emergency stop ---------------------------------------------------------


def give_up(
    output: Output, storage: str | None, name: str, kind: str, pull: int, reason: str, confirmed: bool
) -> int:  # fmt: skip
    """Cancels or fails an open pull."""
    study = opened(output, storage, name)
    checked(confirmed)
    {"cancel": study.cancel, "fail": study.fail}[kind](pull, reason, not_because_of_result=True)
    state = {"cancel": "cancelled", "fail": "failed"}[kind]
    return told_status(output, study, f"Pull {pull} is {state}", closed=[pull], state=state)


def expire(
    output: Output, storage: str | None, name: str, pull: int | None, older_than: str | None, reason: str,
    confirmed: bool,
) -> int:  # fmt: skip
    """Gives up one pull, or all that are old."""
    study = opened(output, storage, name)
    age = None if older_than is None else seconds_in(older_than)
    checked(confirmed)
    closed = study.expire(pull, older_than=age, reason=reason, not_because_of_result=True)
    listed = ", ".join(map(str, closed))
    words = f"Stale: {listed}" if closed else "No open pull is that old"
    return told_status(output, study, words, closed=closed, state="stale")


def abort(output: Output, storage: str | None, name: str, pull: int, reason: str, by: str | None) -> int:
    """Records that a pull looked unsafe and was stopped."""
    study = opened(output, storage, name)
    study.abort(pull, reason, person(by))
    return told_status(
        output, study, f"Pull {pull} is aborted, the study frozen", closed=[pull], state="aborted-unsafe"
    )


def hold(output: Output, storage: str | None, name: str, kind: str, reason: str, by: str | None) -> int:
    """Freezes or releases the study."""
    study = opened(output, storage, name)
    {"freeze": study.freeze, "release": study.release}[kind](reason, person(by))
    return told_status(output, study, {"freeze": "Frozen", "release": "Released"}[kind])


def checked(confirmed: bool) -> None:
    """Refuses to give up a pull unless it is confirmed that its result is not the reason."""
    if not confirmed:
        raise InvalidInput(
            "--not-because-of-result", ABSENT, "a pull may be given up only if that does not depend on its result",
            "Add the flag once you are sure of it.",
        )  # fmt: skip


def person(by: str | None) -> str:
    """Who does this: as given, or the login name."""
    try:
        return getpass.getuser() if by is None else by
    except (KeyError, OSError):
        raise InvalidInput("--by", ABSENT, "there is no login name here", "Say who does this.") from None


def seconds_in(age: str) -> float:
    """The age in seconds, from words such as 90, 30m, 12h or 7d."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd]?)", age.strip())
    if found is None:
        raise InvalidInput("--older-than", age, "is not an age", "Write seconds, or such as 30m, 12h, 7d.")
    return float(found[1]) * UNITS[found[2]]


# -- files and audits -------------------------------------------------------------------------------------------


def audit(output: Output, storage: str | None, name: str) -> int:
    """Every stored decision against the one recomputed."""
    report = opened(output, storage, name).audit()
    if not output.json and not report.clean:
        for mismatch in report.mismatches:
            output.out.print(f"- {mismatch}", soft_wrap=True, markup=False)
    verb = "differs" if len(report.mismatches) == 1 else "differ"
    words = report.statement if report.clean else f"{counted(len(report.mismatches), 'pull')} {verb}."
    return told(output, report.to_dict(), words, exit_codes.OK if report.clean else exit_codes.FAULTS)


def export(output: Output, storage: str | None, name: str, path: Path) -> int:
    """Writes the whole study to a file."""
    study = opened(output, storage, name)
    study.export(path)
    return told(output, {"study": name, "path": str(path)}, f"{name} is in {path}")


def import_file(output: Output, storage: str | None, path: Path, name: str | None) -> int:
    """Takes a study from a file into the storage."""
    study = import_study(path, storage, name)
    return told_status(output, study, f"{study.name} is in {study.storage}", imported=study.name, storage=study.storage)


def delete(output: Output, storage: str | None, name: str, yes: bool) -> int:
    """Forgets a study."""
    if not yes:
        raise InvalidInput("--yes", ABSENT, f"{name} and all its results would be gone for ever", "Add it to go on.")
    delete_study(name, storage)
    return told(output, {"deleted": name, "storage": str(address_of(storage))}, f"{name} is deleted.")
