"""The answer of an experiment on the terminal, with its certificate."""

from __future__ import annotations

from collections.abc import Sequence

from surefoot.cli.output import Output
from surefoot.live.certificate import Certificate
from surefoot.live.pulls import Recommendation
from surefoot.problem.units import reading_in_words

PROMISES = {
    "within-epsilon": "within epsilon of the best safe option",
    "proposition-1": "Proposition 1",
    "without-limits": "within epsilon of the best, limits ignored",
    "safe-answer": "a safe answer within epsilon of the best, limits ignored while learning",
    "within-reserve": "within epsilon of what keeps a tenth of every limit in reserve",
    "measured": "none: it stops by a threshold without a proof",
}


def promise_in_words(kind: str, limits: bool = True) -> str:
    """The promise of this kind in a few words; a policy of the user's own may have a word of its own."""
    if not limits and kind in ("within-epsilon", "without-limits"):
        return "within epsilon of the best option"
    return PROMISES.get(kind, kind)


def tell_answer(
    output: Output, outcome: str | None, pulls: int, certificate: Certificate | None, answer: Recommendation | None,
    alarms: Sequence[str] = (), unit: str | None = None,
) -> None:  # fmt: skip
    """Prints the answer and its certificate, or why there is none; the unit is that of the reward."""
    from rich.text import Text

    output.out.print()
    if certificate is None:
        reasons = {
            "measured": "the policy stops by a threshold without a proof, which gives no certificate",
            "undecided": f"the budget of {pulls:,} pulls is spent",
            "alarm": f"the data contradict what the problem states ({'; '.join(alarms)})",
            "contradiction": "the data rule out every model that the problem allows: check its noise, norms and limits",
        }
        why = reasons.get(outcome or "", str(outcome))
        output.out.print(Text.assemble(("No answer: ", "bold yellow"), f"{why}. Nothing is certified."))
        return
    said = Text.assemble(("Answer  ", "bold green"), (certificate.name, "bold"))
    if certificate.arm >= 0:
        said.append(f" at {certificate.at}")
    if answer is None:
        said.append(", not certified safe", style="yellow")
    else:
        said.append(f", reward about {reading_in_words(answer.estimate, unit, 4)}")
    output.out.print(said)
    tell_certificate(output, certificate)


def tell_certificate(output: Output, certificate: Certificate) -> None:
    """Prints the numbers of the certificate, its promise in words, and what it rests on."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    numbers = Table(box=None, pad_edge=False, show_header=False)
    head = [("head", certificate.head)] if certificate.head else []
    for label, shown in (
        ("epsilon", f"{certificate.epsilon:.6g}"), ("gap at stop", f"{certificate.gap:.6g}"),
        ("delta", f"{certificate.delta:g}"),
        *((("delta_safety", f"{certificate.delta_safety:g}"),) if certificate.delta_safety else ()),
        ("pulls", f"{certificate.pulls:,}"),
        ("promise", promise_in_words(certificate.guarantee, certificate.delta_safety > 0.0)),
        *head,
    ):  # fmt: skip
        numbers.add_row(Text(label, "dim"), shown)
    out = output.out
    out.print()
    out.print(Text("Certificate", "bold"))
    out.print(Padding(numbers, (0, 0, 0, 2)))
    out.print(Padding(Text(certificate.statement), (1, 0, 1, 2)))
    out.print(Padding(Text("It rests on:", "dim"), (0, 0, 0, 2)))
    for assumption in certificate.assumptions:
        out.print(Padding(Text(f"- {assumption}"), (0, 0, 0, 2)))
    if certificate.data:
        out.print(Padding(Text("Data:", "dim"), (1, 0, 0, 2)))
    for note in certificate.data:
        out.print(Padding(Text(f"- {note}"), (0, 0, 0, 2)))
