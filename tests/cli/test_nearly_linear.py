"""Nearly linear means on the command line: what stays open is said before the first trial, and in a study."""

from collections.abc import Callable
from typing import Any

Typed = Callable[..., Any]
Write = Callable[[str, str], str]


def test_what_stays_open_is_shown_before_and_while_trials_are_made(
    typed: Typed, write: Write, pumps: str, strict_json: Callable[[str], Any]
) -> None:
    file = write("pumps.toml", pumps.replace("baseline = 5.0", "baseline = 5.0\nwithin = 0.2"))
    shown = typed("show", file)
    assert shown.returncode == 0, shown.stderr
    words = " ".join(shown.stdout.split())
    assert "linear within 0.2" in words
    assert "about 29 % of its value stays open" in words
    (said,) = strict_json(typed("show", file, "--json").stdout)["open"]
    assert "stays open" in said
    store = ("--storage", "sqlite:///lab.db")
    assert typed("study", "create", "lab", file, *store).returncode == 0
    assert "stays open" in " ".join(typed("study", "show", "lab", *store).stdout.split())
    assert "stays open" not in typed("show", write("linear.toml", pumps)).stdout
