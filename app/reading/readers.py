"""Reads uploads for the web process: a few at a time, each in a process that is killed beyond its limits.

Created by `app.main`, used by `app.web.submissions` and `app.web.labels`.
"""

import asyncio
import errno
import itertools
import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Awaitable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool

from app.config import MIB, PREFIX, Settings
from app.errors import Busy, EvidenceRejected, Problem, TooLarge
from app.reading.jobs import ANSWER, JOB, Failed, Job, Refused, read_answer
from app.turns import RETRY_AFTER_S, Turn, Turns

KILLED_WITHIN_S = 5.0

# The largest file that a reader may write; an answer may be larger than what was unpacked.
FILE_FACTOR = 2

LATER = 1
"""Copying a next upload is less urgent than storing one that was read."""

MOST_BESIDE = 3
"""Threads that copy and store uploads; the event loop, which sends pages, takes turns with each of them."""

COSTLY_S = 30.0
"""Who has used more processor time for readings lately comes again later, while others wait."""

GIVEN_UP = "Reading this upload was stopped, because many that take less time wait; send it again later."


class ReaderFailed(Exception):
    """A fault of ours in a reader; the text is its traceback."""


# The web process's side of the fork server for readers: starts it, sends orders, receives how children ended. There
# is one per web process, kept running.


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
        self._running: _ServerProcess | None = None

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

    def _ready(self) -> "_ServerProcess":
        if self._running is None or self._running.is_gone:
            self._running = _ServerProcess()
        return self._running


class _Running:
    """A reading that can be stopped where it is (`app.turns.Work`)."""

    def __init__(self, server: ForkServer, number: int) -> None:
        self._server, self._number = server, number
        self.given_up: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def stop(self) -> None:
        """Stop its process, which keeps what it has in memory."""
        self._server.stop(self._number)

    def go_on(self) -> None:
        """Let its process go on."""
        self._server.go_on(self._number)

    def give_up(self) -> None:
        """Have it ended, and its sender told to come again."""
        if not self.given_up.done():
            self.given_up.set_result(None)


class Readers:
    """The readers of one web process."""

    def __init__(self, settings: Settings, server: ForkServer | None = None) -> None:
        self._settings = settings
        self._server = server or fork_server()
        self.turns = Turns(
            settings.max_readings,
            room=settings.max_waiting_readings,
            wait_s=settings.max_wait_s,
            costly_s=COSTLY_S,
            busy="Too many uploads are in hand; send this one again a little later.",
        )
        # What is done beside a reading, in threads of this process: copying files, and storing what was read.
        self.beside = Turns(MOST_BESIDE)

    async def start(self) -> None:
        """Start importing the readers before the first upload needs them."""
        await run_in_threadpool(self._server.start)

    async def read(self, job: Job, folder: Path, owner: int, gone: Awaitable[None], storing: Turn) -> Any:
        """Return the result of a job of a token; `gone` completes when the client has disconnected.

        It is read in a turn of the owner of `storing`, and is stopped while others go before (`Turns`).

        Then `storing` has a place of `beside`, waited for with the place of the reading in hand: nothing is read faster
        than it is stored. Raises what the reader raised, TooLarge beyond the limits of one reading, and Busy.
        """
        leaving = asyncio.ensure_future(gone)
        try:
            async with self.turns.taken(Turn(dict(storing.owners))) as turn:
                result = await self._read(job, folder, owner, leaving, turn)
                await self.beside.wait(storing)
                return result
        finally:
            leaving.cancel()

    async def _read(self, job: Job, folder: Path, owner: int, leaving: asyncio.Future[None], turn: Turn) -> Any:
        number, ended = await run_in_threadpool(self._order, job, folder, owner)
        end = asyncio.wrap_future(ended)
        work = _Running(self._server, number)
        try:
            self.turns.may_stop(turn, work)
            waited: list[asyncio.Future[Any]] = [end, leaving, work.given_up]
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
            if not end.done():
                raise Busy(GIVEN_UP if work.given_up.done() else "The client has gone.", RETRY_AFTER_S)
            turn.cost_s = end.result().cpu_s
            if end.result().is_late and turn.charged_s:
                raise Busy(GIVEN_UP, RETRY_AFTER_S)
            self._check(end.result())
        except ServerGone:
            raise Busy("The readers had to be started again; send the upload again.", RETRY_AFTER_S) from None
        finally:
            turn.work = None
            if not end.done():
                self._server.kill(number)
                await asyncio.wait([end], timeout=KILLED_WITHIN_S)
        return self._value_of(await run_in_threadpool(read_answer, folder / ANSWER))

    def _order(self, job: Job, folder: Path, owner: int) -> tuple[int, "Future[Ended]"]:
        (folder / JOB).write_bytes(pickle.dumps(job, protocol=5))
        settings = self._settings
        allowance = Allowance(
            memory_bytes=settings.max_reading_mib * MIB,
            cpu_s=settings.max_reading_cpu_s,
            wall_s=settings.max_reading_s,
            file_bytes=FILE_FACTOR * settings.max_unpacked_mib * MIB,
        )
        return self._server.run(folder, allowance, owner)

    def _check(self, ended: Ended) -> None:
        """Raise the error to answer with if a reader did not end normally."""
        settings = self._settings
        if ended.is_late:
            raise TooLarge(f"Reading this upload takes longer than {settings.max_reading_s:g} s; send less at a time.")
        if ended.status == -signal.SIGXCPU:
            allowed = settings.max_reading_cpu_s
            raise TooLarge(f"Reading this upload takes more than {allowed} s of processor time; send less at a time.")
        if ended.status == FAULT:
            raise ReaderFailed("the reader could not hand back what it read; see its traceback above")
        if ended.status == OUT_OF_MEMORY:
            raise self._needs_memory()
        if ended.status != 0:
            raise EvidenceRejected("The files cannot be read.", [Problem("the reader of these files gave up on them")])

    def _needs_memory(self) -> TooLarge:
        allowed = self._settings.max_reading_mib
        return TooLarge(f"Reading this upload needs more than {allowed:,} MiB of memory; send less at a time.")

    def _value_of(self, answer: Any) -> Any:
        if isinstance(answer, Refused):
            raise answer.as_error()
        if isinstance(answer, Failed) and answer.number == errno.ENOMEM:
            raise self._needs_memory()
        if isinstance(answer, Failed) and answer.number:
            raise OSError(answer.number, answer.text)
        if isinstance(answer, Failed):
            raise ReaderFailed(answer.text)
        return answer


# Exit codes of a reader; any other means that the files broke it.
FAULT, OUT_OF_MEMORY = 2, 3


class ServerGone(Exception):
    """The process that forks readers has ended."""


class _ServerProcess:
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
