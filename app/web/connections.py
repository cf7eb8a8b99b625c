"""Limits for each connection and for all of them together: uvicorn's HTTP protocol with bounds.

Given to uvicorn by `app.cli.web`. uvicorn bounds no head with httptools, no time but that between two requests,
and no number of connections that have not asked anything yet. The hot path only counts bytes; once a second `Guard`
looks at every connection.
"""

import asyncio
from collections import defaultdict
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, ClassVar, Protocol

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from app.config import Settings
from app.web.problems import problem_bytes

MAX_HEAD_BYTES = 64 << 10

MAX_HEADERS = 100

MAX_PIPELINED = 32

# After an early answer the client may still be sending: closing at once would reset the connection under the answer.
LINGER_S = 3.0

SILENT, HEAD, BODY, ANSWER, DRAIN, CLOSING = "silent", "head", "body", "answer", "drain", "closing"


class HeadTooLarge(Exception):
    """A request's first line and headers are more than a server reads."""


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


class GuardedProtocol(HttpToolsProtocol):
    """One connection."""

    guard: ClassVar[Guard]

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.address = ""
        self._n_received = 0
        self._n_head = 0
        self._n_unsent = 0
        self._closing = False
        self._head_too_large = False
        self._in_hand: list[RequestResponseCycle] = []
        self._looked: tuple[object, str] = (None, "")
        self._since = self._window_since = self.loop.time()
        self._window_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection, or close it at once where there are too many."""
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        if not self.guard.admit(self):
            self._closing = True
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self.guard.forget(self)
        self._disconnect()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse received data; refuse a head that does not end."""
        if self._closing:
            return
        self._n_received += len(data)
        self._n_head += len(data)
        super().data_received(data)
        if self._n_head > MAX_HEAD_BYTES:
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, _head_rule())

    def on_body(self, body: bytes) -> None:
        """Process a piece of a body. Anything else, such as trailers, counts as a head."""
        self._n_head = 0
        super().on_body(body)

    def on_headers_complete(self) -> None:
        """Start the request, unless its head is too large."""
        self._n_head = 0
        if len(self.headers) > MAX_HEADERS or len(self.pipeline) >= MAX_PIPELINED or self._head_size() > MAX_HEAD_BYTES:
            self._head_too_large = True
            raise HeadTooLarge
        HttpToolsProtocol.on_headers_complete(self)
        self._in_hand = [*self._unanswered(), self.cycle]
        if self.scope["method"] not in ("GET", "HEAD"):
            # An answer may come before the end of the body; the connection must then end gently.
            self.cycle.transport = _Gently(self)  # type: ignore[assignment]

    def _head_size(self) -> int:
        return len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)

    def send_400_response(self, msg: str) -> None:
        """Answer invalid HTTP, or a head that is too large: httptools reports both as its own error."""
        if self._head_too_large:
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, _head_rule())
        else:
            self._refuse(HTTPStatus.BAD_REQUEST, "This is not a valid HTTP/1.1 request.")

    def phase(self) -> str:
        """Say what the connection is waiting for."""
        if self._closing:
            return CLOSING
        if self.scope is None:
            return SILENT
        if "method" not in self.scope:
            return HEAD
        if self.cycle is None or self.cycle.response_complete:
            return SILENT if self.cycle is None or not self.cycle.more_body else DRAIN
        return BODY if self.cycle.more_body else ANSWER

    def is_idle(self) -> bool:
        """Say whether the connection has no request in hand."""
        return self.phase() in (SILENT, HEAD, DRAIN, CLOSING)

    def abort(self) -> None:
        """End the connection at once."""
        self.transport.abort()

    def look(self, now: float) -> None:
        """End the connection if its current phase has taken too long."""
        phase = self.phase()
        if self._looked[0] is not self.scope or self._looked[1] != phase:
            self._looked = (self.scope, phase)
            self._since = self._window_since = now
            self._window_bytes, self._n_unsent = self._n_received, 0
        elif phase in (SILENT, HEAD):
            self._look_at_head(now)
        elif phase == BODY:
            self._look_at_body(now)
        elif phase == ANSWER:
            self._look_at_answer(now)
        elif now - self._since >= LINGER_S:
            self.transport.abort()

    def _look_at_head(self, now: float) -> None:
        if now - self._since < self.guard.limits.head_s:
            return
        if self.scope is None or "method" in self.scope:
            self.transport.abort()
        else:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, "The request's headers took too long to arrive.")

    def _look_at_body(self, now: float) -> None:
        # While the server itself does not read, the client is not slow.
        waited = now - self._window_since
        if self.flow.read_paused or waited < self.guard.limits.head_s:
            if self.flow.read_paused:
                self._window_since, self._window_bytes = now, self._n_received
            return
        if self._n_received - self._window_bytes < waited * self.guard.limits.body_bytes_per_s:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, "The request's body arrives too slowly.")
        self._window_since, self._window_bytes = now, self._n_received

    def _look_at_answer(self, now: float) -> None:
        n_unsent = self.transport.get_write_buffer_size()
        if not n_unsent or n_unsent != self._n_unsent:
            self._n_unsent, self._since = n_unsent, now
        elif now - self._since >= self.guard.limits.stall_s:
            self.transport.abort()

    def _refuse(self, status: HTTPStatus, detail: str) -> None:
        if self._closing or self.transport.is_closing():
            return
        if not self._gives_up_requests():
            self.transport.abort()
            return
        body = problem_bytes(status, detail)
        head = f"HTTP/1.1 {status.value} {status.phrase}\r\ncontent-type: application/problem+json\r\n"
        head += f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        self.transport.write(head.encode() + body)
        self.close_gently()

    def _unanswered(self) -> list[RequestResponseCycle]:
        return [cycle for cycle in self._in_hand if not cycle.response_complete]

    def _gives_up_requests(self) -> bool:
        """Leave the requests in hand without answers, or say that one has a part of its own already."""
        if any(cycle.response_started for cycle in self._unanswered()):
            return False
        # Nothing may be written after the refusal, and the reader of the body must not wait for more.
        self._disconnect()
        return True

    def _disconnect(self) -> None:
        """Notify every request in progress that its client has disconnected; uvicorn notifies only the last one."""
        for cycle in self._unanswered():
            cycle.disconnected = True
            cycle.message_event.set()
        self.pipeline.clear()

    def close_gently(self) -> None:
        """Send the rest and the end, and accept no more; the sweep closes the connection once that is read."""
        if self._closing or self.transport.is_closing():
            return
        self._closing = True
        self.flow.resume_reading()
        self.transport.write_eof()


class _Gently:
    """The transport of a request with a body: closing it before the body has come must not lose the answer."""

    def __init__(self, connection: GuardedProtocol) -> None:
        self._connection = connection
        self._transport = connection.transport
        self.write = connection.transport.write
        self.is_closing = connection.transport.is_closing

    def close(self) -> None:
        """Close once everything has been read, else gently."""
        cycle = self._connection.cycle
        if cycle is not None and cycle.more_body and self._is_of(cycle):
            self._connection.close_gently()
        else:
            self._transport.close()

    def _is_of(self, cycle: object) -> bool:
        return getattr(cycle, "transport", None) is self


def guarded_protocol(limits: ConnectionLimits) -> type[GuardedProtocol]:
    """Return the protocol class for a process with these limits."""
    return type("GuardedProtocol", (GuardedProtocol,), {"guard": Guard(limits)})


def _head_rule() -> str:
    return f"A request may have at most {MAX_HEADERS} headers, and {MAX_HEAD_BYTES >> 10} KiB with its first line."


SWEEP_S = 1.0


# How many connections a web process has at a time, in all and from one address, and that none of them is too slow.


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
