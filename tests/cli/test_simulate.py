"""`surefoot simulate`: many runs, a table with exact intervals, one row per run in a file."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

import surefoot as sf
from surefoot.cli import exit_codes

Typed = Callable[..., Any]


def test_the_summary_is_that_of_the_library(typed: Typed, strict_json: Callable[[str], Any]) -> None:
    done = typed("simulate", "--runs", "20", "--seed", "5", "--workers", "2", "--json", "--confidence", "0.9")
    found = strict_json(done.stdout)
    world = sf.worlds.hard()
    runs = sf.simulate(world, world.paper_problem(), runs=20, seed=5)
    assert done.returncode == 0
    assert len(found["policies"]) == 1
    assert found["policies"][0]["summary"] == runs.summary(0.9)


def test_policies_stand_side_by_side(typed: Typed) -> None:
    done = typed("simulate", "--runs", "12", "--policy", "safe-lingape", "--policy", "lingape")
    assert done.returncode == 0
    assert not [line for line in done.stderr.splitlines() if not line.startswith("surefoot: compiling ")]
    head = done.stdout.splitlines()[0]
    assert head.index("safe-lingape") < head.index(" lingape")
    for label in ("pulls, mean", "broken promises", "wrong by (b)", "runs with an unsafe pull", "promised at most"):
        assert label in done.stdout
    assert "Clopper-Pearson" in done.stdout


def test_runs_that_all_end_undecided_are_still_a_result(typed: Typed, strict_json: Callable[[str], Any]) -> None:
    words = ("simulate", "--runs", "3", "--max-pulls", "20")
    assert "3 undecided" in typed(*words).stdout
    done = typed(*words, "--json")
    summary = strict_json(done.stdout)["policies"][0]["summary"]
    assert done.returncode == 0
    assert (summary["undecided_runs"], summary["pulls_mean"]) == (3, None)


def test_rows_are_written_as_csv_and_as_parquet(typed: Typed, tmp_path: Path) -> None:
    words = ("simulate", "--world", "limited", "--runs", "6", "--policy", "safe-lingape", "--policy", "uniform")
    assert "12 rows in runs.csv" in typed(*words, "--out", "runs.csv").stdout
    assert "12 rows in runs.parquet" in typed(*words, "--out", "runs.parquet").stdout
    text, binary = pd.read_csv(tmp_path / "runs.csv"), pd.read_parquet(tmp_path / "runs.parquet")
    pd.testing.assert_frame_equal(text, binary, check_dtype=False)
    assert [name.split()[0] for name in binary["policy"].unique()] == ["safe-lingape", "uniform"]
    assert set(binary["outcome"]) == {"certified"}


def test_runs_are_watched_when_that_is_asked_for(typed: Typed, strict_json: Callable[[str], Any]) -> None:
    words = ("simulate", "--runs", "2", "--max-pulls", "150", "--json")  # too little to compile for
    found = strict_json(typed(*words, "--alarm", SUREFOOT_INTERPRET="1").stdout)
    assert found["alarm"] is True
    assert found["policies"][0]["summary"]["alarm_runs"] == 0
    assert strict_json(typed(*words, SUREFOOT_INTERPRET="1").stdout)["alarm"] is False


def test_quantiles_are_printed_and_a_world_that_breaks_its_problem_is_named(
    typed: Callable[..., Any], write: Callable[[str, str], str], pumps: str
) -> None:
    truth = "[world]\ntheta_star = [1.5, 0.3]\nmu_star = [[40.0, 2.0]]\nsafety_noise = 0.6\n"
    done = typed("simulate", write("pumps.toml", pumps + truth), "--runs", "3", "--max-pulls", "50", "--quiet")
    assert "pulls, 10/50/90 %" in done.stdout
    rows = [line.split() for line in done.stdout.splitlines()]
    place = next(i for i, row in enumerate(rows) if row[:3] == ["wrong", "by", "(b),"])
    assert rows[place + 1][-2:] == ["10", "%"]  # both errors together
    for words in ("weights of pressure have length 40", "pressure has noise 0.6", "level is not safe for pump A"):
        assert words in " ".join(done.stderr.split())
    assert "warning:" in typed("run", "pumps.toml", "--max-pulls", "5", "--quiet", "--no-compare").stderr


def test_a_device_that_is_not_there_is_refused_in_typed_words(typed: Typed) -> None:
    done = typed("simulate", "--runs", "2", "--device", "tpu")
    assert done.returncode == exit_codes.BAD_INPUT
    assert "--device" in done.stderr
