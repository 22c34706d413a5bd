"""What is written as JSON can be read as JSON, whatever the numbers are."""

from surefoot.cli.output import told
from surefoot.errors import NumericalBreakdown


def test_an_error_is_told_in_one_line_whatever_it_is() -> None:
    assert told(OSError(28, "No space left on device", "runs.csv")) == "No space left on device: runs.csv"
    assert "surefoot itself failed (ZeroDivisionError: division by zero)" in told(
        ZeroDivisionError("division\nby zero")
    )
    assert told(NumericalBreakdown("the estimates", 3)) == str(NumericalBreakdown("the estimates", 3))
    assert told(KeyboardInterrupt()).startswith("Interrupted")
