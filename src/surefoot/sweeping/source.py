"""What runs depend on besides their settings: the source that is running, and the packages that compile it."""

import hashlib
from functools import cache
from importlib.metadata import version
from pathlib import Path

import surefoot

COMPILED_BY = ("numba", "llvmlite", "numpy")


@cache
def package_digest() -> str:
    """A digest of the source that is running: all of it, since any file may hold a formula that runs depend on."""
    return digest_of(Path(surefoot.__file__).parent)


def digest_of(package: Path) -> str:
    """A digest of the names and contents of every Python file in the folder, at any depth."""
    digest = hashlib.sha256()
    for name, path in sorted((path.relative_to(package).as_posix(), path) for path in package.rglob("*.py")):
        digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


@cache
def software() -> dict[str, str]:
    """What has to be the same on every machine that takes part."""
    tools = {package: version(package) for package in COMPILED_BY}
    return {"surefoot": surefoot.__version__, "source": package_digest(), **tools}
