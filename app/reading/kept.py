"""Readers kept for their senders: a sender's next upload soon after needs no new process.

Used by `app.reading.server`. A reader is kept for one sender alone, so that what one sends is never in a process that
reads what another sends; and only while it is hardly larger than a new one and has started no other process.
"""

import os
import resource
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, Protocol, TypeVar

MOST, KEPT_S = 2, 30.0
GROWN_BYTES = 64 << 20
USED_CPU_S = 5


class Waiting(Protocol):
    """A process that waits for an order."""

    @property
    def pid(self) -> int:
        """Return its number."""


R = TypeVar("R", bound=Waiting)


@dataclass
class KeptReaders(Generic[R]):
    """The waiting readers, each with its sender and the end of its time, oldest first."""

    _kept: list[tuple[int, float, R]] = field(default_factory=list)

    def __iter__(self) -> Iterator[R]:
        return iter([reader for _, _, reader in self._kept])

    def take(self, owner: int) -> R | None:
        """Remove and return the newest reader of a sender; None without one."""
        own = [each for each in self._kept if each[0] == owner]
        if not own:
            return None
        self._kept.remove(own[-1])
        return own[-1][2]

    def keep(self, owner: int, reader: R, now: float) -> list[R]:
        """Keep a reader for its sender; return those that it displaces."""
        self._kept.append((owner, now + KEPT_S, reader))
        left, self._kept = self._kept[:-MOST], self._kept[-MOST:]
        return [given_way for _, _, given_way in left]

    def drop(self, reader: R) -> None:
        """Remove a reader."""
        self._kept = [each for each in self._kept if each[2] is not reader]

    def over(self, now: float) -> list[R]:
        """Return the readers whose time is over."""
        return [reader for _, until, reader in self._kept if until <= now]

    @property
    def next_end(self) -> float | None:
        """Return when the next one's time is over."""
        return min((until for _, until, _ in self._kept), default=None)


@dataclass(frozen=True)
class Memory:
    """How much memory a process has mapped, and how much of it is in use."""

    mapped: int
    resident: int


UNKNOWN = Memory(1 << 30, 1 << 30)


def memory_of(pid: int | str) -> Memory:
    """Return the memory of a process; UNKNOWN where the system does not say."""
    try:
        mapped, resident = Path(f"/proc/{pid}/statm").read_text().split()[:2]
    except (OSError, ValueError):
        return UNKNOWN
    return Memory(int(mapped) * resource.getpagesize(), int(resident) * resource.getpagesize())


def is_as_new(pid: int, base: Memory) -> bool:
    """Say whether a reader can be kept: hardly larger than the process it was forked from, and without children."""
    try:
        times = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return False
    used_s = sum(map(int, times)) / os.sysconf("SC_CLK_TCK")
    is_small = memory_of(pid).resident <= base.resident + GROWN_BYTES
    return is_small and used_s <= USED_CPU_S and not children.strip()
