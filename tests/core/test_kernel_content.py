"""A policy in a user's own file: whatever is edited in it, or in what it uses, its old kernel never runs again."""

import os
import subprocess
import sys
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.core.compiler import reachable
from surefoot.core.kernel import kernel, rare
from surefoot.core.kernel_content import digest_of
from surefoot.core.loop import replay
from surefoot.policies.bound import faced, parts_of
from surefoot.sets.linked import of_first, of_rest

POLICY = '''
"""Arms in turn, at one level."""
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

import surefoot as sf
from surefoot.core.grams import multiples_of_identity
from surefoot.core.kernel import kernel
from surefoot.core.types import DECIDING, NULL, PULL, ROUND, Decision
from surefoot.policies import Plan
from surefoot.sets import ellipsoid
from turns import turn

LEVEL = 0.15


class Rules(NamedTuple):
    first: int


@kernel
def decide(inst, rules, state, work, seed, run):
    k = turn(state.clock[ROUND] + rules.first, len(inst.X))
    return Decision(PULL, DECIDING, k, LEVEL, NULL, 0.0, NULL, 1e9)


@dataclass(frozen=True)
class InTurn:
    name: ClassVar[str] = "in-turn"
    version: ClassVar[int] = 1

    def guarantee(self, problem):
        return sf.SafeGap().guarantee(problem)

    def plan(self, problem):
        n = 1 + len(problem.safety)
        grams = multiples_of_identity(np.ones(n), problem.features.shape[1])
        ball = ellipsoid.params_of(problem.features, np.ones(n), grams, [0] * n, np.full(n, 0.05))
        return Plan(decide, Rules(0), grams, ellipsoid.ellipsoid(ball))
'''
TURNS = """
from surefoot.core.kernel import kernel


@kernel
def turn(t, K):
    return (t + 0) % K
"""
SESSION = """
import surefoot as sf
from in_turn import InTurn
pull = sf.Session(sf.worlds.limited().default_problem(), InTurn(), alarm_level=None).ask()
print(pull.arm, pull.level)
"""


def run(folder: Path, program: str) -> str:
    """What the program prints, with the files of that folder at hand and compiled code kept beside them."""
    path = os.pathsep.join([str(folder), *(os.environ.get("PYTHONPATH") or "").split(os.pathsep)])
    settings = os.environ | {"PYTHONPATH": path, "SUREFOOT_CACHE": str(folder / "cache")}
    settings["PYTHONDONTWRITEBYTECODE"] = "1"  # bytecode goes by dates, and the dates below are forged
    done = subprocess.run([sys.executable, "-c", program], env=settings, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def stored(folder: Path) -> int:
    """How many kernels are kept."""
    return len(list((folder / "cache").rglob("*.nbi")))


def edit(path: Path, old: str, new: str) -> None:
    """Edits the file and leaves its date as it was."""
    stamp, source = path.stat(), path.read_text()
    assert source.count(old) == 1
    path.write_text(source.replace(old, new))
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))


def test_an_edited_policy_file_never_runs_its_old_kernel(tmp_path: Path) -> None:
    (tmp_path / "in_turn.py").write_text(POLICY)
    (tmp_path / "turns.py").write_text(TURNS)
    assert run(tmp_path, SESSION) == "0 0.15"
    assert (run(tmp_path, SESSION), stored(tmp_path)) == ("0 0.15", 1)
    edit(tmp_path / "in_turn.py", "LEVEL = 0.15", "LEVEL = 0.12")
    assert (run(tmp_path, SESSION), stored(tmp_path)) == ("0 0.12", 2)
    edit(tmp_path / "turns.py", "t + 0", "t + 1")
    assert (run(tmp_path, SESSION), stored(tmp_path)) == ("1 0.12", 3)
    edit(tmp_path / "turns.py", "t + 1", "t + 0")
    assert (run(tmp_path, SESSION), stored(tmp_path)) == ("0 0.12", 3)  # what was compiled before is found again


# -- whatever can be edited -------------------------------------------------------------------------------------------

