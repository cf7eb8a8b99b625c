"""How many connections a web process has at a time, in all and from one address, and that none of them is too slow.

Used by `app.web.connections`, whose protocol tells each connection's state.
"""

import asyncio
from collections import defaultdict
from dataclasses import dataclass
from typing import Protocol

from app.config.settings import Settings

SWEEP_S = 1.0


class Guarded(Protocol):
    """A connection as the guard sees it."""

    address: str
    loop: asyncio.AbstractEventLoop

    def is_idle(self) -> bool:
        """Say whether it has no request in hand."""

    def abort(self) -> None:
        """End it at once."""

    def look(self, now: float) -> None:
        """End the connection if its current phase has taken too long."""


@dataclass(frozen=True)
class ConnectionLimits:
    """The limits on the number and the slowness of connections."""

    most: int
    most_per_address: int
    head_s: float
    stall_s: float
    body_bytes_per_s: int

    @classmethod
    def from_settings(cls, settings: Settings, n_files: int) -> "ConnectionLimits":
        """Return the limits; of the files that the process may open, a quarter is left to all else."""
        most = min(settings.max_connections, max(16, n_files * 3 // 4))
        # A proxy in front brings everybody's connections from its own address.
        shared = most if settings.base_url else most // 4
        return cls(
            most=most,
            most_per_address=min(most, settings.connections_per_address or shared),
            head_s=settings.head_timeout_s,
            stall_s=settings.stall_timeout_s,
            body_bytes_per_s=settings.min_body_rate,
        )


class Guard:
    """Every connection of a process, by address; ends those that are too slow, and makes room for new ones."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self.limits = limits
        self._by_address: dict[str, dict[Guarded, None]] = defaultdict(dict)
        self._n_connections = 0
        self._sweeping: asyncio.TimerHandle | None = None

    def admit(self, connection: "Guarded") -> bool:
        """Count a new connection; False when there is no room and none that could be closed to make some."""
        if self._n_connections >= self.limits.most and not self._make_room(self._fullest()):
            return False
        own = self._by_address[connection.address]
        if len(own) >= self.limits.most_per_address and not self._make_room(connection.address):
            return False
        own[connection] = None
        self._n_connections += 1
        if self._sweeping is None:
            self._sweeping = connection.loop.call_later(SWEEP_S, self._sweep, connection.loop)
        return True

    def forget(self, connection: "Guarded") -> None:
        """Uncount a connection."""
        own = self._by_address.get(connection.address, {})
        if connection in own:
            del own[connection]
            self._n_connections -= 1
            if not own:
                del self._by_address[connection.address]

    def _fullest(self) -> str:
        return max(self._by_address, key=lambda address: len(self._by_address[address]))

    def _make_room(self, address: str) -> bool:
        """End the oldest connection of an address that has no request in hand."""
        for connection in self._by_address[address]:
            if connection.is_idle():
                self.forget(connection)
                connection.abort()
                return True
        return False

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        for own in list(self._by_address.values()):
            for connection in list(own):
                connection.look(now)
        again = self._n_connections > 0
        self._sweeping = loop.call_later(SWEEP_S, self._sweep, loop) if again else None
