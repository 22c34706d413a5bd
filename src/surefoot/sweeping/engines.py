"""Who does the work: threads, processes, a Dask cluster or a Ray cluster, each through its back end of joblib.

An engine is told one stretch of runs at a time and hands back its columns, in whatever order they are finished. Only
the process that leads writes files, so that workers need to share no disk, and one that is killed leaves nothing.
"""

from __future__ import annotations

import logging
import os
import pickle
import signal
import socket
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from surefoot.errors import InvalidInput, MissingExtra, SurefootWarning
from surefoot.problem.checks import check_workers, did_you_mean
from surefoot.progress import silence
from surefoot.sweeping.cells import Columns, Playable, columns_of
from surefoot.sweeping.source import software
from surefoot.sweeping.store import Stretch

THREADS, PROCESSES, DASK, RAY = "threads", "processes", "dask", "ray"
ENGINES = (THREADS, PROCESSES, DASK, RAY)
CLUSTERS = (DASK, RAY)
WAIT = 600.0  # seconds for the first worker of a cluster: one that queues for machines takes its time
WAIT_AGAIN = 60.0  # for another one, when all are lost
FOLLOWS = "surefoot-follows"  # the thread of a worker process that ends with its leader
GLANCE = 1.0  # seconds between two looks at whether the process that leads is still there
AHEAD = 4  # stretches for each worker at a time, where a back end gives results back only all at once

Task = tuple[Playable, Stretch]
Finished = tuple[int, Columns]  # the place of the task, and its runs


@dataclass(frozen=True)
class Engine:
    """Workers that are ready."""

    name: str
    backend: Any  # of joblib: a name or an object
    workers: int
    losses: tuple[type[BaseException], ...] = ()  # what is raised when a worker is gone
    settings: Mapping[str, Any] = field(default_factory=dict)  # for the back end

    def finished(self, tasks: Sequence[Task], seed: int) -> Generator[Finished, None, None]:
        """Each task's place and columns as soon as it is done."""
        from joblib import Parallel, parallel_config
        from joblib.parallel import get_active_backend

        jobs = self._jobs(tasks, seed)
        told: dict[str, Any] = {"batch_size": 1, "pre_dispatch": "2 * n_jobs"}
        with parallel_config(self.backend, n_jobs=min(self.workers, len(tasks)), **self.settings):
            if get_active_backend()[0].supports_return_generator:
                with closing(Parallel(**told, return_as="generator_unordered")(jobs)) as results:
                    yield from results
                return
            while wave := [job for job, _ in zip(jobs, range(AHEAD * self.workers), strict=False)]:
                yield from Parallel(**told)(wave)

    def _jobs(self, tasks: Sequence[Task], seed: int) -> Iterator[Any]:
        import cloudpickle  # sends classes of a notebook as they are
        from joblib import delayed

        packed: Any = lru_cache(maxsize=8)(cloudpickle.dumps)  # the stretches of a cell follow each other
        for place, (cell, stretch) in enumerate(tasks):
            if self.name == THREADS:  # who waits for compiled code is told so, or not, as in this thread
                yield delayed(copy_context().run)(here, place, cell, stretch, seed)
            else:
                yield delayed(elsewhere)(place, packed(cell), stretch, seed, os.getpid(), software())


def here(place: int, cell: Playable, stretch: Stretch, seed: int) -> Finished:
    """The columns of a stretch, in this process."""
    return place, columns_of(cell, *stretch, seed)


def elsewhere(
    place: int, packed: bytes, stretch: Stretch, seed: int, leader: int, wanted: Mapping[str, str]
) -> Finished:
    """The columns of a stretch, in another process, perhaps on another machine; it says nothing and must be alike."""
    check_alike(socket.gethostname(), software(), wanted)
    if os.getpid() != leader:
        warnings.simplefilter("ignore", SurefootWarning)  # whoever leads has told them
        hear_no_interrupt()
    with silence():
        return here(place, unpacked(packed), stretch, seed)


