"""A study in plain words: the answer first, what to expect of it, what the promise rests on, what was put right."""

from math import isfinite

from surefoot.errors import counted
from surefoot.live.certificate import NOTHING
from surefoot.live.quantities import (
    level_in_table,
    limit_in_words,
    pull_in_words,
    range_in_words,
    reading_in_words,
    reward_in_words,
    short,
)
from surefoot.live.trace import Trace
from surefoot.pages import Box, Heading, Paragraph, Part, Points, Table, literal
from surefoot.problem import Problem
from surefoot.reports.gathering import Gathered

ITSELF = "itself, at a higher level"


def answer_box(found: Gathered) -> Box:
    """The answer, or where the study stands."""
    status, problem = found.status, found.problem
    if status.alarms:
        return Box(["No answer: the data contradict what was stated", literal(found.statement)], "bad")
    stopped = [literal(f"Stopped by {status.frozen['by']}: {status.frozen['reason']}")] if status.frozen else []
    if found.certificate is not None:
        name, level = found.certificate.name, found.certificate.level
        said = literal(pull_in_words(problem, name, level))
        mood = "good" if found.answer is not None else "wait"
        head = "Best: do nothing" if name == NOTHING else f"Best: {said}"
        return Box([head, literal(found.statement), *stopped], "bad" if stopped else mood)
    if status.outcome is not None:
        return Box(["No answer", literal(found.statement), *stopped], "bad")
    return Box(["No answer yet", *race(found), *stopped], "bad" if stopped else "wait")


def race(found: Gathered) -> list[str]:
    """Who leads by how much, and how long it may take."""
    status, problem = found.status, found.problem
    told = f"{counted(status.pulls, 'result')} taken in; nothing is certified yet."
    if status.leader is None or status.gap is None or not isfinite(status.gap):
        return [told]
    rival = ITSELF if status.challenger == status.leader else status.challenger or NOTHING
    gap, epsilon = reward_in_words(problem, status.gap), reward_in_words(problem, problem.epsilon)
    said = (
        f"{literal(status.leader)} leads. What might still beat it is {literal(rival)}, by at most {gap}; it is "
        f"certain when that is at most {epsilon}."
    )
    outlook = None if found.trace is None else found.trace.trials_to_go
    return [told, said, *([f"To go: {outlook}."] if outlook else [])]


def expectations(found: Gathered) -> list[Part]:
    """What the answer, or the leader, gives and reads by all that is known."""
    name = found.certificate.name if found.certificate else found.status.leader
    if found.trace is None or name is None or name not in found.trace.names:
        return []
    who = "the answer" if found.certificate else "the leader"
    arm = found.trace.of_arms([name])
    level = literal(pull_in_words(found.problem, name, float(arm.certified[-1, 0])))
    rows = [(signal, about, between, asked) for signal, about, between, asked in predictions(found.problem, arm)]
    return [
        Heading(f"What to expect of {who}"),
        Paragraph(
            f"Means of {level}, by all that was measured. Between the bounds lies what the confidence sets still "
            "allow; single results scatter around the mean."
        ),
        Table(("signal", "mean, about", "between", "must be"), rows, text_columns=4, stacks=True),
    ]


def predictions(problem: Problem, arm: Trace) -> list[tuple[str, str, str, str]]:
    """Reward and readings of one arm at its certified level: estimated, bounded, and what is asked of them."""
    middle, low, high = arm.middle[-1, 0], arm.low[-1, 0], arm.high[-1, 0]
    found = [
        ("reward", reward_in_words(problem, float(middle[0])),
         range_in_words(float(low[0]), float(high[0]), problem.reward.unit), "")
    ]  # fmt: skip
    for s, limit in enumerate(problem.safety, start=1):
        about, unit = reading_in_words(limit, float(middle[s])), limit.unit
        asked = limit_in_words(limit).removeprefix(limit.name).strip()
        if limit.mean_limit != limit.limit:
            asked += f" for readings, {reading_in_words(limit, limit.mean_limit)} for their mean"
        found.append((literal(limit.name), about, range_in_words(float(low[s]), float(high[s]), unit), literal(asked)))
    return found


SAFELY = "chance that any trial at all crosses a limit with its mean (delta safety)"


