"""A small HTTP client on kept connections, so that what is measured is the server."""

import asyncio
import time
from dataclasses import dataclass, field

KEPT_S = 2.0


@dataclass(frozen=True)
class Answer:
    """One answer, and the seconds from when it was due to be asked for until its last byte."""

    status: int
    head: bytes
    body: bytes
    seconds: float

    def header(self, name: bytes) -> bytes:
        """Return the value of a header, or nothing."""
        lines = [line.partition(b":") for line in self.head.split(b"\r\n")]
        return next((value.strip() for key, _, value in lines if key.lower() == name), b"")


@dataclass
class Connections:
    """Connections to one address that wait for their next request; more are opened when all are busy."""

    host: str
    port: int
    _idle: list[tuple[float, asyncio.StreamReader, asyncio.StreamWriter]] = field(default_factory=list)

    async def ask(self, request: bytes, due: float) -> Answer:
        """Send one request and return its answer; its time counts from when it was due, not from when it was sent."""
        reader, writer = await self._take()
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        body = await reader.readexactly(int(lengths[0].split(b":")[1])) if lengths else b""
        seconds = time.perf_counter() - due
        self._idle.append((time.perf_counter(), reader, writer))
        return Answer(int(head.split(b" ", 2)[1]), head, body, seconds)

    async def _take(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Return a connection; one that has waited long may be closed by the server at any moment."""
        while self._idle:
            since, reader, writer = self._idle.pop()
            if time.perf_counter() - since < KEPT_S:
                return reader, writer
            writer.close()
        return await asyncio.open_connection(self.host, self.port)

    def close(self) -> None:
        """Close what is open."""
        for _, _, writer in self._idle:
            writer.close()


def get(path: str) -> bytes:
    """Return a request for a page, as a browser sends it."""
    return (
        f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/html,*/*;q=0.8\r\nAccept-Encoding: gzip, br\r\n\r\n"
    ).encode()


def post_file(path: str, authorization: str, name: str, content: bytes) -> bytes:
    """Return a submission of one file."""
    edge = "plumbline-bench"
    part = f'--{edge}\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n\r\n'.encode()
    body = part + content + f"\r\n--{edge}--\r\n".encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {authorization}\r\n"
        f"Content-Type: multipart/form-data; boundary={edge}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body
