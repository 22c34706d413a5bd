"""Keys, under which a caller may repeat a step without doing it twice.

A step that was taken with a key ends with an event that holds the key, what was asked for, and what was answered. Who
asks for the same once more under the same key, from whichever process, is given that answer; who asks for something
else is refused.
"""

import json
from collections.abc import Callable
from hashlib import sha256
from typing import Any, Generic, TypeVar

from surefoot.characters import in_one_line
from surefoot.errors import KeyUsed, StorageDamaged
from surefoot.plain_data import plain
from surefoot.problem.checks import text
from surefoot.storage.protocol import Events
from surefoot.studies import events
from surefoot.studies.events import Event

KEY = "Give a short text of your own that is new for every step, such as a UUID."
Answer = TypeVar("Answer")
UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError)  # an answer that nobody has given


class Keyed(Generic[Answer]):
    """A step that may have been taken before.

    pack and unpack take an answer to plain data and back; the request is whatever makes this step another than others.
    """

    def __init__(
        self, key: str | None, verb: str, request: object, pack: Callable[[Answer], Any],
        unpack: Callable[[Any, Events], Answer],
    ) -> None:  # fmt: skip
        self.key = None if key is None else text("key", key, KEY)
        self._verb, self._request, self._pack, self._unpack = verb, request, pack, unpack

    def __bool__(self) -> bool:
        return self.key is not None

    def answered(self, stored: Events) -> list[Answer]:
        """The answer that was given to this very step before, if it was taken; a key of another step is refused."""
        found = None if self.key is None else stored.keyed(self.key)
        if found is None:
            return []
        try:
            said = json.loads(found["reason"])
            verb, request, answer = said["verb"], said["request"], said["answer"]
            if (verb, request) != (self._verb, digest_of(self._request)):
                raise KeyUsed(str(self.key), in_words(verb))
            return [self._unpack(answer, stored)]
        except UNREADABLE as error:
            detail = f"holds an answer under the key {self.key!r} that cannot be read ({type(error).__name__})"
            raise StorageDamaged("The storage", detail) from error

    def event(self, answer: Answer) -> Event:
        """What is stored about this step."""
        said = {"verb": self._verb, "request": digest_of(self._request), "answer": plain(self._pack(answer))}
        return {"kind": events.KEY, "key": self.key, "reason": json.dumps(said)}


def unanswered(key: str | None, verb: str, *request: object) -> "Keyed[None]":
    """A step that answers nothing."""
    return Keyed(key, verb, request, lambda answer: None, lambda said, stored: None)


def digest_of(request: object) -> str:
    """What was asked for, in a few characters."""
    return sha256(json.dumps(plain(request), sort_keys=True, default=repr).encode()).hexdigest()


def in_words(verb: object) -> str:
    """What a key was used for."""
    return f"{in_one_line(str(verb))}, with other values"
