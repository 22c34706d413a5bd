"""What is written as JSON can be read as JSON, whatever the numbers are."""

import numpy as np

from surefoot.cli.output import plain, told
from surefoot.errors import NumericalBreakdown


def test_arrays_become_lists_and_what_is_not_finite_becomes_null() -> None:
    table = {"a": np.array([1.0, np.nan]), "b": np.float64(np.inf), 3: (np.int64(4), None, True), "c": {"d": -np.inf}}
    assert plain(table) == {"a": [1.0, None], "b": None, "3": [4, None, True], "c": {"d": None}}


def test_an_error_is_told_in_one_line_whatever_it_is() -> None:
    assert told(OSError(28, "No space left on device", "runs.csv")) == "No space left on device: runs.csv"
    assert "surefoot itself failed (ZeroDivisionError: division by zero)" in told(
        ZeroDivisionError("division\nby zero")
    )
    assert told(NumericalBreakdown("the estimates", 3)) == str(NumericalBreakdown("the estimates", 3))
    assert told(KeyboardInterrupt()).startswith("Interrupted")