ENTRY = """
from surefoot.core.kernel import kernel
from foreign import value


@kernel
def entry(x):
    return value(x)
"""
PROGRAM = """
from surefoot.core.compiler import compiled
from entering import entry
print(compiled(entry, {}, "entry")(2.0))
"""
HEAD = """
from math import sqrt
import numpy as np
from surefoot.core.kernel import kernel
"""
EDITS = {  # a file, what is edited in it, and whether its kernel can be kept
    "a constant in the code": ("@kernel\ndef value(x):\n    return 3.0 * x", ("3.0", "5.0"), True),
    "a global number": ("GAIN = 3.0\n@kernel\ndef value(x):\n    return GAIN * x", ("3.0", "5.0"), True),
    "a global tuple": ("GAIN = (1.0, 3.0)\n@kernel\ndef value(x):\n    return GAIN[1] * x", ("3.0", "5.0"), True),
    "a global array": ("G = np.array([3.0])\n@kernel\ndef value(x):\n    return G[0] * x", ("3.0", "5.0"), True),
    "a long array in a tuple": (
        "G = (np.where(np.arange(4000) == 1500, 3.0, 0.0), 1.0)\n@kernel\ndef value(x):\n    return G[0][1500] * x",
        ("1500, 3.0", "1500, 5.0"), True,
    ),
    "the type of an array": (
        "G = np.array([3], np.int64)\n@kernel\ndef value(x):\n    return G[0] * x",
        ("np.array([3], np.int64)", "np.array([3], np.int64).view(np.float64) + 5.0"), True,
    ),
    "the fields of a global tuple": (
        "from typing import NamedTuple\nclass Gains(NamedTuple):\n    a: float\n    b: float\n"
        "G = Gains(3.0, 5.0)\n@kernel\ndef value(x):\n    return G.a * x",
        ("a: float\n    b: float", "b: float\n    a: float"), True,
    ),
    "the fields of records": (
        "G = np.array([(3.0, 5.0)], [('a', float), ('b', float)])\n@kernel\ndef value(x):\n    return G['a'][0] * x",
        ("('a', float), ('b', float)", "('b', float), ('a', float)"), True,
    ),
    "a default": (
        "@kernel\ndef scaled(x, by=3.0):\n    return by * x\n@kernel\ndef value(x):\n    return scaled(x)",
        ("3.0", "5.0"), True,
    ),
    "a closure": (
        "def made(gain):\n    @kernel\n    def scaled(x):\n        return gain * x\n    return scaled\n"
        "scaled = made(3.0)\n@kernel\ndef value(x):\n    return scaled(x)",
        ("3.0", "5.0"), True,
    ),
    "a function within": (
        "@kernel\ndef value(x):\n    def inner(y):\n        return 3.0 * y\n    return inner(x)", ("3.0", "5.0"), True,
    ),
    "which kernel a name stands for": (
        "@kernel\ndef three(x):\n    return 3.0 * x\n@kernel\ndef five(x):\n    return 5.0 * x\n"
        "chosen, other = three, five\n@kernel\ndef value(x):\n    return chosen(x) + 0.0 * other(x)",
        ("three, five", "five, three"), True,
    ),
    "a known function": (
        "R, G = np.minimum, 3.0\n@kernel\ndef value(x):\n    return R(3.0, 5.0) * x * sqrt(1.0) * max(1.0, 0.5)",
        ("np.minimum", "np.maximum"), True,
    ),
    "a module of constants": (
        "import foreign as own\nGAIN = 3.0\n@kernel\ndef value(x):\n    return own.GAIN * x", ("3.0", "5.0"), False,
    ),
    "a function of numba's own": (
        "import numba\n@numba.njit\ndef scaled(x):\n    return 3.0 * x\n@kernel\ndef value(x):\n    return scaled(x)",
        ("3.0", "5.0"), False,
    ),
}  # fmt: skip


EACH_APART = f"""
import os, sys, traceback
from surefoot.core import compiler
compiler._linking()
for folder in sys.argv[1:]:
    if os.fork():
        os.wait()
        continue
    sys.path.insert(0, folder)
    os.environ["SUREFOOT_CACHE"] = os.path.join(folder, "cache")
    sys.stdout = open(os.path.join(folder, "printed"), "w")
    try:
        exec({PROGRAM!r})
    except BaseException:
        traceback.print_exc(file=sys.stdout)
    sys.stdout.close()
    os._exit(0)
"""


def printed(folders: list[Path]) -> list[tuple[str, int]]:
    """What the program prints with the files of each folder, and how many kernels are kept there then. Each has a
    process of its own, split off one that has loaded the compiler and compiled nothing: to load it takes longest."""
    command = [sys.executable, "-c", EACH_APART, *map(str, folders)]
    subprocess.run(command, env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}, timeout=240, check=True)
    return [((folder / "printed").read_text().strip(), stored(folder)) for folder in folders]


@pytest.fixture(scope="module")
def edited(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[str, int]]]:
    """What was printed and kept before each of the edits, and after it."""
    folders = []
    for source, _, _ in EDITS.values():
        folders.append(tmp_path_factory.mktemp("edited"))
        (folders[-1] / "foreign.py").write_text(HEAD + source + "\n")
        (folders[-1] / "entering.py").write_text(ENTRY)
    before = printed(folders)
    for folder, (_, (old, new), _) in zip(folders, EDITS.values(), strict=True):
        edit(folder / "foreign.py", old, new)
    return dict(zip(EDITS, map(list, zip(before, printed(folders), strict=True)), strict=True))


