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

LEAVES = {"cards", "characters", "errors", "files", "frames", "memory", "pages", "plain_data", "progress"}
NUMBERS = {"core", "sets", "policies", "worlds", "live", "played", "results", "devices", "simulation", "theory"}
MAY_IMPORT: dict[str, set[str]] = {  # a package or module -> what it may import besides itself
    "characters": set(),
    "plain_data": set(),
    "progress": {"characters"},
    "errors": {"plain_data"},
    "files": {"errors"},
    "memory": {"errors"},
    "frames": {"errors"},
    "cards": {"characters"},
    "pages": {"characters"},
    "problem": {"cards", "characters", "errors", "files", "plain_data"},
    "core": set(),  # arithmetic stands on nothing of ours
    "sets": {"core", "problem"},
    "policies": {"core", "sets", "problem", "errors", "memory"},
    "building": {"core", "sets", "policies", "problem"},
    "worlds": {"core", "problem", "errors", "progress"},
    "live": {"core", "policies", "problem", *LEAVES},
    "played": {"live", "policies", "worlds", "problem", *LEAVES},
    "results": {"played", "core", "policies", "live", "worlds", "problem", *LEAVES},
    "devices": {"core", "policies", "errors"},
    "simulation": {"played", "core", "policies", "live", "results", "worlds", "devices", "problem", *LEAVES},
    "theory": {"policies", "worlds", "problem", *LEAVES},  # of the policies what their sets lean on
    # -- shell --
    "__main__": {"cli"},
    "storage": LEAVES,
    "studies": {"bridges", "core", "policies", "live", "storage", "problem", "__init__", *LEAVES},
    "bridges": {"live", "problem", "studies", "worlds", *LEAVES},
    "plots": {"live", "problem", *LEAVES},
    "reports": {"live", "policies", "studies", "plots", "problem", "__init__", *LEAVES},
    "planning": {
        "core",
        "sets",
        "policies",
        "worlds",
        "results",
        "simulation",
        "studies",
        "plots",
        "problem",
        "__init__",
        *LEAVES,
    },  # draws worlds, meets them; reads pilot tables as studies do
    "calibration": {"planning", "plots", "problem", *LEAVES},  # reads pilot tables as plans do
    "sweeping": {"policies", "worlds", "results", "simulation", "problem", "__init__", *LEAVES},
    "comparing": {
        "policies",
        "worlds",
        "live",
        "results",
        "simulation",
        "theory",
        "sweeping",
        "plots",
        "problem",
        "__init__",
        *LEAVES,
    },
    "reproduction": {"policies", "worlds", "results", "sweeping", "plots", "problem", "__init__", *LEAVES},
    "testing": {*NUMBERS, "studies", "storage", "problem", *LEAVES} - {"theory"},
    "cli": {
        *NUMBERS,
        "calibration",
        "comparing",
        "planning",
        "plots",
        "reports",
        "reproduction",
        "storage",
        "studies",
        "sweeping",
        "problem",
        "__init__",
        *LEAVES,
    }
    - {"core", "sets"},
}
KNOWS_THE_TRUTH = (  # these, and nobody else: what policies and live experiments are made of must never see it
    "worlds",
    "theory",
    "results",
    "simulation",
    "reproduction",
    "planning",  # draws truths itself; those of real experiments are unknown to it
    "sweeping/cells",  # a cell is named by all that its runs depend on
    "testing",
    "cli/run",  # says at the end how the answer was
    "bridges/gymnasium_world",  # a world for agents, which is told to whoever trains them
    "core/parts",  # names it, as what a world's response reads
    "core/loop",  # hands it on to that response
    "core/device",  # likewise, on a GPU
    "devices",
    "played",  # plays runs once more
)
TRUTH = {
    "theta_star", "mu_star", "Truth", "truth", "Judge", "judge", "best_value", "best_levels", "best_arm",
    "safety_values",
}  # fmt: skip
NOT_ARITHMETIC = {
    "logging", "time", "datetime", "random", "secrets", "io", "socket", "subprocess", "threading", "pathlib", "os",
    "sys", "json", "csv", "pickle", "shutil", "warnings", "uuid",
}  # fmt: skip
COMPILATION = {
    "kernel",
    "kernel_cache",
    "kernel_content",
    "compiler",
    "stored_parts",
    "locks",
    "device",
}  # of the core: no arithmetic in them
MARKS = {"kernel", "rare", "thin"}
KNOWS_THE_COMPILER = {
    "core/compiler": {"numba", "llvmlite"},
    "core/linking": {"numba", "llvmlite"},
    "core/instructions": {"numba", "llvmlite"},
    "core/stored_parts": {"numba", "llvmlite"},
    "core/device": {"numba", "llvmlite"},
    "core/device_instructions": {"numba", "llvmlite"},
    "core/kernel_cache": {"llvmlite"},
}  # whose version names it
LONGEST = 300  # lines of a file that gives no reason


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
    if path.stem not in COMPILATION:
        assert not {name.split(".")[0] for name in imports(tree)} & NOT_ARITHMETIC
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    assert not called & {"open", "print", "input", "eval", "exec"}
    names = {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert not {name for name in names if name.startswith(("np.random", "numpy.random"))}
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Global)]


