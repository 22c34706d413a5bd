"""What is shown while one waits: on standard error, only when wanted, and whatever the names are."""

import io
import subprocess
import sys

import pytest
from rich.console import Console

from surefoot.progress import changing_line, many_bars, one_bar

ODD = "pumps [/red] [b]"  # what rich would take for markup


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Standard error as if someone looked at it."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")


@pytest.mark.parametrize("wanted", [True, False])
def test_a_bar_goes_to_standard_error_only_when_wanted(capsys: pytest.CaptureFixture[str], wanted: bool) -> None:
    with one_bar(wanted, f"runs of {ODD}", 5) as advance:
        for count in (2, 3):
            advance(count)
    out, err = capsys.readouterr()
    assert out == ""
    assert (f"runs of {ODD}" in err) == wanted
    assert ("5/5" in err) == wanted


@pytest.mark.parametrize("wanted", [True, False])
def test_a_line_goes_to_standard_error_only_when_wanted(capsys: pytest.CaptureFixture[str], wanted: bool) -> None:
    with changing_line(wanted, ODD) as show:
        show(f"{ODD}: pull 1")
    out, err = capsys.readouterr()
    assert out == ""
    assert (f"{ODD}: pull 1" in err) == wanted


def test_every_label_has_a_bar_of_its_own_that_stays() -> None:
    seen = io.StringIO()
    with many_bars(Console(file=seen)) as show:
        for label, done, total in (("table1", 0, 40), ("table1", 40, 40), ("fig-a", 3, 60), ("fig-a", 60, 60)):
            show(label, done, total)
    left = "".join(seen.getvalue().splitlines()[-3:])
    for words in ("table1", "40/40", "fig-a", "60/60"):
        assert words in left


def test_nothing_is_loaded_for_what_is_not_shown() -> None:
    program = (
        "import sys; from surefoot.progress import changing_line, one_bar\n"
        "with one_bar(False, 'x', 1) as a, changing_line(False, 'x') as b: a(1); b('y')\n"
        "print('rich' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
