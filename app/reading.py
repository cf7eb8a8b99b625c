"""Reads files of strangers in processes with limits of memory and time, which are killed beyond them.

The web process has `Readers`. They order from one fork server (`ForkServer` here, `serve` there), which has everything
imported and forks children. A child reads uploads of one sender alone, one after another (`read_within_limits`,
`WaitingChildren`), and leaves each answer in the folder of the request, which the web process rebuilds as plain values
alone (`read_answer`). Orders and reports are lines of JSON on a socket: whoever lost the other end of it ends.

It is our own because multiprocessing's fork server hands its children the whole environment, secrets too, and lets them
begin only when an upload is there, 50 to 90 ms later; and a group of processes may be signalled only by who has not yet
reaped its leader, which is who forked it.

Why: docs/adr/027-reading-uploads.md.
"""

import asyncio
import ctypes
import errno
import gc
import io
import itertools
import json
import math
import mmap
import os
import pickle
import resource
import selectors
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import asdict, dataclass, is_dataclass
from enum import Enum
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from starlette.concurrency import run_in_threadpool

from app.boards.registry import methods
from app.config import MIB, PREFIX, Settings
from app.errors import (
    Busy,
    Cause,
    Conflict,
    EvidenceRejected,
    FieldRejected,
    ManifestRejected,
    PlumblineError,
    Problem,
    Rejected,
    TooLarge,
)
from app.program.starting import quietly
from app.turns import Turn, Turns

T = TypeVar("T")

KILLED_WITHIN_S = 5.0

FILE_FACTOR = 2
"""The largest file that a reader may write, in sizes of what may be unpacked; an answer may be larger than that."""

LATER = 1
"""Copying a next upload is less urgent than storing one that was read."""

MOST_BESIDE = 3
"""Threads that copy and store uploads; the event loop, which sends pages, takes turns with each of them."""

COSTLY_S = 30.0
"""Who has used more processor time for readings lately comes again later, while others wait."""

GIVEN_UP = "Reading this upload was stopped, because many that take less time wait; send it again later."

FAULT, OUT_OF_MEMORY = 2, 3
"""Exit codes of a reader; any other means that the files broke it."""

ORDER, ANSWER = "job", "answer"
"""The names of the two files in the folder of a request."""


class ReaderFailed(Exception):
    """A fault of ours in a reader; the text is its traceback."""


class ServerGone(Exception):
    """The process that forks readers has ended."""


class NotAnAnswer(Exception):
    """The file cannot come from an uncompromised reader."""


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


