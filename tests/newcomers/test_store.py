"""A store that is one file outside the package keeps studies."""

from pathlib import Path

import pytest
from json_lines import JsonLines

import surefoot as sf
from surefoot.errors import InvalidInput
from surefoot.storage.protocol import Store
from surefoot.testing import StoreContract


class TestJsonLines(StoreContract):
    @pytest.fixture(autouse=True)
    def file(self, tmp_path: Path) -> None:
        self.path = tmp_path / "studies.jsonl"

    def open(self) -> Store:
        return JsonLines(self.path)


@pytest.fixture
def store(tmp_path: Path) -> JsonLines:
    return JsonLines(tmp_path / "studies.jsonl")


def test_a_study_lives_in_a_store_from_outside(store: JsonLines) -> None:
    world = sf.worlds.limited()
    study = sf.create_study(world.default_problem(), name="mine", storage=store, seed=3)
    study.run(lambda pull: world.measure(pull, seed=3), max_pulls=30)
    again = sf.load_study("mine", JsonLines(store.path))
    assert again.status() == study.status()
    assert again.audit().clean
    assert again.storage == f"jsonl:{store.path}"
    assert [row["name"] for row in sf.list_studies(store)] == ["mine"]
    sf.delete_study("mine", store)
    assert sf.list_studies(store) == []


def test_a_study_moves_between_stores(store: JsonLines, tmp_path: Path) -> None:
    world = sf.worlds.limited()
    study = sf.create_study(world.default_problem(), name="mine", storage=f"sqlite:///{tmp_path / 'x.db'}", seed=3)
    study.run(lambda pull: world.measure(pull, seed=3), max_pulls=20)
    study.export(tmp_path / "mine.study")
    moved = sf.import_study(tmp_path / "mine.study", store)
    assert moved.status() == study.status()


def test_a_step_that_was_cut_off_by_a_crash_never_happened(store: JsonLines) -> None:
    world = sf.worlds.limited()
    study = sf.create_study(world.default_problem(), name="mine", storage=store, seed=3)
    study.run(lambda pull: world.measure(pull, seed=3), max_pulls=10)
    with store.path.open("a") as file:
        file.write('{"study": 1, "events": [{"seq')
    again = sf.load_study("mine", JsonLines(store.path))
    again.run(lambda pull: world.measure(pull, seed=3), max_pulls=10)
    assert sf.load_study("mine", store).pulls == 20


@pytest.mark.parametrize("storage", [JsonLines, 3, object()], ids=["a class", "a number", "an object"])
def test_what_is_no_store_is_refused_by_what_it_lacks(storage: object) -> None:
    with pytest.raises(InvalidInput, match=r"has no address, create|a class"):
        sf.list_studies(storage)  # type: ignore[arg-type]
