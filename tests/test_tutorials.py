"""The pages of the documentation that run: every cell works, in order, and the story it tells is true."""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import surefoot as sf
from surefoot.testing import PolicyContract, WorldContract

DOCS = Path(__file__).parent.parent / "docs"
CELL = re.compile(r"^```\{code-cell\} python\n(?::[^\n]*\n)*(.*?)^```$", re.MULTILINE | re.DOTALL)


def run_page(name: str) -> tuple[dict[str, Any], str]:
    """The names that the cells of the page leave behind, and what they print."""
    names: dict[str, Any] = {}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for cell in CELL.findall((DOCS / name).read_text("utf-8")):
            exec(compile(cell, name, "exec"), names)
    return names, printed.getvalue()


def test_the_two_weeks_at_the_base_station_end_in_a_certificate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    names, printed = run_page("studies.md")
    study, problem, station = names["study"], names["problem"], names["station"]
    assert study.outcome == "certified"
    assert "killed by signal 9" in printed
    assert "40 results of the night are kept;" in printed
    assert "unsafe trials       0 of" in printed
    answer = study.recommendation
    assert not station.judge(problem).is_wrong(answer.arm, answer.level)
    assert study.pulls <= 2016
    assert study.audit().clean
    assert study.status().contradictions == []


def test_the_page_on_sweeps_grows_loses_a_worker_and_gives_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    names, printed = run_page("sweeps.md")
    assert "(240, 360) when it began, (360, 360) at the end" in printed
    assert "1 worker killed, the same result: True" in printed
    assert len(names["rows"]) == 240
    found = {(row["policy"], row["world_omega"]): row["pulls_mean"] for row in names["done"].summary()}
    assert found["safe-gap", 0.2] < found["safe-lingape", 0.2]


def test_the_page_on_the_dial_prints_what_it_shows_and_its_file_is_one() -> None:
    blocks = re.findall(r"^```(python|text|toml)\n(.*?)^```$", (DOCS / "dial.md").read_text("utf-8"), re.M | re.S)
    names: dict[str, Any] = {}
    for (kind, code), (_, told) in pairwise(blocks):
        if kind == "python":
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(code, "dial.md", "exec"), names)
            assert printed.getvalue() == told
    (file,) = [tomllib.loads(text) for kind, text in blocks if kind == "toml"]
    problem = sf.Problem.from_dict({**names["problem"].to_dict(), "max_step": None, **file})
    assert problem.level_grid == (0.1, 0.2, 0.5, 1.0)


@pytest.mark.parametrize("page", ["units.md", "nearly_linear.md", "unknown_noise.md"])
def test_a_page_on_statements_prints_what_it_shows(page: str) -> None:
    blocks = re.findall(r"^```(python|text)\n(.*?)^```$", (DOCS / page).read_text("utf-8"), re.M | re.S)
    names: dict[str, Any] = {}
    for place, (kind, code) in enumerate(blocks):
        if kind == "python":
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(code, page, "exec"), names)
            following = blocks[place + 1 : place + 2]
            assert printed.getvalue() == (following[0][1] if following and following[0][0] == "text" else "")
    assert names


def test_the_page_on_many_arms_prints_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shown = re.findall(r"^```(python|text)\n(.*?)^```$", (DOCS / "many_arms.md").read_text("utf-8"), re.M | re.S)
    (_, code), (_, told) = shown
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "many_arms.md", "exec"), {})
    assert printed.getvalue() == told


