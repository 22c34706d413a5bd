"""`surefoot study create`, `export`, `import` and `delete`: how a study comes to be, travels and goes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from surefoot import policies
from surefoot.cli.choosing import chosen_policy
from surefoot.cli.job import Which
from surefoot.cli.output import Output
from surefoot.cli.policy_options import Wishes
from surefoot.cli.study_status import handed_in, opened, told_status
from surefoot.errors import ABSENT, InvalidInput, PolicyNeeded, counted
from surefoot.storage.addresses import address_of
from surefoot.studies.lifecycle import create_study, delete_study, import_study
from surefoot.studies.study import Study
from surefoot.studies.transfer import export_place
from surefoot.worlds.files import posed_in


def create(
    output: Output, which: Which, file: Path, wishes: Wishes, warm_start: str | None, settings: Mapping[str, Any]
) -> int:  # fmt: skip
    """A new study of the problem in the file."""
    posed = posed_in(file)
    policy = chosen_policy(posed.policy, wishes.policy, wishes.options, file)
    source = None if warm_start is None else begun_from(Which(warm_start, which.storage, wishes.policy))
    study = create_study(
        posed.problem, policy, name=which.name, storage=which.storage, warm_start=source, key=which.key, **settings
    )
    study.status()  # compiles now, not under the first ask
    table = {
        "study": study.name, "storage": study.storage, "fingerprint": posed.problem.fingerprint,
        "policy": policies.to_dict(study.policy), "seed": study.seed, "max_pulls": study.max_pulls,
        "intake": study.intake, "alarm_level": study.alarm_level,
    }  # fmt: skip
    words = (
        f"Study {study.name!r} in {study.storage}: {counted(posed.problem.size, 'arm')}, "
        f"{policies.describe(study.policy)}. Next: surefoot study ask {study.name}"
    )
    return output.answer(table, words)


def begun_from(source: Which) -> Study:
    """The study whose results are taken over; its policy may be one of ours while the new study's is not."""
    try:
        return opened(source._replace(policy=None))
    except PolicyNeeded:
        if source.policy is None:
            raise
        return opened(source)


def export(output: Output, which: Which, path: Path, force: bool) -> int:
    """Writes the whole study to a file."""
    export_place(path, force)  # before the study is opened
    opened(which).export(path, overwrite=force)
    return output.answer({"study": which.name, "path": str(path)}, f"{which.name} is in {path}")


def import_file(output: Output, storage: str | None, path: Path, name: str | None, policy: str | None) -> int:
    """Takes a study from a file into the storage."""
    study = import_study(path, storage, name, policy=handed_in(policy))
    return told_status(output, study, f"{study.name} is in {study.storage}", imported=study.name, storage=study.storage)


def delete(output: Output, which: Which, yes: bool) -> int:
    """Forgets a study."""
    name, storage = which.name, which.storage
    if not yes:
        raise InvalidInput("--yes", ABSENT, f"{name} and all its results would be gone for ever", "Add it to go on.")
    delete_study(name, storage, key=which.key)
    return output.answer({"deleted": name, "storage": str(address_of(storage))}, f"{name} is deleted.")
