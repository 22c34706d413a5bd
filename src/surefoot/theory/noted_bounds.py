"""The lower bounds of one problem, with notes on what they are bounds for.                                      (T9)"""

from surefoot.errors import InvalidInput
from surefoot.problem import Problem
from surefoot.problem.norms import states_bounds
from surefoot.theory.lower_bounds import LowerBound, lower_bound
from surefoot.worlds import Linear

BOUNDS = ("lower_bound", "lower_bound_with_norms", "strict_bound", "strict_bound_with_norms")


def noted_bounds(problem: Problem, world: Linear, notes: list[str], tolerance: float) -> dict[str, LowerBound | None]:
    """The bounds by their names, with notes on what they are bounds for and why one is missing.     (T9)"""
    stated = states_bounds(problem)
    found: dict[str, LowerBound | None] = {}
    for name, strict, norms in zip(BOUNDS, (False, False, True, True), (False, True, False, True), strict=True):
        bound = None
        if stated or not norms:
            try:
                bound = lower_bound(world, problem, norms=norms, strict=strict, tolerance=tolerance)
            except InvalidInput as refusal:
                if str(refusal) not in notes:
                    notes.append(str(refusal))
        found[name] = bound
    if not stated:
        notes.append("No lower bound for methods that use norms: not every norm, or largest effect, is stated.")
    rate = found["lower_bound"]
    if rate is not None:
        until = " up to the first unsafe one" if problem.safety else ""
        words = f"The lower bounds hold for the expected pulls{until}, with Gaussian noise"
        if not rate.strict:
            to_zero = "both deltas go" if problem.safety else "delta goes"
            words += f"; several answers are correct, so they are rates as {to_zero} to 0, and only the strict ones "
            words += "hold at these deltas"
        notes.append(words + ".")
    return found
