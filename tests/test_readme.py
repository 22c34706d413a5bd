"""The README does what it shows: its Python runs and prints that, its commands work, its links lead somewhere."""

import contextlib
import importlib
import io
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import surefoot as sf

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
COMMANDS = [
    line.partition("#")[0].split() for kind, block in BLOCKS if kind == "sh" for line in block.strip().splitlines()
]


def test_the_python_runs_and_prints_what_is_shown() -> None:
    names: dict[str, object] = {}
    for (kind, block), (next_kind, shown) in itertools.pairwise(BLOCKS):
        if kind == "python":
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(block, "README.md", "exec"), names)
            assert next_kind == "text"
            assert said_alike(printed.getvalue(), shown)


def said_alike(printed: str, shown: str) -> bool:
    """Whether the words are the same and the numbers close: another CPU may round differently in the last place."""
    number = r"\d+(?:\.\d+)?"
    same_words = re.split(number, printed) == re.split(number, shown)
    pairs = zip(re.findall(number, printed), re.findall(number, shown), strict=same_words)
    return same_words and all(float(a) == pytest.approx(float(b), rel=0.05) for a, b in pairs)


def test_the_first_screen_has_a_sentence_a_picture_how_to_install_two_commands_and_code_that_runs() -> None:
    first = README.partition("## ")[0]
    sentence, picture, install, code = (
        first.index(part) for part in ("Find the best option", "<img ", "    pip install .", "```python")
    )
    assert sentence < picture < install < code
    assert len(re.findall(r"^    make (run|test) ", first[install:code], re.MULTILINE)) == 2
    assert len(first[:code].splitlines()) < 12
    assert "|---" not in first  # tables come later


def test_every_extra_is_said_to_be_for_something() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    for page in (README, (ROOT / "docs" / "install.md").read_text("utf-8")):
        told = set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`.*?) \|", page, re.MULTILINE))))
        assert set(extras) - {"test", "check", "bench", "docs"} <= told


def test_the_first_python_block_has_twelve_lines() -> None:
    first = next(block for kind, block in BLOCKS if kind == "python")
    assert len(first.strip().splitlines()) == 12


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_the_commands_work(command: list[str], tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    program = str(Path(sys.executable).parent / command[0])
    done = subprocess.run([program, *command[1:]], cwd=tmp_path, capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_the_problem_file_is_one() -> None:
    block = next(block for kind, block in BLOCKS if kind == "toml")
    table = tomllib.loads(block)
    problem = sf.Problem.from_dict(table)
    assert sf.worlds.Linear.for_problem(problem, **table["world"]).best_arm() == 0
    assert sf.policies.from_dict(table["policy"]) == sf.SafeGap()


def test_the_example_file_states_the_same_problem() -> None:
    block = next(block for kind, block in BLOCKS if kind == "toml")
    assert sf.Problem.from_dict(tomllib.loads(block)) == sf.Problem.load(ROOT / "examples" / "pumps.toml")


def test_links_and_pictures_lead_to_files() -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", README) + re.findall(r'src="([^"]+)"', README)
    assert targets
    assert not [target for target in targets if "://" not in target and not (ROOT / target).exists()]


@pytest.mark.parametrize("table", ["promise", "bench", "pulls", "pulls-field"])
def test_the_generated_tables_have_their_markers_once(table: str) -> None:
    assert README.count(f"<!-- {table}:start -->") == README.count(f"<!-- {table}:end -->") == 1


def test_the_make_targets_that_are_named_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = set(re.findall(r"(?:`|^    )make ([a-z-]+)\b", README, re.MULTILINE))
    assert {"run", "test", "promise", "bench-pulls"} <= named <= targets


def shown_table(name: str) -> str:
    return README.split(f"<!-- {name}:start -->")[1].split(f"<!-- {name}:end -->")[0].strip()


def test_the_benchmark_table_is_the_one_that_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    bench = importlib.import_module("bench")
    report = json.loads((ROOT / "benchmarks" / "results.json").read_text())
    assert shown_table("bench") == bench.markdown(bench.table_rows(report["measured"]), report["machine"])


def test_the_table_of_pulls_is_the_one_that_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    pulls = importlib.import_module("pulls")
    rows = json.loads((ROOT / "benchmarks" / "pulls.json").read_text())
    assert shown_table("pulls") == pulls.markdown(rows)
    assert list(rows) == list(pulls.suite())
