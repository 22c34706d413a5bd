"""Where an experiment stands, in words that begin with what is wrong."""

from collections.abc import Sequence

from surefoot.errors import counted
from surefoot.live.certificate import Certificate
from surefoot.live.pulls import Outcome

ENDED: dict[str, str] = {
    "measured": "It stopped by a threshold without a proof after {pulls}. Nothing is promised, or certified.",
    "undecided": "The budget is spent after {pulls}, and nothing is certified.",
    "contradiction": (
        "The data rule out every model that the problem allows, after {pulls}: check its noise, norms and limits. "
        "Nothing is certified."
    ),
    "breakdown": "The numbers failed after {pulls}, and nothing is certified.",
}


def statement_of(outcome: Outcome | None, pulls: int, alarms: Sequence[str], certificate: Certificate | None) -> str:
    """The statement of an experiment with this outcome."""
    if alarms:
        return f"The data contradict what the problem states: {'; '.join(alarms)}. Nothing is certified."
    if certificate is not None:
        return certificate.statement
    if outcome in ENDED:
        return ENDED[outcome].format(pulls=counted(pulls, "result"))
    return f"Nothing is certified yet, after {counted(pulls, 'result')}."
