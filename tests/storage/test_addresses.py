"""Addresses as users write them, and as errors show them."""

from pathlib import Path

import pytest

from surefoot.errors import InvalidInput
from surefoot.storage.addresses import address_of, file_address
from surefoot.storage.maintenance import backup
from surefoot.storage.store import open_store


def test_a_file_is_found_again_after_the_working_folder_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    address = address_of("sqlite:///power.db")
    monkeypatch.chdir("/")
    assert address.path == tmp_path / "power.db"
    assert str(address) == f"sqlite:///{tmp_path}/power.db"
    assert address_of(f"sqlite:////{str(tmp_path)[1:]}/power.db") == address


@pytest.mark.parametrize("written", ["memory", "sqlite://", "sqlite:///:memory:", "sqlite:///"])
def test_memory_has_several_spellings(written: str) -> None:
    assert address_of(written).in_memory
    assert str(address_of(written)) == "memory"


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_a_password_is_used_and_never_shown(scheme: str) -> None:
    address = address_of(f"{scheme}://ada:s3cret@db.example:5433/lab?sslmode=require")
    assert address.url.password == "s3cret"
    assert address.url.drivername == "postgresql+psycopg"
    assert "s3cret" not in str(address)
    assert str(address).endswith("@db.example:5433/lab?sslmode=require")


@pytest.mark.parametrize(
    "written",
    ["power.db", "", "sqlite", "mysql://ada:s3cret@x/y", "sqlite:///a.db?mode=ro", "sqlite://ada:s3cret@host/a.db", 7,
     b"memory", "postgresql+psycopg2://x/y", "sqlite:///file:a.db", "postgresql://h:port/x",
     "postgresql://ada:s3cret@h:port/x"],
    ids=str,
)  # fmt: skip
def test_what_is_no_address_is_refused_with_the_forms_that_are(written: object) -> None:
    with pytest.raises(InvalidInput, match=r"sqlite:///power\.db") as caught:
        address_of(written)
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("name", ["a b.db", "100%.db", "a%41.db", "x#y.db", "what?.db", "it's;&+ä.db"])
def test_the_address_of_a_file_is_read_back_as_the_same_file(name: str, tmp_path: Path) -> None:
    address = file_address(tmp_path / name)
    assert address_of(str(address)).path == tmp_path / name
    store = open_store(str(address), create=True)
    store.listed()
    assert (tmp_path / name).exists()
    assert backup(str(address), tmp_path / f"copy of {name}").exists()
