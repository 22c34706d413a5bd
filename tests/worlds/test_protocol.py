"""What counts as a world."""

from typing import Any

import pytest

from small_worlds import linear
from surefoot import worlds
from surefoot.errors import InvalidInput


def test_a_world_is_whatever_does_what_a_world_does() -> None:
    world = linear()

    class Relayed:
        name = "relayed"

        def __getattr__(self, word: str) -> Any:
            return getattr(world, word)

    class Deaf:
        name = "deaf"

        def measure(self, pull: Any, seed: int = 0) -> Any:
            return world.measure(pull, seed)

    assert worlds.check_world(world) is world
    worlds.check_world(Relayed())
    with pytest.raises(InvalidInput, match="has no matches, judge, response"):
        worlds.check_world(Deaf())
    for other in ("hard", None, worlds.hard, worlds.Linear, world.default_problem()):
        with pytest.raises(InvalidInput) as caught:
            worlds.check_world(other)
        assert caught.value.field == "world"
