"""Heads of studies, signed with Ed25519: who holds the public key knows who vouched for which head, and when.

The signature is over "surefoot head 1", a line end, and a line of JSON of `at`, `events`, `head` and `origin`, in the
form of storage.chain.
"""

import base64
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Self

from surefoot.errors import InvalidInput, MissingExtra
from surefoot.files import as_path, read_text
from surefoot.storage.chain import line_of

VERSION = b"surefoot head 1\n"
PRIVATE = "Name a PEM file with an Ed25519 private key, as `openssl genpkey -algorithm ed25519 -out key.pem` makes it."
PUBLIC = "Name a PEM file with an Ed25519 public key, as `openssl pkey -in key.pem -pubout -out public.pem` makes it."
SIGNED = "Name a file that `surefoot study head NAME --sign-with KEY` wrote."


@dataclass(frozen=True)
class SignedHead:
    """That a study had this head."""

    head: str
    events: int
    origin: str  # the hash of the study's settings
    at: int  # microseconds since 1970, UTC, by the clock of the storage
    signature: str  # Ed25519, base64

    def to_dict(self) -> dict[str, Any]:
        """It as plain data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, table: object) -> Self:
        """What `to_dict` gave; what cannot be that is refused."""
        kinds = {"head": str, "events": int, "origin": str, "at": int, "signature": str}
        if not isinstance(table, Mapping) or any(type(table.get(name)) is not kind for name, kind in kinds.items()):
            raise InvalidInput("head", table, "is not a signed head", SIGNED)
        return cls(**{name: table[name] for name in kinds})

    @classmethod
    def load(cls, path: object) -> Self:
        """The signed head in a file."""
        place = as_path("head", path)
        try:
            return cls.from_dict(json.loads(read_text("head", place)))
        except ValueError as error:
            raise InvalidInput("head", str(place), f"is not a signed head ({error})", SIGNED) from error


def signed_head(head: str, events: int, origin: str, at: int, key_file: object) -> SignedHead:
    """The head with the signature of the private key in the file."""
    key = key_in("sign_with", key_file, "load_pem_private_key", "Ed25519PrivateKey", PRIVATE, password=None)
    return SignedHead(head, events, origin, at, base64.b64encode(key.sign(message(head, events, origin, at))).decode())


def check_signature(signed: SignedHead, public_key_file: object) -> None:
    """Refuses a head that the owner of the key in the file has not signed."""
    key = key_in("signed_by", public_key_file, "load_pem_public_key", "Ed25519PublicKey", PUBLIC)
    try:
        content = base64.b64decode(signed.signature, validate=True)
        key.verify(content, message(signed.head, signed.events, signed.origin, signed.at))
    except (ValueError, import_module("cryptography.exceptions").InvalidSignature) as error:
        reason = f"is not the signature of the key in {public_key_file} over this head"
        raise InvalidInput("head", signed.signature, reason, "Do not trust it: ask who signed it.") from error


def message(head: str, events: int, origin: str, at: int) -> bytes:
    """The bytes that are signed."""
    return VERSION + line_of({"head": head, "events": events, "origin": origin, "at": at})


def key_in(field: str, path: object, load: str, kind: str, remedy: str, **options: Any) -> Any:
    """The key in a PEM file; one of another kind is refused."""
    try:
        serialization = import_module("cryptography.hazmat.primitives.serialization")
        kinds = import_module("cryptography.hazmat.primitives.asymmetric.ed25519")
    except ImportError:
        raise MissingExtra("cryptography", "signing") from None
    place: Path = as_path(field, path)
    try:
        key = getattr(serialization, load)(read_text(field, place).encode(), **options)
    except (ValueError, TypeError) as error:  # TypeError: it needs a password
        raise InvalidInput(field, str(place), f"holds no such key ({error})", remedy) from error
    except import_module("cryptography.exceptions").UnsupportedAlgorithm as error:
        raise InvalidInput(field, str(place), f"holds no such key ({error})", remedy) from error
    if not isinstance(key, getattr(kinds, kind)):
        raise InvalidInput(field, str(place), "holds a key of another kind", remedy)
    return key
