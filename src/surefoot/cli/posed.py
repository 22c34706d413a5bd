"""What a command line poses: the problem in a file, in a world that it names, or the paper's."""

from __future__ import annotations

from pathlib import Path

from surefoot import worlds
from surefoot.errors import InvalidInput
from surefoot.problem import Problem
from surefoot.worlds.files import Posed, posed_in


def in_brief(problem: Problem) -> dict[str, object]:
    """The problem for a program to read; in place of more than a thousand arms, how many there are."""
    from surefoot.live.pulls import MOST_LISTED

    if problem.size <= MOST_LISTED:
        return problem.to_dict()
    return {**problem.to_dict_without_arms(), "arms": problem.size}


def posed_for(file: Path | None, world: str | None) -> Posed:
    """What is posed in the file or in the named world; without either the paper's problem."""
    if file is not None and world is not None:
        raise InvalidInput("--world", world, f"is given beside the file {file}", "Choose one of the two.")
    if file is not None:
        return posed_in(file)
    if world is not None:
        found = worlds.make(world)
        return Posed(found.default_problem(), found)
    papers = worlds.hard()
    return Posed(papers.paper_problem(), papers)
