"""Every command that the documentation and the help print is one: it can be read, and those of the pages are run."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
import typer

import surefoot as sf
from surefoot.cli import help_pages, main
from surefoot.cli.app import app
from surefoot.cli.job import Job

ROOT = Path(__file__).parent.parent
PAGES = {path.name: path.read_text("utf-8") for path in [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md"]}
RUN_ELSEWHERE = {  # by the tests of the pages themselves
    "README.md", "own_policy.md", "planning.md", "seeing.md", "pumps.md", "rollout.md", "dose_finding.md",
    "researchers.md", "stating-a-problem.md",
}  # fmt: skip
NOT_OURS = ("pip ", "uv ", "dask ", "source ", "make ")  # other programs, with networks and machines of their own
NEEDS_OTHERS = ("--scheduler tcp://", "--device cuda")  # a cluster, a GPU: tests/sweeping and tests/test_devices.py


def shown_commands(text: str) -> list[str]:
    """The command lines of the blocks in which a shell is spoken to, without their comments."""
    blocks = re.findall(r"^```([^\n`]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    spoken = [block for kind, block in blocks if kind in ("", "sh")]
    lines = [re.split(r"\s+#", line)[0].strip() for block in spoken for line in block.splitlines()]
    return [line for line in lines if re.match(r"surefoot |openssl |pip |dask |make ", line)]


def helped_commands() -> list[str]:
    """The examples in the help: two blanks, the command, and then two blanks before what it is for."""
    texts = [text for name, text in vars(help_pages).items() if name.isupper() and isinstance(text, str)]
    joined = re.sub(r" *\\\n *", " ", "\n".join(texts))
    found = re.findall(r"^  (surefoot .*?)(?:  .*)?$", joined, re.MULTILINE)
    return [line for line in dict.fromkeys(found) if "|" not in line and ">" not in line]


def quoted_commands() -> list[str]:
    """Commands within sentences, those without a gap that a reader has to fill."""
    found = [quote for text in PAGES.values() for quote in re.findall(r"`(surefoot [a-z][^`]*)`", text)]
    return [each for each in dict.fromkeys(found) if "..." not in each and not re.search(r" \d$", each)]


@pytest.fixture
def laboratory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the pages speak of, and their studies."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SUREFOOT_STORAGE", raising=False)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    shutil.copy(ROOT / "examples" / "pumps.toml", "pumps.toml")
    (tmp_path / "plan.toml").write_text('worlds = ["limited"]\npolicies = ["safe-gap"]\nruns = 2\nseed = 1\n', "utf-8")
    problem = sf.Problem.load("pumps.toml")
    study = sf.create_study(problem, name="power", storage="sqlite:///surefoot.db", seed=7)
    for _ in range(11):
        study.tell(study.ask(), reward=0.1, safety=5.5)
    return tmp_path


def run(line: str, laboratory: Path) -> None:
    """Runs the command of a page, with names that mean something here."""
    if line.startswith("openssl"):
        assert subprocess.run(line, shell=True, cwd=laboratory, capture_output=True).returncode == 0, line
        return
    head = sf.load_study("power", "sqlite:///surefoot.db").head
    words = [word.replace("3f9c...", head).replace("/backups/", f"{laboratory}/") for word in shlex.split(line)[1:]]
    if words[:2] == ["storage", "create"]:
        words[2] = "sqlite:///new.db"
    assert main(words) == 0, line


@pytest.mark.parametrize("page", [name for name, text in PAGES.items() if shown_commands(text)])
def test_the_commands_of_the_page_work(page: str, laboratory: Path) -> None:
    if page in RUN_ELSEWHERE:
        return
    already = shown_commands(PAGES["README.md"])
    for line in shown_commands(PAGES[page]):
        if line not in already and not line.startswith(NOT_OURS) and not any(word in line for word in NEEDS_OTHERS):
            run(line, laboratory)


@pytest.mark.parametrize("line", [*helped_commands(), *quoted_commands()])
def test_the_command_can_be_read(line: str) -> None:
    words = shlex.split(line)[1:]
    if any(word.endswith((".py:Mine", ".py:TopTwo")) for word in words):
        pytest.skip("a policy of the reader's own; tests/test_tutorials.py has one")
    group = typer.main.get_command(app)
    commands = getattr(group, "commands", {})
    if len(words) <= 2 and not words[-1].startswith("-") and words[-1] in {**commands, **_nested(commands)}:
        return  # the name of a command, which a sentence is about
    read = app(words, prog_name="surefoot", standalone_mode=False)
    assert isinstance(read, Job | int)


def _nested(commands: dict[str, object]) -> dict[str, object]:
    return {name: each for group in commands.values() for name, each in getattr(group, "commands", {}).items()}


def test_commands_are_found() -> None:
    assert len(helped_commands()) > 30
    assert len(quoted_commands()) > 15
    assert sum(len(shown_commands(text)) for text in PAGES.values()) > 25
