"""The shape of the package, read from its source: imports flow one way, the core is arithmetic, the truth is hidden."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import surefoot

PACKAGE = Path(surefoot.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))

PROBLEM = {"errors", "files", "plain_data", "problem"}
NUMBERS = {"core", "sets", "policies", "worlds", "live", "results", "simulation", "theory"}
MAY_IMPORT: dict[str, set[str]] = {  # a package or module -> what it may import besides itself
    "plain_data": set(),
    "errors": {"plain_data"},
    "progress": set(),
    "files": {"errors"},
    "problem": {"errors", "files", "plain_data"},
    "core": {"sets"},
    "sets": {"core", *PROBLEM},
    "policies": {"core", "sets", *PROBLEM},
    "worlds": {"core", *PROBLEM},
    "live": {"core", "policies", "studies", "storage", *PROBLEM},
    "results": {"core", "files", "policies", "live", "worlds", *PROBLEM},
    "simulation": {"core", "policies", "live", "progress", "results", "worlds", *PROBLEM},
    "building": {"core", "sets", "policies"},
    "testing": {*NUMBERS, *PROBLEM, "storage", "studies"},
    "theory": {"core", "policies", "worlds", "results", *PROBLEM},
    "storage": PROBLEM,
    "studies": {"storage", "core", "policies", "live", "progress", "__init__", *PROBLEM},
    "plots": {*NUMBERS, *PROBLEM},
    "reproduction": {*NUMBERS, *PROBLEM, "plots", "__init__"},
    "cli": {*NUMBERS, *PROBLEM, "plots", "progress", "reproduction", "storage", "studies", "__init__"},
}
KNOWS_THE_TRUTH = (
    "worlds",
    "reproduction",
    "testing",
    "theory",
    "simulation",
    "results",
    "cli",
    "core/nature",
    "core/play",
    "core/types",
)
TRUTH = {
    "theta_star",
    "mu_star",
    "Truth",
    "truth",
    "Judge",
    "judge",
    "best_value",
    "best_levels",
    "best_arm",
    "safety_values",
}
NOT_ARITHMETIC = {
    "logging", "time", "datetime", "random", "secrets", "io", "socket", "subprocess", "threading", "pathlib", "os",
    "sys", "json", "csv", "pickle", "shutil", "warnings", "uuid",
}  # fmt: skip


def where(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").as_posix()


def part(path: Path) -> str:
    return where(path).split("/")[0]


def imports(tree: ast.AST) -> Iterator[str]:
    """The dotted names of everything imported, anywhere in the file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def surefoot_parts(path: Path) -> set[str]:
    """The packages and modules of surefoot that the file imports."""
    found = set()
    for name in imports(parsed(path)):
        words = name.split(".")
        if words[0] == "surefoot" and len(words) > 1:
            found.add("__init__" if words[1] == "__version__" else words[1])
    return found - {part(path)}


@pytest.mark.parametrize("path", [path for path in FILES if where(path) != "__init__"], ids=where)
def test_imports_flow_one_way(path: Path) -> None:
    assert part(path) in MAY_IMPORT, f"{where(path)}: say in this test what {part(path)} may import"
    assert surefoot_parts(path) <= MAY_IMPORT[part(path)]


def module_level(tree: ast.Module) -> Iterator[ast.stmt]:
    for node in tree.body:
        if not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)):
            yield node


def test_no_two_modules_need_each_other() -> None:
    names = {f"surefoot.{where(path).replace('/', '.')}".removesuffix(".__init__"): path for path in FILES}
    needs = {}
    for name, path in names.items():
        tree = ast.Module(list(module_level(parsed(path))), [])
        needs[name] = {
            found for found in imports(tree) if found in names and found != name and not name.startswith(found)
        }

    def reaches(start: str, goal: str, seen: set[str]) -> bool:
        for following in needs[start]:
            if following == goal:
                return True
            if following not in seen:
                seen.add(following)  # for all branches: what was searched once need not be searched again
                if reaches(following, goal, seen):
                    return True
        return False

    assert not [name for name in names if reaches(name, name, set())]


@pytest.mark.parametrize("path", sorted((PACKAGE / "core").glob("*.py")), ids=where)
def test_the_core_is_arithmetic(path: Path) -> None:
    """No files, clocks, logs or hidden randomness; compilation alone may look at the system."""
    tree = parsed(path)
    if path.stem != "kernel":
        assert not {name.split(".")[0] for name in imports(tree)} & NOT_ARITHMETIC
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    assert not called & {"open", "print", "input", "eval", "exec"}
    names = {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert not {name for name in names if name.startswith(("np.random", "numpy.random"))}
    globals_of_functions = [node for node in ast.walk(tree) if isinstance(node, ast.Global)]
    assert path.stem == "kernel" or not globals_of_functions


@pytest.mark.parametrize("path", FILES, ids=where)
def test_only_the_kernel_file_knows_the_compiler(path: Path) -> None:
    if where(path) != "core/kernel":
        assert not {name.split(".")[0] for name in imports(parsed(path))} & {"numba", "llvmlite"}


@pytest.mark.parametrize("path", FILES, ids=where)
def test_the_truth_is_out_of_reach(path: Path) -> None:
    if where(path).startswith(KNOWS_THE_TRUTH):
        return
    tree = parsed(path)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    used |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    used |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg | ast.keyword) and node.arg}
    used |= {name.split(".")[-1] for name in imports(tree)}
    assert not used & TRUTH


@pytest.mark.parametrize("path", FILES, ids=where)
def test_input_is_never_checked_by_assert_and_every_file_says_what_it_holds(path: Path) -> None:
    tree = parsed(path)
    assert not [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    assert ast.get_docstring(tree)
    assert path.stem.strip("_") not in {"utils", "helpers", "common", "base", "manager"}


def test_importing_the_package_loads_nothing_heavy() -> None:
    program = (
        "import sys, surefoot; "
        "heavy = {'numba', 'numpy', 'scipy', 'pandas', 'typer', 'rich', 'sqlalchemy', 'alembic'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_problem_is_made_without_the_compiler() -> None:
    program = "import sys, surefoot; surefoot.Problem, surefoot.worlds; print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_every_public_name_is_there() -> None:
    for name in surefoot.__all__:
        assert getattr(surefoot, name) is not None
    assert set(surefoot.__all__) <= set(dir(surefoot))
    with pytest.raises(AttributeError):
        surefoot.no_such_name  # noqa: B018