class Readers:
    """The readers of one web process: a few at a time, the others wait in turns."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._allowance = Allowance(
            memory_bytes=settings.max_reading_mib * MIB,
            cpu_s=settings.max_reading_cpu_s,
            wall_s=settings.max_reading_s,
            file_bytes=FILE_FACTOR * settings.max_unpacked_mib * MIB,
        )
        self._server = fork_server()
        self.turns = Turns(
            settings.max_readings,
            room=settings.max_waiting_readings,
            wait_s=settings.max_wait_s,
            costly_s=COSTLY_S,
            busy="Too many uploads are being read; send this one again a little later.",
        )
        # What is done beside a reading, in threads of this process: copying files, and storing what was read.
        self.beside = Turns(MOST_BESIDE)

    async def start(self) -> None:
        """Start importing the readers before the first upload needs them."""
        await run_in_threadpool(self._server.start)

    async def read(self, work: Callable[[], T], folder: Path, owner: int, gone: Awaitable[None], storing: Turn) -> T:
        """Return what `work` returns, called in a reader with the files of a folder for the holder of a token.

        `work` is pickled, what it returns is rebuilt from plain values. `gone` completes when the client has
        disconnected. It is read in a turn of the owner of `storing`, and is stopped while others go before (`Turns`).

        Then `storing` has a place of `beside`, waited for with the place of the reading in hand: nothing is read faster
        than it is stored. Raises what the reader raised, TooLarge beyond the limits of one reading, and Busy.
        """
        leaving = asyncio.ensure_future(gone)
        try:
            async with self.turns.taken(Turn(dict(storing.owners))) as turn:
                result = await self._read(work, folder, owner, leaving, turn)
                await self.beside.wait(storing)
                return result
        finally:
            leaving.cancel()

    async def _read(
        self, work: Callable[[], T], folder: Path, owner: int, leaving: asyncio.Future[None], turn: Turn
    ) -> T:
        number, ended = await run_in_threadpool(self._order, work, folder, owner)
        end = asyncio.wrap_future(ended)
        stoppable = _Stoppable(self._server, number)
        try:
            self.turns.may_stop(turn, stoppable)
            waited: list[asyncio.Future[Any]] = [end, leaving, stoppable.given_up]
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
            if not end.done():
                raise Busy(GIVEN_UP if stoppable.given_up.done() else "The client has gone.")
            turn.cost_s = end.result().cpu_s
            if end.result().is_late and turn.charged_s:
                raise Busy(GIVEN_UP)
            self._check(end.result())
        except ServerGone:
            raise Busy("The readers had to be started again; send the upload again.") from None
        finally:
            turn.work = None
            if not end.done():
                self._server.tell("kill", number)
                await asyncio.wait([end], timeout=KILLED_WITHIN_S)
        answer: T | Refused = await run_in_threadpool(read_answer, folder / ANSWER)
        if isinstance(answer, Refused):
            raise answer.as_error()
        return answer

    def _order(self, work: Callable[[], object], folder: Path, owner: int) -> tuple[int, "Future[Ended]"]:
        (folder / ORDER).write_bytes(pickle.dumps(work, protocol=5))
        return self._server.run(folder, self._allowance, owner)

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
            mib = settings.max_reading_mib
            raise TooLarge(f"Reading this upload needs more than {mib:,} MiB of memory; send less at a time.")
        if ended.status != 0:
            raise EvidenceRejected(
                "The files cannot be read.", [Problem("the process that read them ended without a result")]
            )


class _Stoppable:
    """A reading that can be stopped where it is (`app.turns.Work`)."""

    def __init__(self, server: "ForkServer", number: int) -> None:
        self._server, self._number = server, number
        self.given_up: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def stop(self) -> None:
        """Stop its process, which keeps what it has in memory."""
        self._server.tell("stop", self._number)

    def go_on(self) -> None:
        """Let its process go on."""
        self._server.tell("go_on", self._number)

    def give_up(self) -> None:
        """Have it ended, and its sender told to come again."""
        if not self.given_up.done():
            self.given_up.set_result(None)


# The web process's side of the fork server: starts it, sends orders, hears how readers ended.

SERVED = (
    "from app.program.starting import quietly; quietly(lambda: __import__('app.reading')); "
    "from app.reading import serve; serve()"
)


class ForkServer:
    """Started when first needed, and again when it has ended."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._process: subprocess.Popen[bytes] | None = None
        self._line: socket.socket | None = None
        self._readings: dict[int, Future[Ended]] = {}

    def start(self) -> None:
        """Have the process ready."""
        with self._lock:
            self._ready()

    def run(self, folder: Path, allowance: Allowance, owner: int) -> tuple[int, Future[Ended]]:
        """Have what a folder orders read for its sender; return the number of the reading and how it ends."""
        number, future = next(self._numbers), Future[Ended]()
        order = {"start": number, "owner": owner, "folder": str(folder), "allowance": asdict(allowance)}
        with self._lock:
            line = self._ready()
            self._readings[number] = future
            _send(line, order)
        return number, future

    def tell(self, word: str, number: int) -> None:
        """Have a reader, with everything it started, get one of SIGNALS; harmless if it has ended already."""
        with self._lock:
            if self._line is not None:
                _send(self._line, {word: number})

    def end_unready(self) -> None:
        """End the process if it is still importing; once it serves, it ignores the signal and ends with its socket."""
        with self._lock:
            if self._process is not None:
                self._process.terminate()

    def _ready(self) -> socket.socket:
        if self._line is None:
            self._line, theirs = socket.socketpair()
            with theirs:
                self._process = subprocess.Popen(  # noqa: S603 - the command is our own
                    [sys.executable, "-c", SERVED],
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    env=_environment(),
                    start_new_session=True,
                )
            self._readings = {}
            heard = (self._line, self._process, self._readings)
            threading.Thread(target=self._hear, args=heard, name="readers", daemon=True).start()
        return self._line

    def _hear(self, line: socket.socket, process: subprocess.Popen[bytes], readings: dict[int, Future[Ended]]) -> None:
        with suppress(OSError), line.makefile("rb") as reports:
            for report in map(json.loads, reports):
                readings.pop(report.pop("number")).set_result(Ended(**report))
        with self._lock:
            self._line = None
        line.close()
        process.wait()
        for future in readings.values():
            future.set_exception(ServerGone())


