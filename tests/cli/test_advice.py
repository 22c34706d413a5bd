"""Who types is told what to type: no error on the command line gives advice for Python."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import surefoot as sf
from prompt import Done, prompt_in
from surefoot import errors
from surefoot.cli.advice import REMEDIES, in_typed_words
from surefoot.errors import Advised, SurefootError
from surefoot.policies import default_policy

Write = Callable[[str, str], str]
PYTHON = re.compile(
    r"\bsf\.|\b(load|create)_study|\w\((\.\.\.|\)|\w+, |\w+=)|=True|\bPass |Problem\.|session\.|\.add\("
)


@pytest.fixture
def here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], write: Write, pumps: str
) -> Callable[..., Done]:
    """What a command line does in a folder with a problem file and a study of two open pulls, one of them closed."""
    typed = prompt_in(tmp_path, monkeypatch, capsys)
    write("pumps.toml", pumps)
    write("other.toml", pumps.replace("epsilon = 0.3", "epsilon = 0.2"))
    write("arms.toml", pumps.replace("1.0", "2.0"))
    write("no_limits.toml", "safety = []\n" + pumps[: pumps.index("[[safety]]")])
    write("grid.toml", "level_grid = []\n" + pumps)
    write("hard.toml", pumps + '[world]\nname = "hard"\n')
    write("broken.toml", "epsilon = = 3")
    study = sf.create_study(sf.Problem.load("pumps.toml"), name="pumps", max_pulls=2)
    study.ask(2)
    study.cancel(1, "broken", not_because_of_result=True)
    frozen = sf.create_study(sf.Problem.load("pumps.toml"), name="frozen")
    frozen.freeze("smoke", "Ada")
    ended = sf.create_study(sf.Problem.load("pumps.toml"), name="ended", max_pulls=1)
    ended.tell(ended.ask(), reward=0.1, safety=5.1)
    return typed


TELL = ("--reward", "0.4", "--safety", "6.1")
REFUSED = {
    ("study", "create", "pumps", "pumps.toml"): "--load-if-exists",
    ("study", "create", "pumps", "other.toml", "--load-if-exists"): "surefoot study ask pumps",
    ("study", "create", "new", "arms.toml", "--warm-start", "ended"): "",
    ("study", "create", "new", "pumps.toml", "--max-pulls", "0"): "--max-pulls = 0",
    ("study", "create", "new", "pumps.toml", "--alarm-level", "2"): "--alarm-level = 2",
    ("study", "create", "new", "pumps.toml", "--intake", "odd"): "--intake = 'odd'",
    ("study", "create", "new", "pumps.toml", "--storage", "mysql://x"): "--storage",
    ("study", "create", " ", "pumps.toml"): "STUDY = ' '",
    ("study", "create", "new", "no_limits.toml"): "leave delta_safety out where there are none",
    ("study", "create", "new", "grid.toml"): "Leave it out where the dial takes every level",
    ("study", "create", "new", "broken.toml"): "surefoot show --help",
    ("study", "ask", "pumps", "-n", "0"): "--count = 0",
    ("study", "ask", "frozen"): "surefoot study release frozen --reason",
    ("study", "ask", "ended"): "surefoot study show",
    ("study", "ask", "frozen", "-n", "2000"): "--count = 2000",
    ("study", "ask", "frozen", "--worker", ""): "--worker",
    ("study", "tell", "frozen", "1", *TELL): "surefoot study ask",
    ("study", "tell", "pumps", "1", *TELL): "surefoot study add",
    ("study", "tell", "pumps", "2", "--reward", "nan", "--safety", "6.1"): "--reward",
    ("study", "tell", "pumps", "2", *TELL, "--safety", "7"): "--safety",
    ("study", "add", "pumps", "pump A", "0.1", *TELL): "Add --not-because-of-result",
    ("study", "add-table", "pumps", "table.csv", "--not-because-of-result"): 'State --order "as measured"',
    ("study", "cancel", "pumps", "2", "--reason", "why"): "--not-because-of-result",
    ("study", "freeze", "pumps", "--reason", ""): "--reason",
    ("study", "expire", "pumps", "--not-because-of-result"): "--older-than",
    ("study", "release", "pumps", "--reason", "why"): "not frozen",
    ("study", "show", "nobody"): "check the name",
    ("study", "export", "pumps", "pumps.csv"): ".study or .zip",
    ("study", "import", "pumps.toml"): "",
    ("run", "pumps.toml"): "surefoot study create",
    ("run", "hard.toml"): "theta_star",
    ("simulate", "--workers", "0"): "For example 4; leave it out for all cores",
    ("simulate", "--runs", "0"): "--runs = 0",
}


@pytest.mark.parametrize(("words", "advice"), REFUSED.items(), ids=lambda value: str(value)[:60])
def test_an_error_on_the_command_line_says_what_to_type(
    here: Callable[..., Done], words: tuple[str, ...], advice: str
) -> None:
    done = here(*words)
    assert done.status not in (0, 5)
    assert advice in " ".join(done.err.split())
    assert not PYTHON.search(done.err), done.err
    told = json.loads(here(*words, "--json").out)["error"]
    assert told["message"] == " ".join(done.err.removeprefix("error: ").split())
    assert not PYTHON.search(str(told["remedy"]))


def test_every_error_with_advice_for_python_has_some_for_the_command_line() -> None:
    advised = {kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Advised)}
    far = "reward = 56, where 1 to 8 was to be expected"
    made: list[SurefootError] = [
        errors.Finished("certified", 3), errors.StudyExists("power", "memory"), errors.StudyDiffers("power", "seed"),
        errors.Frozen("power", "smoke", "Ada"), errors.PolicyNeeded("power", "mine", "mine:Mine"),
        errors.OtherVersion("power", ["one"]), errors.PullClosed(3, "stale", "nobody"), errors.NotOpen(3, []),
        errors.NotOpen(3, [4]), errors.Recalled(3, "recalled", "corrected"), errors.PullClosed(3, "voided", "spilt"),
        errors.Implausible(3, "pump A", 0.2, [far], True, True), errors.Held(3, far, "Ada", True),
        errors.PullHeld(3, far), errors.NotTold(3, "open"), errors.NotTold(3, "voided"), errors.NotTold(3, "stale"),
        errors.AlreadyTold(3, 1.0, 2.0), errors.Alarmed(far),
    ]  # fmt: skip
    assert {type(error) for error in made} >= advised - {Advised}
    assert set(REMEDIES) <= advised
    for error in made:
        assert not PYTHON.search(in_typed_words(error)["message"])


@pytest.mark.parametrize("command", [("run",), ("simulate",), ("study", "create")])
def test_the_help_names_the_real_defaults(here: Callable[..., Done], command: tuple[str, ...]) -> None:
    shown = " ".join(here(*command, "--help").out.split())
    name = default_policy().name
    assert f"the policy is {name} unless" in shown.replace("The policy", "the policy")
    assert f"{name} (the default)" in shown
    assert "(the default)" not in shown.replace(f"{name} (the default)", "")
    for field in ("levels", "selection"):
        assert f"Default: {getattr(sf.SafeLinGapE(), field)}." in shown