@lru_cache(maxsize=8)
def unpacked(packed: bytes) -> Playable:
    """The cell; what it is made of may be missing on this machine."""
    try:
        cell: Playable = pickle.loads(packed)
    except ImportError as error:
        raise lacking(socket.gethostname(), error) from error
    return cell


def lacking(worker: str, error: ImportError) -> InvalidInput:
    """The refusal of a worker that cannot import what it needs."""
    remedy = "Install surefoot, and what policies and worlds of your own are made of, on every worker."
    return InvalidInput("worker", worker, f"cannot import what it needs ({error})", remedy)


def check_alike(worker: str, found: Mapping[str, str], wanted: Mapping[str, str]) -> None:
    """Refuses a worker with other software than here."""
    if found != wanted:
        other = [f"{key} {found.get(key)}, not {value}" for key, value in wanted.items() if found.get(key) != value]
        reason = f"has other software ({', '.join(other)}), and its runs might differ"
        remedy = "Install the same versions of surefoot and of these packages on every worker."
        raise InvalidInput("worker", worker, reason, remedy)


def hear_no_interrupt(worker: Any = None) -> None:
    """From now on this process does not hear Ctrl-C, which a terminal sends to every process: it is for the one that
    leads to say what becomes of the work."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def follow(leader: int) -> None:
    """Begins a worker process that ends with the one that leads, however that came to its end: one that is killed
    dismisses nobody, and its workers would wait for work for minutes."""
    if os.name == "posix" and os.getpid() != leader:  # on other systems a child names its parent for ever
        threading.Thread(target=leave_without, args=(leader,), name=FOLLOWS, daemon=True).start()


def leave_without(leader: int) -> None:
    """Ends this process once its parent is another one, and nothing before."""
    while os.getppid() == leader:
        time.sleep(GLANCE)
    os._exit(1)


dask_setup = hear_no_interrupt  # the name by which Dask finds it when a worker that is told to load this file starts


# -- hiring -----------------------------------------------------------------------------------------------------------


@contextmanager
def engine_of(name: str, workers: int | None = None, scheduler: Any = None) -> Iterator[Engine]:
    """The engine of that name, at work until the end of the context."""
    workers = check_engine(name, workers, scheduler)
    with HIRED[name](workers or os.cpu_count() or 1, scheduler) as engine:
        yield engine


def check_engine(name: object, workers: object = None, scheduler: object = None) -> int | None:
    """The number of workers, checked; what does not go together is refused before anything is begun."""
    if not isinstance(name, str) or name not in ENGINES:
        raise InvalidInput("engine", name, f"must be one of {', '.join(ENGINES)}", did_you_mean(name, ENGINES))
    if scheduler is not None and name not in CLUSTERS:
        raise InvalidInput("scheduler", scheduler, f"is of no use to {name}", f"Take {' or '.join(CLUSTERS)}.")
    if scheduler is not None and workers is not None:
        reason = "is given beside the address of a cluster, which has its own workers"
        raise InvalidInput("workers", workers, reason, "Leave it out; start more workers there.")
    package = {DASK: "distributed", RAY: "ray"}.get(name)
    if package is not None and find_spec(package) is None:
        raise MissingExtra(package, name)
    return check_workers(workers)


@contextmanager
def threads(workers: int, scheduler: None) -> Iterator[Engine]:
    """Threads of this process: compiled code runs without the interpreter's lock."""
    yield Engine(THREADS, "threading", workers)


@contextmanager
def processes(workers: int, scheduler: None) -> Iterator[Engine]:
    """Processes on this machine, for policies and worlds in plain Python."""
    begun = {"initializer": follow, "initargs": (os.getpid(),)}
    yield Engine(PROCESSES, "loky", workers, (BrokenProcessPool,), begun)


