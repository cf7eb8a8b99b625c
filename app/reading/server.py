"""The fork server: it has the readers of files imported, and forks a child for each upload.

Started by `app.reading.readers` with one end of a socket as its standard input; orders and reports are lines of
JSON. It has no secrets, and it ends with its children when the other end closes for whatever reason. A spare child
always waits, so that the next upload need not wait for a fork; and a child that has read waits a while for the next
upload of the same sender (`app.reading.kept`).
"""

import gc
import json
import os
import selectors
import signal
import socket
import sys
import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from app.boards.registry import methods
from app.reading.child import REPORT, read_as_ordered
from app.reading.kept import UNKNOWN, KeptReaders, is_as_new, memory_of

NICENESS = 2
SIGNALS = {"kill": signal.SIGKILL, "stop": signal.SIGSTOP, "go_on": signal.SIGCONT}


@dataclass(frozen=True)
class Reader:
    """A child waiting for an order on its socket; it ends when the socket closes."""

    pid: int
    line: socket.socket

    def start(self, order: dict[str, Any]) -> None:
        """Give it its order. Raises OSError where it is gone."""
        self.line.sendall(json.dumps(order).encode() + b"\n")


@dataclass
class Child:
    """A process that reads one upload for its sender; it reports on its socket how that ended."""

    number: int
    owner: int
    reader: Reader
    ends_at: float
    is_late: bool = False

    @property
    def pid(self) -> int:
        """Return the number of the process."""
        return self.reader.pid

    @property
    def line(self) -> socket.socket:
        """Return its line."""
        return self.reader.line


class Server:
    """Starts, watches and ends the children."""

    def __init__(self, orders: socket.socket) -> None:
        self._orders = orders
        self._received = b""
        self._children: dict[int, Child] = {}
        self._leaving: set[int] = set()
        self._selector = selectors.DefaultSelector()
        self._spare: Reader | None = None
        self._kept: KeptReaders[Reader] = KeptReaders()
        self._base = UNKNOWN

    def run(self) -> None:
        """Serve until the other end closes."""
        self._base = memory_of("self")
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
        for pid in (*self._children, *(reader.pid for reader in self._waiting())):
            _kill(pid)

    def _waiting(self) -> list[Reader]:
        return [*self._kept, *([] if self._spare is None else [self._spare])]

    def _wait_s(self) -> float | None:
        ends = [child.ends_at for child in self._children.values() if not child.is_late]
        ends += [] if self._kept.next_end is None else [self._kept.next_end]
        return max(0.0, min(ends) - time.monotonic()) if ends else None

    def _obey(self) -> bool:
        received = self._orders.recv(1 << 16)
        *lines, self._received = (self._received + received).split(b"\n")
        for line in lines:
            order = json.loads(line)
            if "start" in order:
                self._start(order)
                continue
            for word, number in order.items():
                for child in self._children.values():
                    if child.number == number:
                        _signal(child.pid, SIGNALS[word])
        return bool(received)

    def _start(self, order: dict[str, Any]) -> None:
        reader = self._started(order)
        ends_at = time.monotonic() + order["wall_s"]
        self._children[reader.pid] = Child(order["start"], order["owner"], reader, ends_at)
        self._selector.register(reader.line, selectors.EVENT_READ)

    def _started(self, order: dict[str, Any]) -> Reader:
        """Return a reader that has its order: one kept for the sender, else the spare one, else a new one."""
        while (reader := self._kept.take(order["owner"]) or self._take_spare()) is not None:
            # A reader that ended while waiting has closed its socket; no upload is lost.
            try:
                reader.start(order)
            except OSError:
                self._leave(reader)
            else:
                return reader
        reader = self._fork()
        reader.start(order)
        return reader

    def _take_spare(self) -> Reader | None:
        spare, self._spare = self._spare, None
        return spare

    def _fork(self) -> Reader:
        ours, theirs = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            self._selector.close()
            others = (*(child.reader for child in self._children.values()), *self._waiting())
            for line in (self._orders, ours, *(reader.line for reader in others)):
                line.close()
            with suppress(OSError):
                read_as_ordered(theirs, self._base.mapped)
            os._exit(0)
        theirs.close()
        return Reader(pid, ours)

    def _hear(self, ready: Collection[Any]) -> None:
        """Report children whose status has arrived, without waiting for the system to clean up the process."""
        for child in [child for child in self._children.values() if child.line in ready]:
            self._selector.unregister(child.line)
            with suppress(OSError):
                if report := child.line.recv(REPORT.size):
                    status, cpu_s = REPORT.unpack(report)
                    del self._children[child.pid]
                    # It may have been stopped between its report and now, and is to read again.
                    _signal(child.pid, signal.SIGCONT)
                    self._report(child, status, cpu_s)
                    self._keep(child, is_kept=status == 0 and not child.is_late)

    def _keep(self, child: Child, *, is_kept: bool) -> None:
        """Keep a reader for its sender, or end it with everything it started."""
        if is_kept and is_as_new(child.pid, self._base):
            left = self._kept.keep(child.owner, child.reader, time.monotonic())
        else:
            left = [child.reader]
        for reader in left:
            self._leave(reader)

    def _leave(self, reader: Reader) -> None:
        self._kept.drop(reader)
        _kill(reader.pid)
        reader.line.close()
        self._leaving.add(reader.pid)

    def _end_late(self) -> None:
        now = time.monotonic()
        for child in self._children.values():
            if not child.is_late and now >= child.ends_at:
                child.is_late = True
                _kill(child.pid)
        for reader in self._kept.over(now):
            self._leave(reader)

    def _report_ended(self) -> None:
        for reader in list(self._kept):
            if os.waitpid(reader.pid, os.WNOHANG)[0]:
                self._kept.drop(reader)
                reader.line.close()
        for pid in [*self._children, *self._leaving]:
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended and pid in self._leaving:
                self._leaving.remove(pid)
            elif ended:
                self._report_lost(self._children.pop(pid), os.waitstatus_to_exitcode(status))

    def _report_lost(self, child: Child, status: int) -> None:
        """Report a reader that ended without a report; what it started must not outlive it."""
        _kill(child.pid)
        with suppress(KeyError):
            self._selector.unregister(child.line)
        child.line.close()
        self._report(child, status)

    def _report(self, child: Child, status: int, cpu_s: float | None = None) -> None:
        report = {"ended": child.number, "status": status, "late": child.is_late, "cpu_s": cpu_s}
        self._orders.sendall(json.dumps(report).encode() + b"\n")


def _kill(pid: int) -> None:
    """End a child and everything it started."""
    _signal(pid, signal.SIGKILL)


def _signal(pid: int, number: int) -> None:
    """Send a signal to a child and everything it started; it leads its own process group as soon as it runs."""
    for send in (os.killpg, os.kill):
        with suppress(ProcessLookupError, PermissionError):
            send(pid, number)


def main() -> int:
    """Serve on standard input."""
    # Ctrl-C in a terminal is for the supervisor, and a stop signal for the web process; this process ends with that
    # one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    # Pages have priority over uploads.
    os.nice(NICENESS)
    # Imported here because importing in each child would take longer than most readings: the classes of every method,
    # used by manifests, and pandas, which Arrow imports when it first creates a numpy array.
    methods()
    np.asarray(pa.array([True]))
    gc.collect()
    gc.freeze()
    Server(socket.socket(fileno=0)).run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
