"""`surefoot run`: one experiment on a simulated world, the answer with its certificate, and LinGapE beside it."""

from __future__ import annotations

from surefoot import __version__, policies
from surefoot.certificate import Certificate, rounded_down
from surefoot.cli import exits
from surefoot.cli.live import tell_if_compiling, unwatched, watched
from surefoot.cli.output import Output
from surefoot.cli.scenario import Scenario
from surefoot.cli.trial import Trial, carried_out
from surefoot.policies import LinGapE

PROMISES = {
    "within-epsilon": "within epsilon of the best safe option",
    "proposition-1": "Proposition 1",
    "without-limits": "within epsilon of the best, limits ignored",
}


def run_once(output: Output, scenario: Scenario, seed: int, max_pulls: int, compare: bool) -> int:
    """The exit status of one experiment, once it is carried out and told."""
    tell_if_compiling(output)
    title = f"{scenario.policy.name} on {scenario.world.name}, seed {seed}"
    with watched(output, title) as watch:
        trial = carried_out(scenario, scenario.policy, seed, max_pulls, watch)
    beside = None
    if compare and scenario.policy.keeps_limits:
        beside = carried_out(scenario, LinGapE(), seed, max_pulls, unwatched)
    if output.json:
        output.document(document(scenario, seed, max_pulls, trial, beside))
    else:
        tell_answer(output, trial)
        tell_comparison(output, [trial, beside] if beside else [trial])
    return exits.BY_OUTCOME[trial.session.outcome or "undecided"]


def document(scenario: Scenario, seed: int, max_pulls: int, trial: Trial, beside: Trial | None) -> dict[str, object]:
    """Everything about the experiment, for a program to read."""
    return {
        "surefoot": __version__,
        "world": scenario.world.name,
        "problem": {"fingerprint": scenario.problem.fingerprint, **scenario.problem.to_dict()},
        "seed": seed,
        "max_pulls": max_pulls,
        **trial.to_dict(),
        "beside": beside.to_dict() if beside else None,
    }


def tell_answer(output: Output, trial: Trial) -> None:
    """Prints the answer and its certificate, or why there is none."""
    from rich.text import Text

    session, certificate = trial.session, trial.session.certificate
    output.out.print()
    if certificate is None:
        reasons = {
            "undecided": f"the budget of {session.pulls:,} pulls is spent",
            "contradiction": "the data rule out every model that the problem allows: check its noise, norms and limits",
        }
        why = reasons.get(session.outcome or "", str(session.outcome))
        output.out.print(Text.assemble(("No answer: ", "bold yellow"), f"{why}. Nothing is certified."))
        return
    answer = session.recommendation
    said = Text.assemble(("Answer  ", "bold green"), (certificate.name, "bold"))
    if certificate.arm >= 0:
        said.append(f" at level {rounded_down(certificate.level)}")
    if answer is None:
        said.append(", not certified safe", style="yellow")
    else:
        said.append(f", reward about {answer.estimate:.4g}")
    output.out.print(said)
    tell_certificate(output, certificate)


def tell_certificate(output: Output, certificate: Certificate) -> None:
    """Prints the numbers of the certificate, its promise in words, and what it rests on."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    numbers = Table(box=None, pad_edge=False, show_header=False)
    for label, shown in (
        ("epsilon", f"{certificate.epsilon:.6g}"), ("gap at stop", f"{certificate.gap:.6g}"),
        ("delta", f"{certificate.delta:g}"), ("delta_safety", f"{certificate.delta_safety:g}"),
        ("pulls", f"{certificate.pulls:,}"), ("promise", PROMISES[certificate.guarantee]),
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


def tell_comparison(output: Output, trials: list[Trial]) -> None:
    """Prints how each experiment looks to one who knows the truth."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("policy")
    for title in ("pulls", "unsafe pulls", "answer", "safe", "shortfall"):
        table.add_column(title, justify="right")
    for trial in trials:
        verdict, found = trial.verdict, trial.session.certificate
        safe = {True: Text("yes", "green"), False: Text("no", "red"), None: Text("-")}[verdict.answer_safe]
        unsafe = f"{verdict.unsafe_pulls:,} ({100 * trial.unsafe_share:.1f} %)"
        table.add_row(
            trial.session.policy.name,
            f"{trial.session.pulls:,}",
            Text(unsafe, "red" if verdict.unsafe_pulls else "green"),
            "none" if found is None else found.name + (f" at {rounded_down(found.level)}" if found.arm >= 0 else ""),
            safe,
            "-" if verdict.shortfall is None else f"{verdict.shortfall:.4g}",
        )
    output.out.print()
    output.out.print(Text("Held against the truth of the world", "bold"))
    output.out.print(table)
    for trial in trials:
        output.out.print(Text(policies.describe(trial.session.policy), "dim"), soft_wrap=not output.out.is_terminal)
