"""Engines: every run is the same whoever plays it, and a worker that is killed costs nothing but time."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import dask
import joblib
import psutil
import pytest
from distributed import Client, LocalCluster

import surefoot as sf
from deadly_worlds import Deadly, alive
from surefoot.errors import InvalidInput, MissingExtra, WorkersLost
from surefoot.sweeping import engines, source
from surefoot.sweeping.engines import check_engine

PLAN: dict[str, Any] = {
    "worlds": [{"name": "hard", "omega": [0.2, 0.3]}],
    "problem": {"delta": 0.05, "delta_safety": 0.05},
    "policies": ["safe-gap", {"name": "safe-lingape", "selection": ["conservative", "optimistic"]}],
    "runs": 30,
    "seed": 5,
}


def everything(folder: Path) -> dict[str, bytes]:
    """Every file, by its name."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def by_threads(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("threads")
    sf.sweep(PLAN, out=folder, workers=1)
    return everything(folder)


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """A real cluster of two processes on this machine."""
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0, "distributed.comm.timeouts.connect": "60s"}),
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        Client(cluster, set_as_default=False) as found,
    ):
        yield found


@pytest.mark.parametrize(("engine", "workers"), [("threads", 2), ("threads", 3), ("processes", 1), ("processes", 2)])
def test_the_files_are_the_same_whoever_works(
    by_threads: dict[str, bytes], tmp_path: Path, engine: str, workers: int
) -> None:
    sf.sweep(PLAN, out=tmp_path / "new", engine=engine, workers=workers)
    assert everything(tmp_path / "new") == by_threads


def test_the_workers_of_a_dask_cluster_make_the_same_files(
    by_threads: dict[str, bytes], tmp_path: Path, client: Client
) -> None:
    sf.sweep(PLAN, out=tmp_path / "new", engine="dask", scheduler=client)
    assert everything(tmp_path / "new") == by_threads


def test_a_cluster_is_found_by_its_address(by_threads: dict[str, bytes], tmp_path: Path, client: Client) -> None:
    sf.sweep(PLAN, out=tmp_path / "new", engine="dask", scheduler=client.scheduler.address)
    assert everything(tmp_path / "new") == by_threads


