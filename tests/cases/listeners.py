"""Servers of the web and of mail that write down what they are told, for the tests of notifications."""

import asyncio
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from app.db.engine import SessionFactory
from app.jobs.notifying import Outgoing, deliver_due


def notify_due(sessions: SessionFactory, outgoing: Outgoing) -> int:
    """Send the due notifications, as the worker does, and return how many were attempted."""
    return asyncio.run(deliver_due(sessions, outgoing))


@dataclass
class Heard:
    """What a server was told, and what it answers."""

    port: int = 0
    answer: int = 204
    bodies: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    mails: list[str] = field(default_factory=list)


@contextmanager
def web_listener(answer: int = 204) -> Iterator[Heard]:
    """Yield what a web server on the loopback address hears; it may answer with a redirect to itself."""
    heard = Heard(answer=answer)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            heard.paths.append(self.path)
            heard.headers.append({name.lower(): value for name, value in self.headers.items()})
            heard.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(heard.answer)
            if heard.answer == 302:
                self.send_header("Location", f"http://127.0.0.1:{heard.port}/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        heard.port = server.server_address[1]
        yield from _served(server, heard)


@contextmanager
def slow_listener() -> Iterator[Heard]:
    """Yield what a web server hears that answers a byte every tenth of a second and never comes to an end."""
    heard = Heard()
    ended = threading.Event()

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            heard.bodies.append(self.request.recv(65536))
            with suppress(OSError):
                self.request.sendall(b"HTTP/1.1 200 OK\r\nX: ")
                while not ended.wait(0.1):
                    self.request.sendall(b"a")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        heard.port = server.server_address[1]
        try:
            yield from _served(server, heard)
        finally:
            ended.set()


@contextmanager
def mail_listener() -> Iterator[Heard]:
    """Yield what a mail server on the loopback address hears: it speaks as much of SMTP as a sender needs."""
    heard = Heard()

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.wfile.write(b"220 ready\r\n")
            while line := self.rfile.readline():
                command = line.strip().upper().split(b" ")[0]
                if command == b"DATA":
                    self.wfile.write(b"354 go on\r\n")
                    lines = []
                    while (each := self.rfile.readline()) not in (b".\r\n", b""):
                        lines.append(each)
                    heard.mails.append(b"".join(lines).decode())
                self.wfile.write(b"221 bye\r\n" if command == b"QUIT" else b"250 yes\r\n")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        heard.port = server.server_address[1]
        yield from _served(server, heard)


def _served(server: socketserver.BaseServer, heard: Heard) -> Iterator[Heard]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield heard
    finally:
        server.shutdown()
        thread.join()