def promise(found: Gathered) -> list[Part]:
    """What is asked for and, at the end, promised; and what it rests on."""
    problem, certificate = found.problem, found.certificate
    rows = [
        ("how far from the best the answer may be (epsilon)", reward_in_words(problem, problem.epsilon)),
        ("chance of a worse answer (delta)", short(problem.delta)),
        *([] if problem.safety else [("limits", "none were stated")]),
        *((SAFELY, short(problem.delta_safety)) for _ in problem.safety[:1]),
        *((f"limit: {literal(limit_in_words(limit))}", covered(limit.reading_risk)) for limit in problem.safety),
    ]
    if certificate is not None:
        rows += [
            ("trials until it was certain", f"{certificate.pulls:,}"),
            ("gap when it was", reward_in_words(problem, certificate.gap)),
        ]
        if certificate.overshoots:
            rows.append(("trials applied above the certified level, not covered", f"{certificate.overshoots:,}"))
    assumed = certificate.assumptions if certificate else found.assumptions
    heading = "What is promised" if certificate else "What was asked for"
    return [
        Heading(heading),
        Table(("statement", "value"), rows, text_columns=2, stacks=True),
        Heading("What it rests on", 3),
        Paragraph("The promise is as true as these statements:"),
        Points([literal(each) for each in assumed]),
    ]


def covered(risk: float | None) -> str:
    """What a limit covers."""
    return "kept by means; single readings may lie beyond" if risk is None else f"kept by readings, risk {risk:g} each"


def corrections(found: Gathered) -> list[Part]:
    """Alarms, stops, and everything that was put right or left out."""
    status = found.status
    told = [f"Alarm{'' if each in status.alarms else ', released'}: {each}" for each in status.contradictions]
    if status.frozen:
        told.append(f"Stopped by {status.frozen['by']}: {status.frozen['reason']}")
    told += [f"Put right: {each}" for each in status.corrections]
    told += [f"Held, pull {each.number}: {each.surprises}" for each in status.held]
    if status.late:
        told.append(f"Told late and not counted: pull {', '.join(map(str, status.late))}")
    if status.overshoots:
        told.append(f"{counted(status.overshoots, 'pull')} applied above the certified level")
    if status.mismatches:
        told.append(f"{counted(status.mismatches, 'pull')} not as recomputed: see surefoot study audit")
    clean = "None: no alarm, nothing corrected, taken out, held or applied too high."
    return [
        Heading("Corrections and alarms"),
        Points([literal(each) for each in told]) if told else Paragraph(clean),
        Heading("What became of every trial", 3),
        Points([literal(each) for each in found.notes]),
    ]


def options(found: Gathered) -> list[Part]:
    """The arms with their levels and rewards: all, or of many those that matter."""
    trace, status, problem = found.trace, found.status, found.problem
    if trace is None or not len(trace.arms):
        return []
    answer = found.certificate.name if found.certificate else None
    roles = {status.challenger: "challenges", status.leader: "leads", answer: "the answer"}
    rows, marked = [], []

    def role_of(name: str) -> str:
        tried = () if problem.pullable[problem.index_of(name)] else ("cannot be tried",)
        return ", ".join((*((roles[name],) if name in roles else ()), *tried))

    for place, name in enumerate(trace.names):
        low, high = float(trace.low[-1, place, 0]), float(trace.high[-1, place, 0])
        rows.append(
            (
                literal(name), role_of(name), level_in_table(problem, float(trace.certified[-1, place])),
                level_in_table(problem, float(trace.possible[-1, place])), f"{int(trace.pulls[-1, place]):,}",
                short(float(trace.middle[-1, place, 0])), range_in_words(low, high),
            )
        )  # fmt: skip
        marked += [place] if name == (answer or status.leader) else []
    highest = "certified level" if problem.safety else "level"
    head = ("option", "", highest, "still possible", "trials", "reward there, about", "between")
    left = found.problem.size - len(rows)
    more = [Paragraph(f"And {counted(left, 'option')} that lead nothing and were tried less.")] if left else []
    return [
        Heading("The options"),
        Table(head, rows, text_columns=2, marked=marked, stacks=True),
        *more,
    ]
