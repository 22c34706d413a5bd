"""The wheel, alone in a clean environment with the core dependencies only, does the main job."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import surefoot

ROOT = Path(__file__).parent.parent

pytestmark = pytest.mark.xdist_group("packaging")  # one worker, so that the environment is made once


def uv(*words: str, cwd: Path = ROOT) -> None:
    """Runs uv, the one of this environment first."""
    program = shutil.which("uv", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
    assert program is not None, "uv is not installed: make test installs it"
    done = subprocess.run([program, *words, "--quiet"], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    uv("build", "--wheel", "--out-dir", str(folder))
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="session")
def clean(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a clean environment that holds the wheel and its core dependencies."""
    home = tmp_path_factory.mktemp("clean") / "env"
    uv("venv", "--python", sys.executable, str(home))
    uv("pip", "install", "--python", str(home / "bin" / "python"), str(wheel))
    return home / "bin"


def run(program: Path, *words: str, folder: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """The finished process; it sees neither the source tree nor its settings, and has compiled code of its own."""
    env = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "SUREFOOT"))}
    env |= {"SUREFOOT_CACHE": str(program.parent.parent / "kernels"), **settings}
    return subprocess.run([str(program), *words], cwd=folder, capture_output=True, text=True, env=env)


def test_the_wheel_holds_the_package_and_its_types_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "surefoot/py.typed" in names
    assert "surefoot/cli/__init__.py" in names
    assert not [
        name for name in names if not name.startswith(("surefoot/", f"surefoot-{surefoot.__version__}.dist-info/"))
    ]


def test_the_main_job_runs_from_the_wheel_alone(clean: Path, tmp_path: Path) -> None:
    # Interpreted: the study below is compiled from the wheel, and one form of the same source is as good as the other.
    done = run(clean / "surefoot", "run", "--json", folder=tmp_path, SUREFOOT_INTERPRET="1")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["outcome"] == "certified"
    assert found["judged"]["unsafe_pulls"] == 0
    assert found["beside"]["judged"]["unsafe_share"] > 0.5


def test_the_program_tells_the_version_of_the_package(clean: Path, tmp_path: Path) -> None:
    assert run(clean / "surefoot", "--version", folder=tmp_path).stdout == f"surefoot {surefoot.__version__}\n"


def test_core_dependencies_bring_neither_frames_nor_plots(clean: Path, tmp_path: Path) -> None:
    extras = ("pandas", "pyarrow", "matplotlib", "narwhals")
    code = f"from importlib.util import find_spec; print([name for name in {extras} if find_spec(name)])"
    assert run(clean / "python", "-c", code, folder=tmp_path).stdout == "[]\n"


def test_frames_without_their_extra_are_refused_with_the_remedy(clean: Path, tmp_path: Path) -> None:
    code = (
        "import surefoot as sf\n"
        "world = sf.worlds.hard()\n"
        "runs = sf.simulate(world, world.paper_problem(), sf.LinGapE(), runs=1, max_pulls=10)\n"
        "try: runs.to_pandas()\n"
        "except sf.errors.MissingExtra as error: print(error)\n"
    )
    done = run(clean / "python", "-c", code, folder=tmp_path, SUREFOOT_INTERPRET="1")  # too little to compile for
    assert done.stdout == "pandas is not installed: pip install 'surefoot[frames]'\n", done.stderr
    done = run(clean / "surefoot", "simulate", "--out", "runs.csv", folder=tmp_path)
    assert done.returncode == 2
    assert "pip install 'surefoot[frames]'" in done.stderr


def test_a_study_is_kept_and_opened_again_from_the_wheel_alone(clean: Path, tmp_path: Path) -> None:
    """The migrations are in the wheel, and nothing beyond the core is needed until a frame is asked for."""
    code = (
        "import surefoot as sf\n"
        "study = sf.create_study(sf.worlds.hard().paper_problem(), name='power', storage='sqlite:///power.db')\n"
        "study.tell(study.ask(), reward=0.5, safety=0.0)\n"
        "print(sf.load_study('power', 'sqlite:///power.db').audit().statement)\n"
        "for action in (lambda: study.history, lambda: sf.list_studies('postgresql://localhost/x')):\n"
        "    try: action()\n"
        "    except sf.errors.MissingExtra as error: print(error)\n"
    )
    done = run(clean / "python", "-c", code, folder=tmp_path, SUREFOOT_INTERPRET="1")
    assert done.stdout.splitlines() == [
        "1 pull of 'power' recomputed, and each is the one that was due.",
        "pandas is not installed: pip install 'surefoot[frames]'",
        "psycopg is not installed: pip install 'surefoot[postgres]'",
    ], done.stderr