def test_the_page_on_seeing_draws_and_reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    names, printed = run_page("seeing.md")
    assert names["study"].outcome == "certified"
    assert "<h1>pumps</h1>" in names["page"].read_text("utf-8")
    shares = [int(share) for share in re.findall(r"(\d+) %$", printed, re.MULTILINE)]
    assert len(shares) == 4
    assert sum(shares) / len(shares) >= 70  # the page says so of the range
    assert "an extrapolation, no promise" in " ".join(printed.split())
    (listed,) = re.findall(r"^\| picture .*?\n\n", (DOCS / "seeing.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)
    for kind in sf.plots.KINDS:
        frame = getattr(sf.plots, f"{kind}_frame")(names["study"])
        assert f"| `{kind}` | `{kind}_frame` | {', '.join(frame.columns)} |" in listed


@pytest.mark.parametrize("kind", ["plot", "report"])
def test_the_commands_of_the_page_on_seeing_work(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from surefoot.cli import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SUREFOOT_STORAGE", raising=False)
    limit = sf.Limit("pressure", at_most=8.0, baseline=5.0, noise=0.3)
    problem = sf.Problem(
        [[1, 0], [0, 1]], sf.Reward(noise=0.5), [limit], safe_level=0.2, epsilon=0.1, delta=0.05, delta_safety=0.05
    )
    study = sf.create_study(problem, name="pumps", storage="sqlite:///surefoot.db", seed=7)
    for _ in range(5):
        study.tell(study.ask(), reward=0.1, safety=5.5)
    blocks = re.findall(r"^```sh\n(.*?)^```$", (DOCS / "seeing.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)
    commands = [line.split() for block in blocks for line in block.splitlines() if f"study {kind}" in line]
    assert len(commands) == 2
    for _, *words in commands:
        assert main(words) == 0
        assert (tmp_path / words[words.index("-o") + 1]).exists()


def test_the_page_on_planning_tells_a_plan_and_its_commands_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from surefoot.cli import main

    monkeypatch.chdir(tmp_path)
    names, printed = run_page("planning.md")
    assert str(names["plan"]) in printed
    kind, middle, harsh = (each.quantiles["0.5"] for each in names["plan"].scenarios)
    assert kind < middle < harsh
    assert names["likely"].pilot_rows == 24
    names["problem"].save("pumps.toml")
    rows = "".join(f"{row['arm']},{row['level']},{row['reward']},{row['safety']}\n" for row in names["pilot"])
    (tmp_path / "pilot.csv").write_text(f"arm,level,reward,safety\n{rows}", "utf-8")
    (block,) = re.findall(r"^```sh\n(.*?)^```$", (DOCS / "planning.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)
    for line in block.splitlines():
        assert main(line.split()[1:]) == 0
    assert (tmp_path / "plan.png").exists()


def test_the_page_on_stating_a_problem_calibrates_one_and_its_commands_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from surefoot.cli import main

    monkeypatch.chdir(tmp_path)
    names, printed = run_page("stating-a-problem.md")
    assert str(names["found"]) in printed
    assert "could be lowered" in " ".join(printed.split())
    assert "spends 0.05 of delta = 0.05" in printed
    page = (DOCS / "stating-a-problem.md").read_text("utf-8")
    (arms,) = re.findall(r"^```csv\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (tmp_path / "settings.csv").write_text(arms, "utf-8")
    rows = "".join(f"{row['arm']},{row['setting']},{row['reward']},{row['safety']}\n" for row in names["pilot"])
    (tmp_path / "pilot.csv").write_text(f"arm,setting,reward,safety\n{rows}", "utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    assert len(lines) == 5
    for line in lines:
        assert main(shlex.split(line)[1:]) == 0, capsys.readouterr().err
    stated, suggested = (sf.Problem.load(tmp_path / f"{name}.toml") for name in ("settings", "suggested"))
    assert stated == names["problem"]
    assert suggested.reward.law.bound < stated.reward.law.bound
    assert suggested.delta < stated.delta
    assert (tmp_path / "pilot.png").exists()


# -- four jobs --------------------------------------------------------------------------------------------------------


def run_job(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[dict[str, Any], str]:
    """The page, run in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delenv("SUREFOOT_STORAGE", raising=False)
    return run_page(name)


def test_an_engineer_finds_the_best_of_a_csv_of_settings_in_raw_units(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names, printed = run_job("pumps.md", tmp_path, monkeypatch)
    study, problem, plant = names["study"], names["problem"], names["plant"]
    assert list(problem.arms[0]) == [900.0, 35.0]
    assert study.outcome == "certified"
    assert not plant.judge(problem).is_wrong(study.recommendation.arm, study.recommendation.level)
    assert "trials until certainty" in printed
    assert Path("plant.html").exists()
    assert Path("levels.png").exists()
    assert "the same in 100.0 % of 50 runs" in printed


def test_a_roll_out_climbs_to_a_share_of_visitors_that_keeps_the_guardrail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names, printed = run_job("rollout.md", tmp_path, monkeypatch)
    summary, study, shop = names["summary"], names["study"], names["shop"]
    assert summary["certified_runs"] == len(names["runs"])
    assert summary["unsafe_runs"] == summary["wrong_runs"] == 0
    assert 10_000 < summary["pulls_mean"] < 100_000  # "tens of thousands"
    answer = study.recommendation
    assert not shop.judge(names["problem"]).is_wrong(answer.arm, answer.level)
    assert f"at {answer.setting:g} % of visitors" in printed


def test_the_page_on_doses_counts_patients_as_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names, printed = run_job("dose_finding.md", tmp_path, monkeypatch)
    on_a_scale, yes_or_no = (
        [each.quantiles["0.5"] for each in names[plan].scenarios] for plan in ("plan", "yes_or_no")
    )
    assert max(on_a_scale) < 100  # "from some twenty to a little over a hundred"
    assert 100 < min(yes_or_no) <= max(yes_or_no) < 5000  # "hundreds to thousands"
    assert names["session"].outcome == "certified"
    assert "patient 1: tablet, 8 mg" in printed


def test_the_page_for_researchers_compares_and_sweeps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names, printed = run_job("researchers.md", tmp_path, monkeypatch)
    pulls = [int(count.replace(",", "")) for count in re.findall(r"^(?:safe-)?\w+ +([\d,]+)  ", printed, re.MULTILINE)]
    safe_gap, conservative, optimistic, lingape = pulls[:4]
    assert lingape < safe_gap < conservative < optimistic
    assert names["bound"].pulls < safe_gap
    assert len(names["done"].summary()) == 4


@pytest.mark.parametrize("page", ["pumps.md", "rollout.md", "dose_finding.md", "researchers.md"])
def test_the_commands_that_a_job_shows_are_those_that_it_runs(page: str) -> None:
    text = (DOCS / page).read_text("utf-8")
    shown = re.findall(r"^surefoot (.*)$", "".join(re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S)), re.MULTILINE)
    run = [words for _, words in re.findall(r"""^command\((["'])(.*)\1\)$""", text, re.MULTILINE)]
    assert [each for each in shown if not each.startswith("reproduce")] == run


# -- pages for authors ------------------------------------------------------------------------------------------------


def first_cell(name: str) -> str:
    """The code that the page is about, which is promised to be short."""
    code = CELL.findall((DOCS / name).read_text("utf-8"))[0]
    assert len([line for line in code.splitlines() if line.strip()]) <= 40
    assert max(map(len, code.splitlines())) <= 125
    return str(code)


def test_a_policy_of_one_page_keeps_its_contract_and_drives_a_study() -> None:
    first_cell("own_policy.md")
    try:
        names, printed = run_page("own_policy.md")
    finally:
        sf.delete_study("mine", "memory")
    assert "is within 0.09 of the best safe option" in printed
    assert "load_study(..., policy=TopTwo)" in printed
    assert "50 pulls of 'mine' recomputed, and each is the one that was due." in printed
    pulls = {name: int(count) for name, count in re.findall(r"^([a-z-]+) +(\d+) pulls", printed, re.MULTILINE)}
    assert pulls["safe-gap"] < pulls["top-two"] < pulls["safe-lingape"]
    contract = PolicyContract()
    contract.policy = names["TopTwo"]()
    contract.test_it_has_what_a_policy_has()
    contract.test_its_guarantee_is_well_formed()
    contract.test_no_pull_is_above_the_level_certified_for_it()


def test_the_policy_of_the_page_works_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "my_policy.py").write_text(first_cell("own_policy.md"))
    (block,) = re.findall(r"^```sh\n(.*?)^```$", (DOCS / "own_policy.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)
    for command in block.strip().splitlines():
        program, *words = command.split()
        place = Path(sys.executable).parent / program
        env = {**os.environ, "SUREFOOT_INTERPRET": "1" if words[0] == "run" else ""}  # one run is soon done
        done = subprocess.run([place, *words], cwd=tmp_path, capture_output=True, text=True, env=env)
        assert done.returncode == 0, done.stderr
        assert "top-two" in done.stdout


def test_a_world_of_one_page_keeps_its_contract_and_shows_what_a_promise_is_worth() -> None:
    first_cell("own_world.md")
    names, printed = run_page("own_world.md")
    unsafe = [int(count) for count in re.findall(r"(\d+) unsafe$", printed, re.MULTILINE)]
    straight, levels_off, grows_faster = unsafe
    assert max(straight, levels_off) <= 10 < grows_faster
    contract = WorldContract()
    contract.world, contract.problem = names["Bent"](names["straight"], 0.5), names["problem"]
    for sentence in [name for name in dir(contract) if name.startswith("test_")]:
        getattr(contract, sentence)()


def test_the_page_on_comparing_shows_a_refusal_and_a_family_of_worlds() -> None:
    names, printed = run_page("comparing.md")
    assert "hard (omega 0.3)" in printed
    assert "frank-wolfe  ours" in printed
    assert printed.count("refuses: epsilon = ") == 3
    assert "must be 0 for frank-wolfe" in printed.splitlines()[-5]
    assert len(names["found"]) == 18
    assert [row.contender.label for row in names["two"].rows] == [
        "safe-gap", "lingape", "lingape (radius norm)", "lingape (radius bias-free)",
    ]  # fmt: skip
