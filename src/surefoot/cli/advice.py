"""Errors in the words of one who types: what a verb in Python calls `max_pulls=` is `--max-pulls` here.

The package speaks to those who write Python. Whatever of that can reach a command line is said anew here, in one place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from surefoot import errors
from surefoot.errors import Advised, ErrorDocument, InvalidInput, SurefootError, with_notes

# What is typed in place of an argument, for errors that are not about what a file says.
TYPED = {
    "n": "--count", "max_pulls": "--max-pulls", "runs": "--runs", "workers": "--workers", "seed": "--seed",
    "storage": "--storage", "policy": "--policy", "worker": "--worker", "intake": "--intake", "reason": "--reason",
    "alarm_level": "--alarm-level", "warm_start": "--warm-start", "by": "--by", "source": "--source",
    "reward": "--reward", "safety": "--safety", "older_than": "--older-than", "fold": "--fold",
    "not_because_of_result": "--not-because-of-result", "name": "STUDY", "confidence": "--confidence",
    "out": "--out", "engine": "--engine", "scheduler": "--scheduler", "device": "--device", "alarm": "--alarm",
    "pull or older_than": "NUMBER or --older-than", "theme": "--theme", "width": "--width", "arms": "--arm",
    "budget": "--budget", "like": "--like", "radius": "--radius", "delta": "--delta", "delta_safety": "--delta-safety",
    "epsilon": "--epsilon", "order": "--order", "time": "--time",
}  # fmt: skip

ADD = "`surefoot study add STUDY ARM LEVEL --reward NUMBER --safety NUMBER`"

# Advice for Python, and what it is here.
PHRASES = (
    ("allow it with overwrite=True", "add --force"),
    ("Pass not_because_of_result=True once", "Add --not-because-of-result once"),
    ("add what fits with study.add(...)", "take over what fits with `surefoot study add`"),
    ("Pass one number for one limit, or a list or mapping for several.",
     "Write --safety 6.1 for one limit, or --safety NAME=NUMBER for each of several."),
    ("save a problem with Problem.save to see the form",
     "see the form in `surefoot show --help`, or that of a plan in `surefoot sweep --help`"),
    ("Take the problem from world.problem(...), or the world from Linear.for_problem(problem, ...).",
     "Leave arms and limits out of the file, or state the truth in its [world] with theta_star and mu_star."),
    ("Pass a list of Limit(name, at_least=... or at_most=..., noise=...).",
     "Write a table [[safety]] for each limit."),
    ("For example sf.SafeGap(), or see docs/own_policy.md.", "See `surefoot policies`, or docs/own_policy.md."),
    ("For example sf.RoundRobin(800).", "For example --explore round-robin:800."),
    ("or a timedelta", "or such as 30m, 12h, 7d"),
    ("Pass workers=", "Add --workers "),
    ("Continue with seed=", "Continue with --seed "),
    ("ame another folder", "ame another folder with --out"),
    ("go on with release(reason)", "keep it as a study, which a person can release"),
    ("confirm=True (--confirm)", "--confirm"),
    ('State order="', 'State --order "'),
    (', order="', ', --order "'),
    ("Leave order= out", "Leave --order out"),
    ("time stamps with time=", "time stamps with --time COLUMN"),
    ("with add(arm, level, reward, safety)", f"with {ADD}"),
    ("with add(...)", f"with {ADD}"),
    ("with correct(number, ..., reason, by)", "with `surefoot study correct STUDY NUMBER --reason TEXT`"),
    ("with void(number, reason, by)", "with `surefoot study void STUDY NUMBER --reason TEXT`"),
)  # fmt: skip

REMEDIES: dict[type[SurefootError], Callable[[Any], str]] = {
    errors.Finished: lambda error: "`surefoot study show` has the answer.",
    errors.StudyExists: lambda error: (
        f"Choose another name, go on with it (surefoot study ask {error.name}), or add --load-if-exists."
    ),
    errors.StudyDiffers: lambda error: (
        f"Go on with it as it is (surefoot study ask {error.name}), or give the new study another name."
    ),
    errors.Frozen: lambda error: (
        f"No pull is given to anyone until a person releases it: surefoot study release {error.name} --reason TEXT."
    ),
    errors.PolicyNeeded: lambda error: f"Hand it in: --policy {error.home}.",
    errors.OtherVersion: lambda error: (
        "Go on with the release that made it, or carry its data into a new study: surefoot study create NEW FILE "
        f"--warm-start {error.study}."
    ),
    errors.NotOpen: lambda error: error.remedy.replace("call ask() first", "surefoot study ask gives one"),
}


def in_typed_words(error: SurefootError) -> ErrorDocument:
    """The document of the error, with advice for one who types."""
    if isinstance(error, InvalidInput):
        return _retold(error).to_dict()
    document = error.to_dict()
    if isinstance(error, Advised) and type(error) in REMEDIES:
        document["remedy"] = REMEDIES[type(error)](error)
        document["message"] = with_notes(error, f"{error.said} {document['remedy']}")
    document["message"] = in_typed_phrases(document["message"])
    remedy = document.get("remedy")
    if remedy is not None:
        document["remedy"] = in_typed_phrases(remedy)
    return document


def in_typed_phrases(words: str) -> str:
    """The advice with every phrase for Python said anew."""
    for phrase, typed in PHRASES:
        words = words.replace(phrase, typed)
    return words


def _retold(error: InvalidInput) -> InvalidInput:
    """The same refusal of what was typed; fields of a file keep their names."""
    notes = getattr(error, "__notes__", [])
    in_file = any(note.startswith("while reading") for note in notes)
    field = error.field if in_file else TYPED.get(error.field, error.field)
    again = InvalidInput(field, error.value, error.reason, in_typed_phrases(error.remedy))
    for note in notes:
        again.add_note(note)
    return again
