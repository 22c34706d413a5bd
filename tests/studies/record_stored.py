"""Writes studies of every kind, and what is said of each, for later versions to be held to.

    PYTHONPATH=tests python tests/studies/record_stored.py 2

makes stored/version-2.db and stored/version-2.json, with whatever surefoot is imported. A recorded version is never
made again: the files are what users of it have.
"""

import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from small_studies import begun, driven, measured

import surefoot as sf
from scenes import POLICIES, arena
from surefoot.errors import Implausible
from surefoot.storage.maintenance import backup

HERE = Path(__file__).parent / "stored"


def held(storage: str) -> sf.Study:
    """A result that nothing explains waits for a person."""
    study = driven(begun(storage, "held"), 25)
    try:
        study.tell(study.ask(), reward=500.0, safety=[0.0, 0.0])
    except Implausible:
        return study
    raise AssertionError("it should be held")


def mended(storage: str) -> sf.Study:
    """A result was confirmed, corrected, and another one voided."""
    study = driven(begun(storage, "mended"), 30)
    pull = study.ask()
    study.tell(pull, reward=50.0, safety=measured(pull)["safety"], confirm=True)
    study.correct(pull, reward=0.5, reason="typed 50 for 0.5", by="Ada")
    study.void(4, reason="the wrong bottle", by="Ada")
    if study.frozen:
        study.release("it was the typing error", "Ada")
    return driven(study, 5)


def given_up(storage: str) -> sf.Study:
    """Pulls that have no result, open ones, and results that wait."""
    study = driven(begun(storage, "given up"), 6)
    pulls = study.ask(5)
    study.cancel(pulls[0], "never applied", not_because_of_result=True)
    study.fail(pulls[1], "the sensor broke", not_because_of_result=True)
    for pull in pulls[3:]:
        study.tell(pull, **measured(pull))
    return study


def on_arrival(storage: str) -> sf.Study:
    """Results are taken in as they come."""
    study = driven(begun(storage, "on arrival", intake="on-arrival"), 8)
    for pull in reversed(study.ask(4)):
        study.tell(pull, **measured(pull))
    study.ask(2)
    return study


def taken_over(storage: str) -> sf.Study:
    """A table of results from elsewhere."""
    study = begun(storage, "table")
    pull = study.ask()
    study.tell(pull, **measured(pull))
    rows = [
        {"arm": k % 4, "level": 0.2, **measured(sf.Pull(k + 40, k % 4, "", 0.2, "", 0.0, None, None, None))}
        for k in range(20)
    ]  # fmt: skip
    study.add(rows, order="as measured", not_because_of_result=True, source="spring")
    return driven(study, 5)


def frozen(storage: str, name: str = "frozen by the alarm") -> sf.Study:
    """The alarm rang: the readings scatter far more than was stated."""
    study, number = begun(storage, name), 0
    while not study.frozen:
        pull, number = study.ask(), number + 1
        swing = 4.0 if number % 2 else -4.0
        study.tell(pull, reward=swing, safety=[0.0, 0.0], confirm=True)
    return study


def released(storage: str) -> sf.Study:
    """A person let it go on after the alarm."""
    study = frozen(storage, "released")
    study.release("the gauge was repaired", "Ada")
    return study


def certified(storage: str) -> sf.Study:
    """It has ended with an answer."""
    world, problem = arena()
    study = sf.create_study(problem.with_(epsilon=0.3), name="certified", storage=storage, seed=4)
    study.run(world.measure)
    return study


def reopened(storage: str) -> sf.Study:
    """It had ended, and a correction after the end made it decide anew."""
    world, problem = arena()
    study = sf.create_study(problem.with_(epsilon=0.3), name="reopened", storage=storage, seed=4)
    study.run(world.measure)
    study.correct(study.pulls, reward=study.results()[-1].reward + 0.05, reason="read again", by="Ada")
    return study


def continued(storage: str) -> sf.Study:
    """It began with the results of another study."""
    study = sf.create_study(
        arena()[1], name="warm start", storage=storage, seed=5, warm_start=sf.load_study("default policy", storage)
    )
    return driven(study, 5)


KINDS: list[Callable[[str], sf.Study]] = [
    held, mended, given_up, on_arrival, taken_over, frozen, released, certified, reopened, continued,
]  # fmt: skip


def sayings(study: sf.Study) -> dict[str, Any]:
    """All that the study says of itself."""
    certificate, answer = study.certificate, study.recommendation
    return {
        "fingerprint": study.problem.fingerprint,
        "policy": sf.policies.to_dict(study.policy),
        "status": study.status().to_dict(),
        "certificate": certificate and certificate.to_dict(),
        "recommendation": answer and answer.to_dict(),
        "open_pulls": [pull.to_dict() for pull in study.open_pulls],
        "held": [each.to_dict() for each in study.held],
        "statement": study.statement,
        "history": json.loads(study.history.drop(columns=["asked_at", "told_at"]).to_json(orient="records")),
    }


def next_step(study: sf.Study) -> dict[str, Any] | None:
    """What it does next, where it goes on."""
    if study.stopped or study.frozen or study.held:
        return None
    pull = study.ask()
    told = measured(pull)
    study.tell(pull, **told)
    return {"asked": pull.to_dict(), "told": told, "status": study.status().to_dict()}


def record(version: int) -> None:
    """The database as the studies stand, and beside it what they say and do next."""
    path = HERE / f"version-{version}.db"
    if path.exists():
        raise SystemExit(f"{path} is there already, and a recorded version is never made again")
    with TemporaryDirectory() as folder:
        storage = f"sqlite:///{Path(folder) / 'studies.db'}"
        make_all(storage)
        backup(storage, path)  # one file, without a log beside it
        said = {}
        for row in sf.list_studies(storage):
            study = sf.load_study(row["name"], storage)
            said[row["name"]] = {**sayings(study), "next": next_step(study)}
    (HERE / f"version-{version}.json").write_text(in_lines(said))


def in_lines(said: dict[str, Any]) -> str:
    """JSON with a line for each study."""
    lines = (f"{json.dumps(name)}: {json.dumps(of, sort_keys=True, default=str)}" for name, of in said.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def make_all(storage: str) -> None:
    """A study of every policy and of every kind."""
    for name, policy in POLICIES.items():
        driven(begun(storage, name if policy else "default policy", policy), 12)
    for kind in KINDS:
        kind(storage)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    record(int(sys.argv[1]))
