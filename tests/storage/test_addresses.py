"""Addresses as users write them, and as errors show them."""

from pathlib import Path

import pytest

from surefoot.errors import InvalidInput, StorageUnavailable
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


WITH_SECRETS = [
    "postgresql://ada:s3cret@db.example/lab",
    "postgresql://ada@db.example/lab?password=s3cret",
    "postgresql://ada@db.example/lab?sslmode=require&sslpassword=s3cret&password=s3cret",
    "postgresql://ada:s3cret@db.example/lab?password=other-s3cret",
    "postgresql:///lab?host=/tmp&user=ada&password=s3cret",
    "postgresql://ada:%73%33%63%72%65%74@db.example/lab",
]
MALFORMED = [
    "postgresql://ada:s3cret@x@db.example/lab", "postgresql://ada:x@s3cret@db.example/lab",
    "postgresql://ada:x/y@s3cret@db.example/lab", "postgresql://ada:x?y@s3cret@db.example/lab",
    "postgresql://ada@s3cret@db.example/lab", "postgresql://ada:s3cret", "postgresql://ada:s3cret/lab",
    "postgresql://ada/s3cret@db.example/lab", "postgresql://ada:x@db.example:s3cret/lab",
    "postgresql://ada:s3cret@[::1/lab", "postgresq://ada:s3cret@db.example/lab", "ada:s3cret@db.example/lab",
    "host=db.example password=s3cret", "postgresql:ada:s3cret@db.example/lab", "s3cret://ada:s3cret@/", "s3 cret://x",
    "sqlite:///a.db?password=s3cret", "sqlite:///a.db?key=s3cret", "sqlite://ada:s3cret@host/a.db",
]  # fmt: skip


@pytest.mark.parametrize("written", WITH_SECRETS)
def test_a_secret_is_handed_to_the_driver_and_to_nobody_else(written: str) -> None:
    address = address_of(written)
    assert address.arguments()["password"].endswith("s3cret")
    assert address.secrets
    for shown in (str(address), repr(address), repr(address.url), f"{address}", repr([address])):
        assert "s3cret" not in shown
    assert address_of(written) == address


@pytest.mark.parametrize("written", MALFORMED)
def test_what_cannot_be_read_is_refused_without_showing_it(written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUREFOOT_STORAGE", written)
    for given in (written, None):
        with pytest.raises(InvalidInput, match=r"sqlite:///power\.db") as caught:
            address_of(given)
        assert "s3cret" not in all_that_is_shown(caught.value).replace("s3cret://", "")


def all_that_is_shown(error: BaseException | None) -> str:
    """What an error and those that it came from say."""
    shown = []
    while error is not None:
        shown += [str(error), repr(error), str(getattr(error, "to_dict", dict)())]
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return "\n".join(shown)


@pytest.mark.parametrize("written", WITH_SECRETS[:3])
def test_a_server_that_does_not_answer_gives_no_secret_away(written: str) -> None:
    with pytest.raises(StorageUnavailable) as caught:
        open_store(written.replace("db.example", "s3cret.invalid"))  # which the driver repeats
    assert "s3cret" not in all_that_is_shown(caught.value).replace("@s3cret.invalid/lab", "")


@pytest.mark.parametrize(
    "option", ["mode=ro", "cache=shared", "immutable=1", "vfs=unix", "x=1&mode=ro", "timeout=5", "MODE=ro"]
)
def test_options_of_sqlite_are_refused_unless_a_file_is_called_so(option: str, tmp_path: Path) -> None:
    written = f"sqlite:///{tmp_path}/a.db?{option}"
    with pytest.raises(InvalidInput, match="question mark"):
        address_of(written)
    (tmp_path / f"a.db?{option}").touch()
    assert address_of(written).path == tmp_path / f"a.db?{option}"


@pytest.mark.parametrize(
    "name", ["a?b.db", "a%20b.db", "a%3Fb.db", "a#b.db", "100%.db", "a?b=c.db", "a@b:c.db", "??.db"]
)
def test_what_follows_the_slashes_is_the_name_of_the_file(name: str, tmp_path: Path) -> None:
    address = address_of(f"sqlite:///{tmp_path}/{name}")
    assert address.path == tmp_path / name
    open_store(str(address), create=True).listed()
    assert [path.name for path in tmp_path.iterdir() if not path.name.endswith(("-wal", "-shm", "-queue"))] == [name]


@pytest.mark.parametrize("name", ["a b.db", "100%.db", "a%41.db", "x#y.db", "what?.db", "it's;&+ä.db"])
def test_the_address_of_a_file_is_read_back_as_the_same_file(name: str, tmp_path: Path) -> None:
    address = file_address(tmp_path / name)
    assert address_of(str(address)).path == tmp_path / name
    store = open_store(str(address), create=True)
    store.listed()
    assert (tmp_path / name).exists()
    assert backup(str(address), tmp_path / f"copy of {name}").exists()
