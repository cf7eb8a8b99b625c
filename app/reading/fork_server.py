"""The web process's side of the fork server for readers: starts it, sends orders, receives how children ended.

Used by `app.reading.readers`. There is one per web process, kept running.
"""

import itertools
import json
import os
import socket
import subprocess
import sys
import threading
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from app.config.settings import PREFIX

# Exit codes of a reader; any other means that the files broke it.
FAULT, OUT_OF_MEMORY = 2, 3


class ServerGone(Exception):
    """The process that forks readers has ended."""


@dataclass(frozen=True)
class Allowance:
    """What one reader may use."""

    memory_bytes: int
    cpu_s: int
    wall_s: float
    file_bytes: int


@dataclass(frozen=True)
class Ended:
    """How a reader ended: its exit code, negative for a signal, and whether it was killed for exceeding its time.

    `cpu_s` is the processor time of the reading; None where the reader could not say.
    """

    status: int
    is_late: bool
    cpu_s: float | None = None


class ForkServer:
    """Started when first needed, and again when it has ended."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._running: _Running | None = None

    def start(self) -> None:
        """Have the process ready."""
        with self._lock:
            self._ready()

    def run(self, folder: Path, allowance: Allowance, owner: int) -> tuple[int, Future[Ended]]:
        """Have the job in a folder read for its sender; return the number of the reading and how it ends."""
        number = next(self._numbers)
        order = {
            "start": number,
            "owner": owner,
            "folder": str(folder),
            "memory_bytes": allowance.memory_bytes,
            "cpu_s": allowance.cpu_s,
            "wall_s": allowance.wall_s,
            "file_bytes": allowance.file_bytes,
        }
        with self._lock:
            return number, self._ready().send(number, order)

    def kill(self, number: int) -> None:
        """End a reader; harmless if it has ended already."""
        self._tell({"kill": number})

    def stop(self, number: int) -> None:
        """Stop a reader where it is, with everything it started; harmless if it has ended already."""
        self._tell({"stop": number})

    def go_on(self, number: int) -> None:
        """Let a stopped reader go on."""
        self._tell({"go_on": number})

    def end_unready(self) -> None:
        """End the process if it is still importing; once it serves, it ignores the signal and ends with its socket."""
        with self._lock:
            if self._running is not None:
                self._running.process.terminate()

    @property
    def pid(self) -> int | None:
        """The number of the process."""
        return None if self._running is None else self._running.process.pid

    def _tell(self, order: dict[str, object]) -> None:
        with self._lock:
            if self._running is not None and not self._running.is_gone:
                self._running.tell(order)

    def _ready(self) -> "_Running":
        if self._running is None or self._running.is_gone:
            self._running = _Running()
        return self._running


class _Running:
    """One process, until it ends."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "app.reading.server"],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                env=_environment(),
                start_new_session=True,
            )
        self._socket = ours
        self._futures: dict[int, Future[Ended]] = {}
        self._lock = threading.Lock()
        self.is_gone = False
        threading.Thread(target=self._hear, name="readers", daemon=True).start()

    def send(self, number: int, order: dict[str, object]) -> Future[Ended]:
        """Order a reader."""
        future: Future[Ended] = Future()
        with self._lock:
            if self.is_gone:
                future.set_exception(ServerGone())
                return future
            self._futures[number] = future
        self.tell(order)
        return future

    def tell(self, order: dict[str, object]) -> None:
        """Send an order; if the other end is gone, that is noticed where reports are received."""
        with suppress(OSError):
            self._socket.sendall(json.dumps(order).encode() + b"\n")

    def _hear(self) -> None:
        with suppress(OSError), self._socket.makefile("rb") as reports:
            for line in reports:
                report = json.loads(line)
                with self._lock:
                    future = self._futures.pop(report["ended"])
                future.set_result(Ended(report["status"], report["late"], report["cpu_s"]))
        with self._lock:
            self.is_gone = True
            left, self._futures = list(self._futures.values()), {}
        self._socket.close()
        self.process.wait()
        for future in left:
            future.set_exception(ServerGone())


def _environment() -> dict[str, str]:
    """Return the environment without secrets; the system's allocator, unlike Arrow's, respects a limit of memory."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith(PREFIX)}
    return {**kept, "ARROW_DEFAULT_MEMORY_POOL": "system", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


@cache
def fork_server() -> ForkServer:
    """Return the process's own."""
    return ForkServer()
