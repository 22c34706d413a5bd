"""What each command loads: none waits for packages that it does not need. Structure is held here, not seconds."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Write = Callable[[str, str], str]

COMPILER = ("numba", "llvmlite")
FRAMES = ("pandas", "pyarrow", "matplotlib", "joblib")
STORAGE = ("sqlalchemy", "alembic")
BEGIN = [
    ["study", "create", "pumps", "pumps.toml"],
    ["study", "ask", "pumps"],
    ["study", "tell", "pumps", "1", "--reward", "0.3", "--safety", "5.5"],
]
NOT_NEEDED = {
    ("worlds",): (*COMPILER, *FRAMES, *STORAGE, "scipy", "surefoot.policies", "surefoot.live.session"),
    ("policies",): (*COMPILER, *FRAMES, *STORAGE, "scipy", "surefoot.worlds", "surefoot.live.session"),
    ("show", "pumps.toml"): (*COMPILER, *FRAMES, *STORAGE, "scipy", "surefoot.policies", "surefoot.live.session"),
    ("study", "list"): (*COMPILER, *FRAMES, "alembic", "scipy", "numpy", "surefoot.policies"),
    ("study", "show", "pumps"): (*FRAMES, "alembic", "scipy.linalg", "numpy.f2py", "surefoot.worlds"),
    ("study", "ask", "pumps"): (*FRAMES, "alembic", "scipy.linalg", "numpy.f2py", "surefoot.worlds", "rich"),
    ("study", "tell", "pumps", "2", "--reward", "0.3", "--safety", "5.5"): (
        *FRAMES, "alembic", "scipy.linalg", "numpy.f2py", "surefoot.worlds", "rich",
    ),
}  # fmt: skip


def loaded_after(program: str, folder: Path) -> set[str]:
    """The names of the modules that a process has loaded at its end."""
    code = f"{program}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    env = {name: value for name, value in os.environ.items() if name != "SUREFOOT_STORAGE"}
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for a problem file and a study with one result and one open pull."""
    return tmp_path_factory.mktemp("lab")


@pytest.mark.parametrize("words", NOT_NEEDED, ids=" ".join)
def test_a_command_loads_only_what_it_needs(words: tuple[str, ...], lab: Path, pumps: str) -> None:
    if not (lab / "pumps.toml").exists():
        (lab / "pumps.toml").write_text(pumps)
        begin = [*BEGIN, ["study", "ask", "pumps"]]
        loaded_after(f"from surefoot.cli import main\nfor words in {begin!r}: assert main(words) == 0", lab)
    found = loaded_after(f"from surefoot.cli import main\nassert main({list(words)!r}) == 0", lab)
    assert not found & set(NOT_NEEDED[words])


def test_a_problem_is_made_without_compiler_storage_or_command_line(tmp_path: Path) -> None:
    program = (
        "import surefoot as sf\n"
        "limit = sf.Limit('heat', at_most=1.0, baseline=0.0, noise=1.0, norm=1.0)\n"
        "sf.Problem([[1.0]], sf.Reward(noise=1.0, norm=1.0), limit, safe_level=0.5, epsilon=0.1, delta=0.1, "
        "delta_safety=0.1)"
    )
    heavy = {*COMPILER, *FRAMES, *STORAGE, "scipy", "typer", "rich", "surefoot.policies", "surefoot.core"}
    assert not loaded_after(program, tmp_path) & heavy


def test_linear_algebra_that_the_compiler_did_not_load_is_there_for_who_uses_it(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "import numpy as np\n"
        "from surefoot.core.compiler import _numba\n"
        "numba = _numba()\n"
        "assert 'scipy.linalg' not in sys.modules\n"
        "product = numba.njit(lambda a, b: a @ b)\n"
        "assert product(np.eye(2), np.array([3.0, 4.0])).tolist() == [3.0, 4.0]\n"
        "from scipy.linalg import cython_blas\n"
        "assert cython_blas.__pyx_capi__"
    )
    assert "scipy.linalg.cython_blas" in loaded_after(program, tmp_path)
