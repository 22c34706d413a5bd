"""`surefoot run`: one experiment on a simulated world, the answer with its certificate, and LinGapE beside it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from surefoot import __version__, policies
from surefoot.cli import exit_codes
from surefoot.cli.answers import tell_answer
from surefoot.cli.choosing import Scenario
from surefoot.cli.compiling_ahead import CompilingAhead
from surefoot.cli.live import Watch, unwatched, watched
from surefoot.cli.output import Output
from surefoot.cli.posed import in_brief
from surefoot.live.certificate import Certificate
from surefoot.live.session import Session
from surefoot.policies import LinGapE
from surefoot.problem.norms import states_bounds
from surefoot.problem.units import rounded_down, setting_in_words
from surefoot.simulation import run_session
from surefoot.worlds import Linear, Verdict
from surefoot.worlds.statements import warn_of_broken_statements


@dataclass(frozen=True)
class Experiment:
    """A finished session, and what the truth says of it."""

    session: Session
    verdict: Verdict

    @property
    def unsafe_share(self) -> float:
        """The share of pulls that crossed a limit."""
        return self.verdict.unsafe_pulls / self.session.pulls if self.session.pulls else 0.0

    def to_dict(self) -> dict[str, Any]:
        """The experiment as a table."""
        session, certificate, answer = self.session, self.session.certificate, self.session.recommendation
        return {
            "alarms": list(session.alarms),
            "statement": session.statement,
            "policy": policies.to_dict(session.policy),
            **session.status().to_brief_dict(),
            "recommendation": answer and answer.to_dict(),
            "certificate": certificate and certificate.to_dict(),
            "judged": {**vars(self.verdict), "unsafe_share": self.unsafe_share},
        }


def posed_to_lingape(scenario: Scenario) -> Scenario | None:
    """The same for LinGapE, which leans on norms or on largest effects: those that are stated, or where they are not
    the true largest effects, if the world has such."""
    problem, world = scenario.problem, scenario.world
    if not states_bounds(problem):
        if not isinstance(world, Linear):
            return None
        limits = zip(problem.safety, world.safety_largest.tolist(), strict=True)
        problem = problem.with_(
            reward=replace(problem.reward, norm=None, largest=problem.reward.largest or world.reward_largest or 1.0),
            safety=[replace(limit, norm=None, largest=limit.largest or most or 1.0) for limit, most in limits],
        )
    exact = [replace(limit, within=0.0) for limit in problem.safety]  # it takes means for linear, whatever is stated
    problem = problem.with_(reward=replace(problem.reward, within=0.0), safety=exact)
    return replace(scenario, problem=problem, policy=LinGapE())


def carried_out(scenario: Scenario, seed: int, max_pulls: int, watch: Watch) -> Experiment:
    """The experiment from first pull to last. With the same seed it is run 0 of `surefoot simulate`."""
    session = Session(scenario.problem, scenario.policy, seed=seed, max_pulls=max_pulls)
    try:
        pulls = run_session(scenario.world, session, seed=seed, watch=watch)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"Interrupted after {session.pulls:,} pulls; nothing is certified.") from None
    return Experiment(session, scenario.world.judge(scenario.problem).verdict(pulls, session.certificate))


def run_once(output: Output, scenario: Scenario, seed: int, max_pulls: int, compare: bool) -> int:
    """The exit status of one experiment, once it is carried out and told."""
    warn_of_broken_statements(scenario.world, scenario.problem)
    title = f"{scenario.policy.name} on {scenario.world.name}, seed {seed}"
    other = posed_to_lingape(scenario) if compare and scenario.policy.guarantee(scenario.problem).keeps_limits else None
    ahead = CompilingAhead(other.problem, [other.policy]) if other else None
    with watched(output, title) as watch:
        experiment = carried_out(scenario, seed, max_pulls, watch)
    beside = None
    if other and ahead:
        ahead.wait()
        beside = carried_out(other, seed, max_pulls, unwatched)
    if output.json:
        output.json_result(told_to_programs(scenario, seed, max_pulls, experiment, beside))
    else:
        found = experiment.session
        tell_answer(
            output,
            found.outcome,
            found.pulls,
            found.certificate,
            found.recommendation,
            found.alarms,
            found.problem.reward.unit,
        )
        tell_comparison(output, [experiment, beside] if beside else [experiment])
    return exit_codes.BY_OUTCOME[experiment.session.outcome or "undecided"]


def told_to_programs(
    scenario: Scenario, seed: int, max_pulls: int, experiment: Experiment, beside: Experiment | None
) -> dict[str, object]:
    """Everything about the experiment, for a program to read."""
    return {
        "alarms": list(experiment.session.alarms),
        "statement": experiment.session.statement,
        "surefoot": __version__,
        "world": scenario.world.name,
        "problem": {"fingerprint": scenario.problem.fingerprint, **in_brief(scenario.problem)},
        "seed": seed,
        "max_pulls": max_pulls,
        **experiment.to_dict(),
        "beside": beside.to_dict() if beside else None,
    }


def shortly(found: Certificate) -> str:
    """The level of the answer: as it is set, or as it is."""
    return rounded_down(found.level) if found.unit is None else setting_in_words(found.setting, found.unit)


def tell_comparison(output: Output, experiments: list[Experiment]) -> None:
    """Prints how each experiment looks to one who knows the truth."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("policy")
    for title in ("pulls", "unsafe pulls", "answer", "safe", "shortfall"):
        table.add_column(title, justify="right")
    for each in experiments:
        verdict, found = each.verdict, each.session.certificate
        safe = {True: Text("yes", "green"), False: Text("no", "red"), None: Text("-")}[verdict.answer_safe]
        unsafe = f"{verdict.unsafe_pulls:,} ({100 * each.unsafe_share:.1f} %)"
        table.add_row(
            each.session.policy.name,
            f"{each.session.pulls:,}",
            Text(unsafe, "red" if verdict.unsafe_pulls else "green"),
            Text("none" if found is None else found.name + (f" at {shortly(found)}" if found.arm >= 0 else "")),
            safe,
            "-" if verdict.shortfall is None else f"{verdict.shortfall:.4g}",
        )
    output.out.print()
    output.out.print(Text("Held against the truth of the world", "bold"))
    output.out.print(table)
    for each in experiments:
        output.out.print(Text(policies.describe(each.session.policy), "dim"), soft_wrap=not output.out.is_terminal)