def _send(line: socket.socket, order: Mapping[str, object]) -> None:
    """Send an order; if the other end is gone, that is noticed where reports are received."""
    with suppress(OSError):
        line.sendall(json.dumps(order).encode() + b"\n")


@cache
def fork_server() -> ForkServer:
    """Return the process's own."""
    return ForkServer()


def _environment() -> dict[str, str]:
    """Return the environment without secrets; the system's allocator, unlike Arrow's, respects a limit of memory."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith(PREFIX)}
    return {**kept, "ARROW_DEFAULT_MEMORY_POOL": "system", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


# The fork server. It has no secrets, and it ends with its children when the other end closes for whatever reason. A
# spare child always waits, so that the next upload need not wait for a fork; and a child that has read waits a while
# for the next upload of the same sender.

NICENESS = 2
SIGNALS = {"kill": signal.SIGKILL, "stop": signal.SIGSTOP, "go_on": signal.SIGCONT}
IMPORTED = ("app.kinds.reader", "app.kinds.items", "app.receiving.drafting")
"""What reads and drafts, with every kind: to import it in each child would take longer than most readings."""


def serve() -> None:
    """Serve on the socket that is the standard input, until it closes."""
    # Ctrl-C in a terminal is for the supervisor, and a stop signal for the web process; this process ends with that
    # one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    # Pages have priority over uploads.
    os.nice(NICENESS)
    quietly(_import_all)
    gc.collect()
    gc.freeze()
    _Server(socket.socket(fileno=0)).run()


def _import_all() -> None:
    for name in IMPORTED:
        import_module(name)
    # As well the classes of every method, used by manifests, and pandas, which Arrow imports when it first creates a
    # numpy array.
    methods()
    np.asarray(pa.array([True]))


@dataclass(eq=False)
class Child:
    """A process that waits for an order on its socket, or reads for its sender and reports there how that ended.

    It ends when the socket closes. `number` is that of its reading.
    """

    pid: int
    line: socket.socket
    owner: int = 0
    number: int = 0
    ends_at: float = math.inf
    is_late: bool = False


class WaitingChildren:
    """Children that wait for the next upload of their senders, the oldest first: at most MOST, each for KEPT_S.

    Each is kept for one sender alone, so that what one sends is never in a process that reads what another sends.
    """

    MOST, KEPT_S = 2, 30.0

    def __init__(self) -> None:
        self.children: list[Child] = []

    def take(self, owner: int) -> Child | None:
        """Remove and return the newest child of a sender; None without one."""
        own = [child for child in self.children if child.owner == owner]
        if not own:
            return None
        self.drop(own[-1])
        return own[-1]

    def keep(self, child: Child, now: float) -> list[Child]:
        """Keep a child for its sender; return those that it displaces."""
        child.ends_at = now + self.KEPT_S
        self.children.append(child)
        left, self.children = self.children[: -self.MOST], self.children[-self.MOST :]
        return left

    def drop(self, child: Child) -> None:
        """Remove a child."""
        self.children = [each for each in self.children if each is not child]


class _Server:
    """Starts, watches and ends the children."""

    def __init__(self, orders: socket.socket) -> None:
        self._orders = orders
        self._received = b""
        self._reading: dict[int, Child] = {}
        self._kept = WaitingChildren()
        self._spare: Child | None = None
        self._leaving: set[int] = set()
        self._selector = selectors.DefaultSelector()
        self._mapped, self._resident = memory_of("self")

    def run(self) -> None:
        """Serve until the other end closes."""
        waker, wake = socket.socketpair()
        for end in (waker, wake):
            end.setblocking(False)
        signal.set_wakeup_fd(wake.fileno())
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._selector.register(self._orders, selectors.EVENT_READ)
        self._selector.register(waker, selectors.EVENT_READ)
        is_open = True
        while is_open:
            # Done between orders, so that nobody waits for it.
            self._spare = self._spare or self._fork()
            ready = {key.fileobj for key, _ in self._selector.select(self._wait_s())}
            if waker in ready:
                waker.recv(4096)
            is_open = self._orders not in ready or self._obey()
            self._hear(ready)
            self._end_late()
            self._report_ended()
        signal.set_wakeup_fd(-1)  # The children that end now would be written to a socket that is closed.
        for child in self._children():
            _kill(child.pid)

    def _children(self) -> list[Child]:
        return [*self._reading.values(), *self._kept.children, *([] if self._spare is None else [self._spare])]

    def _wait_s(self) -> float | None:
        ends_at = min((child.ends_at for child in self._children() if not child.is_late), default=math.inf)
        return None if ends_at == math.inf else max(0.0, ends_at - time.monotonic())

    def _obey(self) -> bool:
        received = self._orders.recv(1 << 16)
        *lines, self._received = (self._received + received).split(b"\n")
        for line in lines:
            order = json.loads(line)
            if "start" in order:
                self._start(order)
                continue
            for word, number in order.items():
                for child in self._reading.values():
                    if child.number == number:
                        _signal(child.pid, SIGNALS[word])
        return bool(received)

    def _start(self, order: dict[str, Any]) -> None:
        child = self._started(order)
        child.number, child.owner, child.is_late = order["start"], order["owner"], False
        child.ends_at = time.monotonic() + order["allowance"]["wall_s"]
        self._reading[child.pid] = child
        self._selector.register(child.line, selectors.EVENT_READ)

    def _started(self, order: dict[str, Any]) -> Child:
        """Return a child that has its order: one kept for the sender, else the spare one, else a new one."""
        line = json.dumps(order).encode() + b"\n"
        while (child := self._kept.take(order["owner"]) or self._take_spare()) is not None:
            # A child that ended while waiting has closed its socket; no upload is lost.
            try:
                child.line.sendall(line)
            except OSError:
                self._leave(child)
            else:
                return child
        child = self._fork()
        child.line.sendall(line)
        return child

    def _take_spare(self) -> Child | None:
        spare, self._spare = self._spare, None
        return spare

    def _fork(self) -> Child:
        ours, theirs = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            self._selector.close()
            for line in (self._orders, ours, *(child.line for child in self._children())):
                line.close()
            with suppress(OSError):
                _read_as_ordered(theirs, self._mapped)
            os._exit(0)
        theirs.close()
        return Child(pid, ours)

    def _hear(self, ready: Collection[Any]) -> None:
        """Report children whose status has arrived, without waiting for the system to clean up the process."""
        for child in [child for child in self._reading.values() if child.line in ready]:
            self._selector.unregister(child.line)
            with suppress(OSError):
                if report := child.line.recv(REPORT.size):
                    status, cpu_s = REPORT.unpack(report)
                    del self._reading[child.pid]
                    # It may have been stopped between its report and now, and is to read again.
                    _signal(child.pid, signal.SIGCONT)
                    self._report(child, status, cpu_s)
                    self._keep(child, is_kept=status == 0 and not child.is_late)

    def _keep(self, child: Child, *, is_kept: bool) -> None:
        """Keep a child for its sender, or end it with everything it started."""
        is_kept = is_kept and is_as_new(child.pid, self._resident)
        for each in self._kept.keep(child, time.monotonic()) if is_kept else [child]:
            self._leave(each)

    def _leave(self, child: Child) -> None:
        self._kept.drop(child)
        _kill(child.pid)
        child.line.close()
        self._leaving.add(child.pid)

    def _end_late(self) -> None:
        now = time.monotonic()
        for child in self._reading.values():
            if not child.is_late and now >= child.ends_at:
                child.is_late = True
                _kill(child.pid)
        for child in self._kept.children:
            if now >= child.ends_at:
                self._leave(child)

    def _report_ended(self) -> None:
        for child in self._kept.children:
            if os.waitpid(child.pid, os.WNOHANG)[0]:
                self._kept.drop(child)
                child.line.close()
        for pid in [*self._reading, *self._leaving]:
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended and pid in self._leaving:
                self._leaving.remove(pid)
            elif ended:
                self._report_lost(self._reading.pop(pid), os.waitstatus_to_exitcode(status))

    def _report_lost(self, child: Child, status: int) -> None:
        """Report a child that ended without a report; what it started must not outlive it."""
        _kill(child.pid)
        with suppress(KeyError):
            self._selector.unregister(child.line)
        child.line.close()
        self._report(child, status)

    def _report(self, child: Child, status: int, cpu_s: float | None = None) -> None:
        report = asdict(Ended(status, child.is_late, cpu_s))
        self._orders.sendall(json.dumps({"number": child.number, **report}).encode() + b"\n")


def _kill(pid: int) -> None:
    """End a child and everything it started."""
    _signal(pid, signal.SIGKILL)


def _signal(pid: int, number: int) -> None:
    """Send a signal to a child and everything it started; it leads its own process group as soon as it runs."""
    for send in (os.killpg, os.kill):
        with suppress(ProcessLookupError, PermissionError):
            send(pid, number)


# A child is kept only while it is hardly larger than a new one and has started no other process.

GROWN_BYTES = 64 << 20
USED_CPU_S = 5


def memory_of(pid: int | str) -> tuple[int, int]:
    """Return how many bytes a process has mapped, and how many are in use; a GiB where the system does not say."""
    try:
        mapped, resident = Path(f"/proc/{pid}/statm").read_text().split()[:2]
    except (OSError, ValueError):
        return 1 << 30, 1 << 30
    return int(mapped) * resource.getpagesize(), int(resident) * resource.getpagesize()


def is_as_new(pid: int, base_bytes: int) -> bool:
    """Say whether a child can be kept: uses hardly more memory than what it was forked from, and has no children."""
    try:
        times = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return False
    used_s = sum(map(int, times)) / os.sysconf("SC_CLK_TCK")
    is_small = memory_of(pid)[1] <= base_bytes + GROWN_BYTES
    return is_small and used_s <= USED_CPU_S and not children.strip()


# The child: waits for an order, reads one upload within its limits, and waits again.

CPU_GRACE_S = 5
PR_SET_PDEATHSIG = 1
REPORT = struct.Struct("<Bd")
"""How a reading ended and the processor time that it took, with that of processes that it started."""


def _read_as_ordered(line: socket.socket, base_bytes: int) -> None:
    """Carry out the orders received on a socket and report how each ended, until the socket closes."""
    with line.makefile("rb") as orders:
        for at, order in enumerate(map(json.loads, orders)):
            if at == 0:
                _end_with_parent()
                # A process group of its own, so that it can be ended with everything it starts.
                os.setsid()
            status, before_s = 0, _used_s()
            try:
                read_within_limits(Path(order["folder"]), Allowance(**order["allowance"]), base_bytes)
            except MemoryError:
                status = OUT_OF_MEMORY
            except BaseException:
                traceback.print_exc()
                status = FAULT
            line.sendall(REPORT.pack(status, _used_s() - before_s))


def _end_with_parent() -> None:
    """End however the fork server ends: a reader that is stopped does not notice that its socket has closed."""
    # Linux alone has it; elsewhere a reader ends when it reads from the socket.
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _used_s() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def read_within_limits(folder: Path, allowance: Allowance, base_bytes: int) -> None:
    """Do what a folder orders, within limits on top of the memory of the fork server, and write the answer beside."""
    # What the reader leaves behind is removed with the folder of the request.
    tempfile.tempdir = str(folder)
    _limit(resource.RLIMIT_CORE, 0, 0)
    used = resource.getrusage(resource.RUSAGE_SELF)
    used_s = math.floor(used.ru_utime + used.ru_stime)
    _limit(resource.RLIMIT_CPU, used_s + allowance.cpu_s, USED_CPU_S + allowance.cpu_s + CPU_GRACE_S)
    _limit(resource.RLIMIT_FSIZE, allowance.file_bytes, allowance.file_bytes)
    # A reused process has more memory mapped than a new one, and is allowed the same amount on top of it.
    most_bytes = base_bytes + 2 * allowance.memory_bytes
    _limit(resource.RLIMIT_AS, min(memory_of("self")[0] + allowance.memory_bytes, most_bytes), most_bytes)
    work = pickle.loads((folder / ORDER).read_bytes())  # noqa: S301 - our own web process wrote it
    outcome = outcome_of(work)
    try:
        write_answer(folder / ANSWER, outcome)
    except OSError as error:
        # A full disk may have room for this.
        write_answer(folder / ANSWER, Refused("", str(error), errno=error.errno or errno.EIO))


def _limit(kind: int, soft: int, hard: int) -> None:
    # A system may define a limit without supporting it, as macOS does for memory.
    with suppress(ValueError, OSError):
        resource.setrlimit(kind, (soft, hard))


# What a reader hands back: what it read, or why not.

REFUSALS: Mapping[str, type[PlumblineError]] = {
    kind.__name__: kind for kind in (EvidenceRejected, FieldRejected, ManifestRejected, TooLarge, Conflict)
}
"""What the sender must correct."""


@dataclass(frozen=True)
class Refused:
    """The error that ended a reading: one of REFUSALS, an OSError with its `errno`, or with neither a fault of ours."""

    kind: str
    detail: str
    problems: tuple[Problem, ...] = ()
    n_problems: int = 0
    causes: tuple[Cause, ...] = ()
    errno: int = 0

    def as_error(self) -> Exception:
        """Return the error that the reader raised."""
        kind = REFUSALS.get(self.kind)
        if kind is None:
            return OSError(self.errno, self.detail) if self.errno else ReaderFailed(self.detail)
        if issubclass(kind, Rejected):
            return kind(self.detail, self.problems, n_problems=self.n_problems, causes=self.causes)
        return kind(self.detail)


def outcome_of(work: Callable[[], T]) -> T | Refused:
    """Return what was read, or why it was not. Raises MemoryError."""
    try:
        return work()
    except MemoryError:
        raise
    except Rejected as error:
        kind = type(error).__name__
        return Refused(kind, error.detail, error.problems, error.n_problems, error.causes)
    except OSError as error:
        if error.errno == errno.ENOMEM:
            raise MemoryError from error
        return Refused("", traceback.format_exc(), errno=error.errno or errno.EIO)
    except Exception as error:
        kind = type(error).__name__
        return Refused(kind, str(error) if kind in REFUSALS else traceback.format_exc())


# The file in which it is handed back: one pickle, and its arrays beside it in their memory layout.
#
# Written in the child and read in the web process, which does not trust it: a reader compromised by a hostile file
# must not be able to do more there than create values. Only our own plain classes and numpy arrays are rebuilt.

_COUNT, _ALIGN = struct.Struct("<Q"), 64
_PLAIN = {
    *(("numpy", name) for name in ("ndarray", "dtype")),
    *(("numpy._core.multiarray", name) for name in ("_reconstruct", "scalar")),
    ("numpy._core.numeric", "_frombuffer"),
    *(("builtins", name) for name in ("set", "frozenset")),
    *(("datetime", name) for name in ("datetime", "date", "timezone", "timedelta")),
}


def write_answer(path: Path, answer: object) -> None:
    """Write a value and its arrays."""
    buffers: list[pickle.PickleBuffer] = []
    pickled = pickle.dumps(answer, protocol=5, buffer_callback=buffers.append)
    raw = [memoryview(pickled), *(buffer.raw() for buffer in buffers)]
    with path.open("wb") as file:
        file.write(_COUNT.pack(len(raw)) + b"".join(_COUNT.pack(part.nbytes) for part in raw))
        for part in raw:
            file.write(bytes(-file.tell() % _ALIGN))
            file.write(part)


def read_answer(path: Path) -> Any:
    """Return the value; its arrays stay in the mapped file until they are written to. Raises NotAnAnswer."""
    with path.open("rb") as file:
        content = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
    try:
        pickled, *buffers = _parts(content)
        return _RestrictedUnpickler(io.BytesIO(pickled), buffers=buffers).load()
    except (struct.error, pickle.UnpicklingError, EOFError, ValueError, TypeError, AttributeError) as error:
        raise NotAnAnswer(str(error)) from error


def _parts(content: memoryview) -> Sequence[memoryview]:
    (n_parts,) = _COUNT.unpack_from(content, 0)
    if not 0 < n_parts * _COUNT.size < len(content):
        raise NotAnAnswer("too many parts")
    sizes = struct.unpack_from(f"<{n_parts}Q", content, _COUNT.size)
    at = _COUNT.size * (n_parts + 1)
    parts = []
    for size in sizes:
        at += -at % _ALIGN
        if at + size > len(content):
            raise NotAnAnswer("a part is missing")
        parts.append(content[at : at + size])
        at += size
    return parts


class _RestrictedUnpickler(pickle.Unpickler):
    """Rebuilds data only: a file cannot name a function to be called, neither ours nor Python's."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _PLAIN or (module == "numpy.dtypes" and name.endswith("DType")):
            return super().find_class(module, name)
        if (module.startswith("app.") or module == "plumbline.errors") and "." not in name:
            cls = super().find_class(module, name)
            if isinstance(cls, type) and (is_dataclass(cls) or issubclass(cls, Enum)):
                return cls
        raise pickle.UnpicklingError(f"{module}.{name} is nothing that a reader returns")