@pytest.mark.parametrize("path", FILES, ids=where)
def test_only_one_file_knows_the_compiler(path: Path) -> None:
    tree = parsed(path)
    known = {name.split(".")[0] for name in imports(tree)}
    for call in ast.walk(tree):  # import_module("numba") is an import too
        if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("import_module"):
            known |= {each.value.split(".")[0] for each in call.args if isinstance(each, ast.Constant)}
    assert known & {"numba", "llvmlite"} <= KNOWS_THE_COMPILER.get(where(path), set())


@pytest.mark.parametrize("path", FILES, ids=where)
def test_kernels_compare_two_numbers_at_a_time(path: Path) -> None:
    """A device knows the larger and the smaller of two; `max` of three compiles everywhere but there."""
    kernels = (
        node for node in ast.walk(parsed(path))
        if isinstance(node, ast.FunctionDef) and {ast.unparse(mark) for mark in node.decorator_list} & MARKS
    )  # fmt: skip
    assert not [
        f"line {call.lineno}: {ast.unparse(call)}"
        for kernel in kernels
        for call in ast.walk(kernel)
        if isinstance(call, ast.Call) and ast.unparse(call.func) in ("max", "min") and len(call.args) != 2
    ]


@pytest.mark.parametrize("path", FILES, ids=where)
def test_only_the_estimate_reads_its_matrix(path: Path) -> None:
    """So that another way to keep G touches no rule: all others ask for a column, the diagonal or a norm."""
    read = [node.lineno for node in ast.walk(parsed(path)) if isinstance(node, ast.Attribute) and node.attr == "G"]
    assert not read or where(path) == "core/estimate"


@pytest.mark.parametrize("path", FILES, ids=where)
def test_the_truth_is_out_of_reach(path: Path) -> None:
    if where(path) in KNOWS_THE_TRUTH or part(path) in KNOWS_THE_TRUTH:
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


@pytest.mark.parametrize("path", FILES, ids=where)
def test_a_long_file_gives_its_reason(path: Path) -> None:
    text = path.read_text()
    reason = " ".join((ast.get_docstring(ast.parse(text)) or "").split())
    assert len(text.splitlines()) <= LONGEST or "long because" in reason


def test_everything_is_at_most_two_folders_deep() -> None:
    deep = [where(path) for path in FILES if where(path).count("/") > 1]
    assert all(place.startswith("storage/migrations/") for place in deep)


def test_what_the_tests_say_is_in_the_package_is_there() -> None:
    """A name that is gone must not stay on a list here, where it would permit what nobody meant."""
    parts = {part(path) for path in FILES}
    assert set(MAY_IMPORT) | {"__init__"} == parts
    assert all(permitted <= parts for permitted in MAY_IMPORT.values())
    for place in (*KNOWS_THE_TRUTH, *KNOWS_THE_COMPILER, *(f"core/{name}" for name in COMPILATION)):
        assert [path for path in FILES if where(path).startswith(place)], place


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
