"""`surefoot storage create`, `journal` and `accept`, typed as a person would."""

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import surefoot as sf

PROGRAM = str(Path(sys.executable).parent / "surefoot")


def typed(*words: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    plain = {name: value for name, value in os.environ.items() if name != "SUREFOOT_STORAGE"}
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=200, cwd=folder, env=plain)


def test_a_storage_is_made_for_a_group_and_without_a_log(tmp_path: Path) -> None:
    done = typed(
        "storage", "create", "sqlite:///lab.db", "--journal", "truncate", "--shared-with-group", folder=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "in the one file" in done.stdout
    assert {path.name for path in tmp_path.iterdir()} <= {"lab.db", "lab.db-journal"}  # the latter is empty
    assert not [path for path in tmp_path.glob("lab.db-*") if path.stat().st_size]
    assert stat.S_IMODE((tmp_path / "lab.db").stat().st_mode) == 0o660
    found = json.loads(typed("storage", "journal", "--storage", "sqlite:///lab.db", "--json", folder=tmp_path).stdout)
    assert found["journal"] == "truncate"
    done = typed("storage", "journal", "wal", "--storage", "sqlite:///lab.db", folder=tmp_path)
    assert "storage backup" in done.stdout
    again = typed("storage", "create", "sqlite:///lab.db", folder=tmp_path)
    assert again.returncode != 0
    assert "exists already" in again.stderr


def test_a_copy_without_its_log_is_refused_until_it_is_accepted(tmp_path: Path) -> None:
    study = sf.create_study(
        sf.worlds.hard().paper_problem(), name="power", storage=f"sqlite:///{tmp_path / 'surefoot.db'}"
    )
    (tmp_path / "copy").mkdir()
    shutil.copy(tmp_path / "surefoot.db", tmp_path / "copy")
    assert study.pulls == 0
    refused = typed("study", "list", folder=tmp_path / "copy")
    assert refused.returncode == 8
    assert "storage backup" in refused.stderr
    assert typed("storage", "accept", folder=tmp_path / "copy").returncode == 0
    assert typed("study", "list", folder=tmp_path / "copy").returncode == 0


def test_a_password_is_never_shown(tmp_path: Path) -> None:
    for address in (
        "postgresql://ada:s3cret@127.0.0.1:1/lab",
        "postgresql://ada@127.0.0.1:1/lab?password=s3cret",
        "postgresql://ada:s3cret@x@127.0.0.1:1/lab",
        "postgresql://ada:s3cret",
        "mysql://ada:s3cret@h/lab",
    ):
        for words in (("storage", "check", "--storage", address), ("study", "list", "--storage", address, "--json")):
            done = typed(*words, folder=tmp_path)
            assert done.returncode != 0
            assert "s3cret" not in done.stdout + done.stderr
