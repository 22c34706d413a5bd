"""How a contract says that something is not as promised: in a sentence, with what was found. Needs no test framework,
and holds under `python -O`, which forgets every assert."""

from collections.abc import Iterator
from contextlib import contextmanager

from surefoot.errors import shown
from surefoot.results import exact_interval


class ContractBroken(AssertionError):
    """A promise that was not kept."""


def claim(kept: object, promised: str, found: object = None) -> None:
    """Raises if the promise is not kept, and says what was found instead."""
    if not kept:
        told = found if isinstance(found, str) else shown(found)
        raise ContractBroken(promised if found is None else f"{promised}; found {told}")


def claim_same(found: object, expected: object, promised: str) -> None:
    """Raises if the two differ."""
    claim(found == expected, promised, f"{shown(found)} where {shown(expected)} was expected")


def claim_rate(events: int, trials: int, allowed: float, promised: str) -> None:
    """Raises if so many events in so many trials show a rate above what is allowed: if the exact (Clopper-Pearson)
    lower bound at 99 % is above it."""
    lower = exact_interval(events, trials, 0.98).lower
    claim(lower <= allowed, promised, f"{events} of {trials}, at least {lower:.3g}, where {allowed:.3g} is allowed")


@contextmanager
def refused(error: type[BaseException], promised: str) -> Iterator[None]:
    """Inside, this error must be raised."""
    try:
        yield
    except error:
        return
    raise ContractBroken(f"{promised}; found nothing refused, where {error.__name__} was expected")