@pytest.mark.parametrize("what", EDITS)
def test_whatever_is_edited_is_compiled_anew(edited: dict[str, list[tuple[str, int]]], what: str) -> None:
    """Where the content of something cannot be told, nothing is kept."""
    kept = EDITS[what][2]
    assert edited[what] == [("6.0", 1 if kept else 0), ("10.0", 2 if kept else 0)]


# -- the tuples that it is called with --------------------------------------------------------------------------------

TUPLES = """
from typing import NamedTuple
from surefoot.core.kernel import kernel


class Rules(NamedTuple):
    gain: float
    other: float


@kernel
def value(rules, x):
    return rules.gain * x


rules = Rules(gain=3.0, other=5.0)
"""
CALLING = """
from surefoot.core.compiler import compiled
print(compiled(value, {}, "value", None, ((rules,), 1))(rules, 2.0))
"""


def test_a_field_that_has_moved_is_not_read_from_where_it_was(tmp_path: Path) -> None:
    (tmp_path / "foreign.py").write_text(TUPLES)
    calling = "from foreign import rules, value" + CALLING
    assert (run(tmp_path, calling), stored(tmp_path)) == ("6.0", 1)
    edit(tmp_path / "foreign.py", "    gain: float\n    other: float", "    other: float\n    gain: float")
    assert (run(tmp_path, calling), stored(tmp_path)) == ("6.0", 2)
    assert (run(tmp_path, calling), stored(tmp_path)) == ("6.0", 2)


def test_a_tuple_that_was_renamed_or_is_gone_hinders_nobody(tmp_path: Path) -> None:
    (tmp_path / "foreign.py").write_text(TUPLES)
    calling = "from foreign import rules, value" + CALLING
    assert run(tmp_path, calling) == "6.0"
    (tmp_path / "foreign.py").write_text(TUPLES.replace("Rules", "Options"))
    assert run(tmp_path, calling) == "6.0"


def test_tuples_that_no_other_process_would_find_leave_nothing_on_disk(tmp_path: Path) -> None:
    assert (run(tmp_path, TUPLES + CALLING), stored(tmp_path)) == ("6.0", 0)


# -- our own functions ------------------------------------------------------------------------------------------------


def bound_digest(policy: Any, world: sf.worlds.Linear) -> str:
    parts = parts_of(faced(policy, world.default_problem()).plan)
    return digest_of(reachable(replay, parts), parts)


def test_one_compiled_form_serves_every_problem_and_every_option() -> None:
    small, large = sf.worlds.limited(), sf.worlds.base_station()
    plain, other = sf.SafeLinGapE(), sf.SafeLinGapE(reward_radius="bias-free", safety_radius="own-pulls")
    digests = {bound_digest(policy, world) for policy in (plain, other) for world in (small, large)}
    assert len(digests) == 1
    assert len(digests | {bound_digest(sf.SafeGap(), small), ""}) == 3


def naming(thing: object) -> FunctionType:
    """A function that names a thing."""

    def value() -> object:
        return thing

    return value  # type: ignore[return-value]


def shadowing() -> ModuleType:
    """A module of the user's own that bears the name of one of Python's."""
    module = ModuleType("profile")
    module.__file__ = str(Path(__file__).with_name("profile.py"))
    return module


UNTOLD = {
    "a list": [3.0], "an object": object(), "an array of objects": np.array([object()]), "a function": naming,
    "a module by a known name": shadowing(),
}  # fmt: skip


@pytest.mark.parametrize("thing", UNTOLD.values(), ids=UNTOLD)
def test_a_thing_whose_content_cannot_be_told_leaves_no_digest(thing: object) -> None:
    assert digest_of([naming(thing)], {}) == ""
    assert digest_of([naming((1.0, thing))], {}) == ""


def test_different_things_have_different_digests_and_equal_ones_the_same() -> None:
    things = [None, True, 1, 1.0, -0.0, 0.0, "1", (1,), (1.0,), np.float64(1), np.ones(1), np.ones((1, 1)), np, np.sin]
    digests = [digest_of([naming(thing)], {}) for thing in things]
    assert all(digests)
    assert len(set(digests)) == len(things)
    assert digests == [digest_of([naming(thing)], {}) for thing in things]


@kernel
def asking() -> float:
    return float(of_first() - of_rest())


def test_parts_that_changed_their_slots_and_marks_have_another_digest() -> None:
    """The same functions in the same order: only who is whose tells them apart."""
    one, two = kernel(naming(1.0)), kernel(naming(2.0))
    parts, swapped = {"of_first": one, "of_rest": two}, {"of_first": two, "of_rest": one}
    digests = [digest_of([asking, one, two], bound) for bound in (parts, swapped)]
    digests.append(digest_of([asking, one, rare(two)], parts))
    assert len(set(digests)) == 3
    assert digest_of([asking, one, kernel(two)], parts) == digests[0]
