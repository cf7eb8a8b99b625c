"""What one connection may take of a web process: the protocol under a small application."""

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
import uvicorn

from app.web.connections import MAX_HEAD_BYTES, ConnectionLimits, guarded_protocol

LIMITS = ConnectionLimits(most=100, most_per_address=100, head_s=60, stall_s=60, body_bytes_per_s=1)
HEAD = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
OVERLONG = b"X: " + b"a" * MAX_HEAD_BYTES + b"\r\n"


async def _answer_after_body(scope: Any, receive: Any, send: Any) -> None:
    """Read the whole body, then say how long it was; one answer is begun and never ended."""
    if scope["path"] == "/begun":
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"1000")]})
        await send({"type": "http.response.body", "body": b"begun", "more_body": True})
        while (await receive())["type"] != "http.disconnect":
            pass
    n_bytes, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        n_bytes, more = n_bytes + len(message.get("body", b"")), message.get("more_body", False)
    body = str(n_bytes).encode()
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture(scope="module")
def place() -> Iterator[tuple[str, int]]:
    """A server in a thread, by host and port."""
    protocol = guarded_protocol(LIMITS)
    config = uvicorn.Config(_answer_after_body, http=protocol, lifespan="off", log_config=None)
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield listening.getsockname()
        server.should_exit = server.force_exit = True
        thread.join()


def _exchange(place: tuple[str, int], sent: bytes, *, until: bytes) -> bytes:
    """Send bytes and return what comes, up to a text or to the end of the connection."""
    received = b""
    with socket.create_connection(place, timeout=10) as connection:
        with suppress(ConnectionError):
            connection.sendall(sent)
        with suppress(ConnectionError):
            while until not in received and (piece := connection.recv(65536)):
                received += piece
    return received


@pytest.mark.heavy
def test_headers_after_a_body_are_bounded_like_those_before_it(place: tuple[str, int]) -> None:
    """Headers that follow the last chunk are refused beyond the size of a head."""
    # What comes in one piece with the body is read without being counted, so there is much more of it.
    for trailers in (OVERLONG * 16, b"Y: b\r\n" * (1 << 18), b"X: " + b"a" * (1 << 20)):
        answer = _exchange(place, HEAD + b"3\r\nabc\r\n0\r\n" + trailers, until=b"\r\n\r\n")

        assert answer.startswith(b"HTTP/1.1 431 ")


def test_a_long_body_in_chunks_and_a_few_headers_after_it_are_read(place: tuple[str, int]) -> None:
    """Neither the framing of chunks nor headers of ordinary size after them are refused."""
    chunks = b"1000\r\n" + b"a" * 0x1000 + b"\r\n"

    answer = _exchange(place, HEAD + chunks * 100 + b"0\r\nX: a\r\n\r\n", until=b"409600")

    assert answer.startswith(b"HTTP/1.1 200 ")


def test_a_refusal_is_never_written_into_another_answer(place: tuple[str, int]) -> None:
    """Where an answer has begun, more requests at once than are read end the connection and add nothing to it."""
    received = b""
    with socket.create_connection(place, timeout=10) as connection:
        connection.sendall(b"GET /begun HTTP/1.1\r\nHost: x\r\n\r\n")
        while not received.endswith(b"begun"):
            received += connection.recv(65536)
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 100)
        with suppress(ConnectionError):
            while piece := connection.recv(65536):
                received += piece

    assert received.endswith(b"begun")


def test_too_large_a_head_is_told_so_also_on_a_kept_connection(place: tuple[str, int]) -> None:
    """The second request of a connection is answered, as its first would be."""
    with socket.create_connection(place, timeout=10) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")
        connection.sendall(b"GET / HTTP/1.1\r\n" + OVERLONG + b"\r\n")

        assert connection.recv(65536).startswith(b"HTTP/1.1 431 ")