def test_no_more_workers_begin_than_there_is_work_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Thirty runs are three stretches; processes would be made for every worker that is asked for."""
    asked, settle = [], joblib.parallel_config

    def told(*backend: Any, **settings: Any) -> Any:  # joblib asks too, later on
        asked.append(settings.get("n_jobs"))
        return settle(*backend, **settings)

    monkeypatch.setattr(joblib, "parallel_config", told)
    plan = {**PLAN, "worlds": ["hard"], "policies": ["safe-gap"]}
    sf.sweep(plan, out=tmp_path, workers=40)
    assert asked[0] == 3


def killer(victims: Callable[[], list[int]]) -> Callable[[int, int], None]:
    """What kills a worker as soon as the first runs are there, and tells when."""

    def watch(done: int, total: int) -> None:
        if done and not killed:
            killed.append(victims()[0])
            os.kill(killed[0], signal.SIGKILL)

    killed: list[int] = []
    watch.killed = killed  # type: ignore[attr-defined]
    return watch


def test_a_dask_worker_that_is_killed_changes_nothing(
    by_threads: dict[str, bytes], tmp_path: Path, client: Client
) -> None:
    watch = killer(lambda: list(client.run(os.getpid).values()))
    sf.sweep(PLAN, out=tmp_path / "new", engine="dask", scheduler=client, watch=watch)
    (killed,) = watch.killed  # type: ignore[attr-defined]
    assert killed not in client.run(os.getpid).values()
    assert everything(tmp_path / "new") == by_threads


def test_workers_end_with_a_leader_that_is_killed(tmp_path: Path) -> None:
    """It dismisses nobody then; processes that nobody needs would lie about for five minutes."""
    plan = {**PLAN, "runs": 10**6}
    program = f"import surefoot as sf; sf.sweep({plan!r}, out={str(tmp_path)!r}, engine='processes', workers=2)"
    leader, deadline = psutil.Popen([sys.executable, "-c", program]), time.monotonic() + 300.0
    try:
        while not list(tmp_path.rglob("*-*.parquet")):
            assert leader.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
        children = leader.children(recursive=True)
        workers = [each for each in children if any("popen_loky" in word for word in each.cmdline())]
    finally:
        leader.kill()
        leader.wait()
    assert len(workers) == 2
    assert not psutil.wait_procs(children, timeout=60.0)[1]


def test_a_worker_that_comes_too_late_for_its_leader_ends_at_once() -> None:
    program = "import time; from surefoot.sweeping.engines import follow; follow(999_999_999); time.sleep(60)"
    assert subprocess.run([sys.executable, "-c", program], timeout=50.0, check=False).returncode == 1


def test_workers_of_a_cluster_end_with_nobody(tmp_path: Path, client: Client) -> None:
    """Those that were there before may be children of the one that leads, and work for others too."""
    sf.sweep(PLAN, out=tmp_path, engine="dask", scheduler=client)
    parents, threads = client.run(os.getppid), client.run(lambda: [each.name for each in threading.enumerate()])
    assert set(parents.values()) == {os.getpid()}
    assert not any(engines.FOLLOWS in names for names in threads.values())


def deadly(lives: Path, count: int) -> dict[str, Any]:
    return {"worlds": [Deadly.taking(lives, count)], "policies": ["safe-gap"], "runs": 40, "seed": 5}


@pytest.mark.parametrize("engine", ["processes", "dask"])
def test_a_worker_killed_in_the_middle_of_a_stretch_is_replaced_and_no_run_is_counted_twice(
    tmp_path: Path, client: Client, engine: str
) -> None:
    plan = deadly(tmp_path / "lives", 2)
    settings: dict[str, Any] = {"scheduler": client} if engine == "dask" else {"workers": 2}
    found = sf.sweep(plan, out=tmp_path / "new", engine=engine, **settings)
    assert alive(plan["worlds"][0]) == 0  # so many processes have died
    assert found.runs(0).run.tolist() == list(range(40))
    sf.sweep(plan, out=tmp_path / "threads", workers=2)
    assert everything(tmp_path / "new") == everything(tmp_path / "threads")


@pytest.mark.parametrize("engine", ["processes", "dask"])
def test_workers_that_die_again_and_again_are_given_up_by_name(
    tmp_path: Path, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "WAIT_AGAIN", 5.0)  # a cluster whose workers die while they start gives them up
    plan = deadly(tmp_path / "lives", 1000)
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        pytest.raises(WorkersLost, match=f"The workers of {engine} were lost 3 times in a row.*4 stretches of runs"),
    ):
        sf.sweep(plan, out=tmp_path / "new", engine=engine, workers=2)
    assert alive(plan["worlds"][0]) > 900
    assert not list((tmp_path / "new").rglob("*-*.parquet"))


def test_a_worker_with_other_software_is_refused(
    tmp_path: Path, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "software", lambda: {**source.software(), "numba": "0.1"})
    with pytest.raises(InvalidInput, match=r"worker = .*other software \(numba [0-9.]+, not 0\.1\)"):
        sf.sweep(PLAN, out=tmp_path / "new", engine="dask", scheduler=client)


def test_a_worker_that_lacks_a_module_is_refused(tmp_path: Path, client: Client, monkeypatch: Any) -> None:
    (tmp_path / "only_here.py").write_text("from surefoot.worlds import Hard\nclass Mine(Hard): pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    papers = sf.worlds.hard()
    mine = import_module("only_here").Mine(papers.arms, theta_star=papers.theta_star, mu_star=papers.mu_star)
    with pytest.raises(InvalidInput, match=r"worker = .*cannot import.*only_here.*Install surefoot, and what"):
        sf.sweep({"worlds": [mine], "runs": 10}, out=tmp_path / "new", engine="dask", scheduler=client)


def test_an_address_where_nobody_is_is_refused_by_name(tmp_path: Path) -> None:
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "1s"}),
        pytest.raises(InvalidInput, match=r"scheduler = 'tcp://127\.0\.0\.1:9': cannot be reached"),
    ):
        sf.sweep(PLAN, out=tmp_path / "new", engine="dask", scheduler="tcp://127.0.0.1:9")


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        ({"name": "task"}, "engine = 'task': must be one of threads, processes, dask, ray. Did you mean 'dask'"),
        ({"name": None}, "engine = None"),
        ({"name": "threads", "scheduler": "tcp://head:8786"}, "scheduler = .* is of no use to threads. Take dask or"),
        ({"name": "dask", "scheduler": "tcp://head:8786", "workers": 3}, "workers = 3: .* has its own workers"),
        ({"name": "threads", "workers": 0}, "workers = 0"),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_refused_before_any_work(words: dict[str, Any], refusal: str) -> None:
    with pytest.raises(InvalidInput, match=refusal):
        check_engine(**words)


@pytest.mark.parametrize(("engine", "package"), [("dask", "distributed"), ("ray", "ray")])
def test_an_engine_that_is_not_installed_is_named(
    tmp_path: Path, engine: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "find_spec", lambda name: None if name == package else find_spec(name))
    with pytest.raises(MissingExtra, match=rf"{package} is not installed: pip install 'surefoot\[{engine}\]'"):
        sf.sweep(PLAN, out=tmp_path / "new", engine=engine)
    assert not (tmp_path / "new").exists()


RAY = pytest.mark.skipif(
    "SUREFOOT_TEST_RAY" not in os.environ, reason="pip install 'surefoot[ray]', then SUREFOOT_TEST_RAY=1"
)


@RAY
def test_the_workers_of_a_ray_cluster_make_the_same_files(by_threads: dict[str, bytes], tmp_path: Path) -> None:
    sf.sweep(PLAN, out=tmp_path / "new", engine="ray", workers=2)
    assert everything(tmp_path / "new") == by_threads


@RAY
def test_a_ray_worker_killed_in_the_middle_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # for workers that import the deadly world
    plan = deadly(tmp_path / "lives", 2)
    found = sf.sweep(plan, out=tmp_path / "new", engine="ray", workers=2)
    assert alive(plan["worlds"][0]) == 0
    assert found.runs(0).run.tolist() == list(range(40))
