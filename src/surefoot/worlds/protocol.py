"""What a world is: whatever answers pulls, knows how good they truly are, and says which problems are posed in it.

`docs/own_world.md` builds one, and `surefoot.testing.WorldContract` holds it to what is asked of it here.
"""

from typing import TYPE_CHECKING, Protocol, TypedDict, cast, runtime_checkable

from surefoot.errors import InvalidInput

if TYPE_CHECKING:
    from surefoot.core.parts import Response
    from surefoot.problem import Problem
    from surefoot.worlds.judge import Judge


class ArmAtLevel(Protocol):
    """An arm (-1: nothing) and the level at which it is applied: an answer, or a pull."""

    @property
    def arm(self) -> int: ...
    @property
    def level(self) -> float: ...


class NumberedPull(ArmAtLevel, Protocol):
    """A pull as `ask` gives it; its number, from 1, is the address of its noise."""

    @property
    def number(self) -> int: ...


class Measurement(TypedDict):
    """What a pull returned, as `tell` takes it: in the user's units, safety in the order of the limits."""

    reward: float
    safety: list[float]


@runtime_checkable
class World(Protocol):
    """What a simulation needs of a world. Policies and sessions see nothing of it but measurements."""

    @property
    def name(self) -> str:
        """What the world is called."""

    def matches(self, problem: "Problem") -> None:
        """Raises InvalidInput when the problem is not posed in this world, naming what differs."""

    def judge(self, problem: "Problem") -> "Judge":
        """The truth about this problem, for judging pulls and answers."""

    def response(self) -> "Response":
        """How the world responds to pulls in the simulator: two kernels, or plain functions, and what they read.

        With the noise of the address (seed, run, number of the pull) it gives the numbers that `measure` gives.
        """

    def measure(
        self, pull: NumberedPull, seed: int = 0, *, run: int = 0, problem: "Problem | None" = None
    ) -> Measurement:
        """What this pull returns in the units of the problem; its noise depends on (seed, run, pull.number) alone."""


WANTED = tuple(name for name in vars(World) if not name.startswith("_"))


def check_world(world: object) -> World:
    """The world itself; what lacks something of a world is refused by what it lacks."""
    missing = [name for name in WANTED if not hasattr(world, name)]
    if not missing and not isinstance(world, type):  # isinstance, from Python 3.12 on, does not see what is handed on
        return cast(World, world)
    reason = "must be a world" + (f", and has no {', '.join(missing)}" if missing else ", not its class")
    raise InvalidInput("world", world, reason, "Take one from sf.worlds, for example sf.worlds.hard().")
