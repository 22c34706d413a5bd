"""An error is told in one line, or as one document, whatever it is."""

import pytest

from surefoot.cli.output import Output, documented, told
from surefoot.errors import InvalidInput, NumericalBreakdown
from surefoot.progress import compiling


def test_an_error_is_told_in_one_line_whatever_it_is() -> None:
    assert told(OSError(28, "No space left on device", "runs.csv")) == "No space left on device: runs.csv"
    assert "surefoot itself failed (ZeroDivisionError: division by zero)" in told(
        ZeroDivisionError("division\nby zero")
    )
    assert told(MemoryError("Unable to allocate 6.94 EiB")).startswith("There is not enough memory for this (Unable to")
    assert told(NumericalBreakdown("the estimates", 3)) == str(NumericalBreakdown("the estimates", 3))
    assert told(KeyboardInterrupt()).startswith("Interrupted")


def test_an_error_as_a_document_has_the_same_keys_whatever_it_is() -> None:
    refused = documented(InvalidInput("--runs", 0, "must be at least 1", "Give more."))
    assert (refused["kind"], refused["field"], refused["value"], refused["remedy"]) == (
        "InvalidInput", "--runs", 0, "Give more."
    )  # fmt: skip
    full = documented(OSError(28, "No space left on device", "runs.csv"))
    assert (full["kind"], full["message"], full["facts"]) == ("OSError", "No space left on device: runs.csv", {})
    assert set(full) == set(refused) == set(documented(KeyboardInterrupt()))


@pytest.mark.parametrize("wish", ["json", "quiet"])
def test_nobody_is_told_of_compilation_who_wants_no_progress(wish: str, capsys: pytest.CaptureFixture[str]) -> None:
    for output, told_of in ((Output(), True), (Output(**{wish: True}), False)):
        with output.heeding_silence(), compiling("safe-gap", 3):
            pass
        assert ("compiling safe-gap" in capsys.readouterr().err) is told_of
