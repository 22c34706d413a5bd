"""How much memory is left for this process, and a refusal of what needs more before anything is begun."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from surefoot.errors import NotEnoughMemory

CGROUPS = Path("/sys/fs/cgroup")
FILES = (("memory.max", "memory.current"), ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"))


def check_memory(arms: int, needed: int) -> None:
    """Refuses a problem whose state needs so many bytes, where they are not there."""
    left = available()
    if left is not None and needed > left:
        raise NotEnoughMemory(arms, needed, left)


def available() -> int | None:
    """The bytes that this process may still take: of the machine, of its container and of its own limit."""
    return min([*_of_machine(), *_of_container(), *_of_process()], default=None)


def _of_machine() -> Iterator[int]:
    """What the machine has left without swapping; all of its memory where it does not say more."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        yield from (1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except OSError:
        try:
            yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        except (AttributeError, ValueError, OSError):  # nobody says
            return


def _of_container() -> Iterator[int]:
    """What the container that the process runs in has left."""
    for limit, usage in FILES:
        try:
            most = (CGROUPS / limit).read_text().strip()
            if most.isdigit():  # or "max"
                yield max(0, int(most) - int((CGROUPS / usage).read_text()))
        except (OSError, ValueError):
            continue


def _of_process() -> Iterator[int]:
    """What the process may still take by a limit of its own."""
    if sys.platform == "win32":
        return
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY:
        try:
            used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        except OSError:
            used = 0
        yield max(0, limit - used)
