"""A whole sweep: its files hold every run once, it continues where it was killed, and grows with its plan."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import surefoot as sf
from surefoot.errors import InvalidInput, MissingExtra, WorldBreaksStatement
from surefoot.results import exact_interval
from surefoot.sweeping import Cell, Plan
from surefoot.sweeping import parquet as parquets

PLAN: dict[str, Any] = {
    "worlds": [{"name": "hard", "omega": [0.2, 0.3]}],
    "problem": {"delta": 0.05, "delta_safety": 0.05},
    "policies": ["safe-gap", "safe-lingape"],
    "runs": 30,
    "seed": 5,
}


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> sf.Sweep:
    return sf.sweep(PLAN, out=tmp_path_factory.mktemp("swept"), workers=2)


def test_the_runs_are_those_of_simulate(swept: sf.Sweep) -> None:
    for place, cell in enumerate(swept.plan.cells):
        wanted = sf.simulate(cell.world, cell.problem, cell.policy, runs=30, seed=5)
        found = swept.runs(place)
        assert found.summary() == wanted.summary()
        pd.testing.assert_frame_equal(found.to_pandas(), wanted.to_pandas())


def test_any_reader_of_parquet_finds_every_run_once_beside_its_setting(swept: sf.Sweep) -> None:
    runs = pd.read_parquet(swept.folder / "runs")
    cells = pd.read_parquet(swept.folder / "cells.parquet")
    rows = runs.astype({"cell": str}).merge(cells, on="cell")
    assert len(rows) == len(runs) == 120
    for place, cell in enumerate(swept.plan.cells):
        mine = rows[rows["cell"] == cell.key].sort_values("run")
        assert mine["run"].tolist() == list(range(30))
        assert mine["pulls"].tolist() == swept.runs(place).pulls.tolist()
        assert mine["outcome"].tolist() == swept.runs(place).outcomes
        assert (np.stack(mine["pulls_per_arm"]) == swept.runs(place).pulls_per_arm).all()
        assert set(mine["policy"]) == {cell.policy.name}
        assert set(mine["world_omega"]) == {cell.settings["world_omega"]}


def test_the_summary_has_means_and_exact_bounds(swept: sf.Sweep) -> None:
    frame, text = swept.frame(), pd.read_csv(swept.folder / "summary.csv")
    written = pd.read_parquet(swept.folder / "summary.parquet")
    assert list(frame.columns) == list(written.columns) == list(text.columns)
    assert frame["pulls_mean"].tolist() == written["pulls_mean"].tolist() == text["pulls_mean"].tolist()
    for row in swept.summary():
        bounds = exact_interval(row["unsafe_runs"], row["runs"])
        assert (row["unsafe_lower"], row["unsafe_upper"]) == (bounds.lower, bounds.upper)
        assert row["pulls_10"] <= row["pulls_50"] <= row["pulls_90"]
    assert swept.frame(confidence=0.99)["wrong_upper"].min() > frame["wrong_upper"].min()


def test_a_folder_keeps_the_settings_of_all_plans_that_were_run_in_it(tmp_path: Path) -> None:
    """Whoever reads its runs finds a setting beside each of them."""
    sf.sweep({**PLAN, "runs": 10}, out=tmp_path)
    small = sf.sweep({**PLAN, "runs": 10, "policies": [{"name": "lingape"}]}, out=tmp_path)
    runs, cells = pd.read_parquet(tmp_path / "runs"), pd.read_parquet(tmp_path / "cells.parquet")
    assert len(runs.astype({"cell": str}).merge(cells, on="cell")) == len(runs) == 60
    assert cells["cell"].tolist()[:2] == [cell.key for cell in small.plan.cells]
    assert set(cells["policy"]) == {"lingape", "safe-gap", "safe-lingape"}
    assert pd.read_csv(tmp_path / "cells.csv")["cell"].tolist() == cells["cell"].tolist()
    assert len(pd.read_parquet(tmp_path / "summary.parquet")) == 2


@pytest.mark.parametrize("damage", [b"", b"PAR1 and then PAR1", None])
def test_a_damaged_table_of_cells_is_made_anew(tmp_path: Path, damage: bytes | None) -> None:
    plan = {**PLAN, "runs": 10, "policies": ["safe-gap"]}
    sf.sweep(plan, out=tmp_path)
    path = tmp_path / "cells.parquet"
    was = path.read_bytes()
    middle = len(was) // 2
    path.write_bytes(was[:middle] + b"\xff" * 40 + was[middle + 40 :] if damage is None else damage)
    sf.sweep(plan, out=tmp_path)
    assert path.read_bytes() == was


def test_nothing_is_run_again_and_a_larger_plan_adds_to_what_is_there(swept: sf.Sweep, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    sf.sweep({**PLAN, "runs": 10}, out=tmp_path, workers=1)
    moments = {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").rglob("*.parquet")}
    grown = sf.sweep(PLAN, out=tmp_path, workers=2, watch=lambda *progress: seen.append(progress))
    assert seen[0] == (40, 120)
    assert seen[-1] == (120, 120)
    assert {path: path.stat().st_mtime_ns for path in moments} == moments
    assert grown.summary() == swept.summary()
    seen.clear()
    sf.sweep(PLAN, out=tmp_path, watch=lambda *progress: seen.append(progress))
    assert seen == [(120, 120)]


def test_cells_can_be_made_by_hand_and_a_world_that_breaks_a_statement_is_told_once(tmp_path: Path) -> None:
    world = sf.worlds.hard(omega=0.3)
    problem = world.paper_problem(reward_norm=1.0, delta=0.05, delta_safety=0.05)
    cells = [Cell(world, problem, sf.SafeGap(), settings={"label": "short norm"}), Cell(world, problem, sf.LinGapE())]
    with pytest.warns(WorldBreaksStatement) as told:
        done = sf.sweep(Plan(tuple(cells[:1]), runs=20), out=tmp_path, workers=2)
    assert len(told) == 1
    assert done.summary()[0]["label"] == "short norm"
    assert len(done.runs(cells[0])) == 20


def test_without_pyarrow_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquets, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"pyarrow is not installed: pip install 'surefoot\[frames\]'"):
        sf.sweep(PLAN, out=tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_what_does_not_fit_on_the_disk_is_refused(tmp_path: Path) -> None:
    plan = {"worlds": [{"name": "sphere", "arms": 2000, "dim": 2, "lead": 1e-9}], "policies": ["uniform"]}
    with pytest.raises(InvalidInput, match=r"runs = 5000000000: would take more than .* are left in"):
        sf.sweep({**plan, "runs": 5 * 10**9}, out=tmp_path)


PROGRAM = f"""
import sys
import surefoot as sf
sf.sweep({PLAN | {"runs": 160}!r}, out=sys.argv[1], engine=sys.argv[2], workers=2)
"""


@pytest.mark.parametrize("engine", ["threads", "processes"])
def test_a_sweep_that_is_killed_continues_to_the_same_files(tmp_path: Path, engine: str) -> None:
    words = [sys.executable, "-c", PROGRAM, str(tmp_path / "killed"), engine]
    process = subprocess.Popen(words, env=os.environ)
    until = time.monotonic() + 120
    while len(list(tmp_path.rglob("*-*.parquet"))) < 3 and process.poll() is None and time.monotonic() < until:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    kept = sorted(tmp_path.rglob("*-*.parquet"))
    assert 3 <= len(kept) < 32
    assert not (tmp_path / "killed" / "summary.parquet").exists()
    moments = {path: path.stat().st_mtime_ns for path in kept}
    subprocess.run(words, check=True)
    assert {path: path.stat().st_mtime_ns for path in kept} == moments
    sf.sweep({**PLAN, "runs": 160}, out=tmp_path / "whole", workers=1)
    files = {
        name: {str(path.relative_to(tmp_path / name)): path.read_bytes() for path in (tmp_path / name).rglob("*.*")
               if path.is_file() and not path.name.endswith(".part")}
        for name in ("killed", "whole")
    }  # fmt: skip
    assert files["killed"] == files["whole"]