@contextmanager
def dask(workers: int, scheduler: Any) -> Iterator[Engine]:
    """The workers of the Dask cluster at this address, of this client, or of a cluster made here for the time being."""
    distributed = import_module("distributed")
    with dask_client(distributed, workers, scheduler) as client:
        try:
            client.wait_for_workers(1, timeout=WAIT)
        except TimeoutError:
            reason = f"has had no worker for {WAIT:g} seconds"
            raise InvalidInput("scheduler", address_of(client), reason, "Start workers there.") from None
        check_workers_of(client)
        lost = (distributed.KilledWorker, import_module("distributed.client").FutureCancelledError, TimeoutError)
        backend = dask_backend()(client=client, wait_for_workers_timeout=WAIT_AGAIN)
        yield Engine(DASK, backend, sum(client.ncores().values()), lost)


@contextmanager
def dask_client(distributed: Any, workers: int, scheduler: Any) -> Iterator[Any]:
    """A client: the one that is given, which stays open, or one of our own."""
    if isinstance(scheduler, distributed.Client):
        yield scheduler
        return
    if scheduler is not None:
        try:
            client = distributed.Client(scheduler, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            detail = str(error).strip() or type(error).__name__
            remedy = "Give the address that dask-scheduler prints, such as tcp://head:8786."
            raise InvalidInput("scheduler", scheduler, f"cannot be reached ({detail})", remedy) from error
        with client:
            yield client
        return
    made = distributed.LocalCluster(
        n_workers=workers, threads_per_worker=1, dashboard_address=":0", silence_logs=logging.CRITICAL,
        preload=__name__,
    )  # fmt: skip
    with made as cluster, distributed.Client(cluster, set_as_default=False) as client:
        yield client


def check_workers_of(client: Any) -> None:
    """Refuses workers that cannot take part, before any work: Dask would try again and again without a word."""
    try:
        for worker, found in client.run(software).items():
            check_alike(worker, found, software())
    except ImportError as error:
        raise lacking(address_of(client), error) from error


def address_of(client: Any) -> str:
    """Where the scheduler of the client is."""
    return str(getattr(client.scheduler, "address", client))


def dask_backend() -> Any:
    """joblib's back end for Dask, mended in three places where joblib would not do what is meant here."""
    known = import_module("joblib._dask").DaskDistributedBackend

    class Mended(known):  # type: ignore[misc, valid-type]
        def effective_n_jobs(self, n_jobs: int) -> int:
            """At least two: with one, joblib would leave a cluster of one worker idle and do all the work itself."""
            return max(2, int(super().effective_n_jobs(n_jobs)))

        def submit(self, func: Any, callback: Callable[[Any], Any]) -> Any:
            """The future; its failure is told too. joblib would wait for ever for a task that Dask gives up."""

            def tell(done: Any) -> None:
                if done.exception() is not None:
                    callback(done.exception())

            future = super().submit(func, callback)
            future.add_done_callback(tell)
            return future

        def abort_everything(self, ensure_ready: bool = True) -> None:
            """Nothing more is done for nobody: joblib would keep the tasks in mind, and Dask would go on with them."""
            left = list(self._results)
            super().abort_everything(ensure_ready)
            self._results.clear()
            self._callbacks.clear()
            self.client.cancel(left, force=True)

    return Mended


@contextmanager
def ray(workers: int, scheduler: Any) -> Iterator[Engine]:
    """The workers of the Ray cluster at this address, or of one made here for the time being."""
    ray = import_module("ray")
    import_module("ray.util.joblib").register_ray()
    begun = not ray.is_initialized()
    if begun:
        try:
            size = {} if scheduler is not None else {"num_cpus": workers}
            ray.init(address=scheduler, log_to_driver=False, include_dashboard=False, **size)
        except (ConnectionError, ValueError) as error:
            remedy = "Give the address of a Ray cluster, such as auto or ray://head:10001."
            raise InvalidInput("scheduler", scheduler, f"cannot be reached ({error})", remedy) from error
    try:
        slots = int(ray.cluster_resources().get("CPU", 1))
        yield Engine(RAY, "ray", slots if scheduler is not None else workers, (ray.exceptions.RayError,))
    finally:
        if begun:
            ray.shutdown()


HIRED: dict[str, Callable[..., Any]] = {THREADS: threads, PROCESSES: processes, DASK: dask, RAY: ray}
