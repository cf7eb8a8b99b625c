"""The process that has the readers of files imported, and forks a child for each upload.

Started by `app.reading.fork_server` with one end of a socket as its standard input; orders and reports are lines of
JSON. It has no secrets, and it ends with its children when the other end closes, however that comes about. One child
more than there are uploads waits for the next, which need not wait for a fork then.
"""

import gc
import json
import os
import resource
import selectors
import signal
import socket
import sys
import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from app.boards.registry import methods
from app.reading.child import status_of_waiting


@dataclass
class Child:
    """A process that reads one upload; on its line comes the status with which it is about to end."""

    number: int
    pid: int
    line: socket.socket
    ends_at: float
    is_late: bool = False


@dataclass(frozen=True)
class Spare:
    """A child that waits for its order on its line; it ends when nothing can come any more."""

    pid: int
    line: socket.socket

    def start(self, order: dict[str, Any]) -> None:
        """Give it its order. Raises OSError where it is gone."""
        self.line.sendall(json.dumps(order).encode())
        self.line.shutdown(socket.SHUT_WR)


class Server:
    """Starts, watches and ends the children."""

    def __init__(self, orders: socket.socket) -> None:
        self._orders = orders
        self._received = b""
        self._children: dict[int, Child] = {}
        self._leaving: set[int] = set()
        self._selector = selectors.DefaultSelector()
        self._spare: Spare | None = None
        self._base_bytes = 0

    def run(self) -> None:
        """Serve until the other end closes."""
        self._base_bytes = _own_bytes()
        waker, wake = socket.socketpair()
        for end in (waker, wake):
            end.setblocking(False)
        signal.set_wakeup_fd(wake.fileno())
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._selector.register(self._orders, selectors.EVENT_READ)
        self._selector.register(waker, selectors.EVENT_READ)
        is_open = True
        while is_open:
            # Between orders: whoever has just ordered a reading does not wait for this.
            self._spare = self._spare or self._fork()
            ready = {key.fileobj for key, _ in self._selector.select(self._wait_s())}
            if waker in ready:
                waker.recv(4096)
            is_open = self._orders not in ready or self._obey()
            self._hear(ready)
            self._end_late()
            self._report_ended()
        for pid in (*self._children, *([] if self._spare is None else [self._spare.pid])):
            _kill(pid)

    def _wait_s(self) -> float | None:
        ends = [child.ends_at for child in self._children.values() if not child.is_late]
        return max(0.0, min(ends) - time.monotonic()) if ends else None

    def _obey(self) -> bool:
        received = self._orders.recv(1 << 16)
        *lines, self._received = (self._received + received).split(b"\n")
        for line in lines:
            order = json.loads(line)
            if "kill" in order:
                for child in self._children.values():
                    if child.number == order["kill"]:
                        _kill(child.pid)
            else:
                self._start(order)
        return bool(received)

    def _start(self, order: dict[str, Any]) -> None:
        spare, self._spare = self._spare or self._fork(), None
        # One that ended while it waited has lost its pipe, and nobody its upload.
        try:
            spare.start(order)
        except OSError:
            spare.line.close()
            os.waitpid(spare.pid, 0)
            spare = self._fork()
            spare.start(order)
        ends_at = time.monotonic() + order["wall_s"]
        self._children[spare.pid] = Child(order["start"], spare.pid, spare.line, ends_at)
        self._selector.register(spare.line, selectors.EVENT_READ)

    def _fork(self) -> Spare:
        ours, theirs = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            self._selector.close()
            for line in (self._orders, ours, *(child.line for child in self._children.values())):
                line.close()
            status = status_of_waiting(theirs, self._base_bytes)
            with suppress(OSError):
                theirs.sendall(bytes([status]))
            os._exit(status)
        theirs.close()
        return Spare(pid, ours)

    def _hear(self, ready: Collection[Any]) -> None:
        """Report whose status came: nobody waits while the system takes a whole process apart."""
        for child in [child for child in self._children.values() if child.line in ready]:
            self._selector.unregister(child.line)
            with suppress(OSError):
                if status := child.line.recv(1):
                    self._leaving.add(child.pid)
                    self._report(child, status[0])

    def _end_late(self) -> None:
        for child in self._children.values():
            if not child.is_late and time.monotonic() >= child.ends_at:
                child.is_late = True
                _kill(child.pid)

    def _report_ended(self) -> None:
        for pid in [*self._children, *self._leaving]:
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended and pid in self._leaving:
                self._leaving.remove(pid)
            elif ended:
                self._report(self._children[pid], os.waitstatus_to_exitcode(status))

    def _report(self, child: Child, status: int) -> None:
        del self._children[child.pid]
        # What it started in turn must not outlive it, and it itself not its word that it has ended.
        _kill(child.pid)
        with suppress(KeyError):
            self._selector.unregister(child.line)
        child.line.close()
        report = {"ended": child.number, "status": status, "late": child.is_late}
        self._orders.sendall(json.dumps(report).encode() + b"\n")


def _kill(pid: int) -> None:
    """End a child and all that it started; it leads a group of its own as soon as it runs."""
    for kill in (os.killpg, os.kill):
        with suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)


def _own_bytes() -> int:
    try:
        pages = Path("/proc/self/statm").read_text().split()[0]
    except OSError:
        return 1 << 30
    return int(pages) * resource.getpagesize()


def main() -> int:
    """Serve on standard input."""
    # Ctrl-C in a terminal is for the supervisor; this ends when its web process does.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Imported here and not in each child, which would take longer than most readings: the classes of every method,
    # which manifests hold, and pandas, which Arrow imports when it first makes an array of numpy.
    methods()
    np.asarray(pa.array([True]))
    gc.collect()
    gc.freeze()
    Server(socket.socket(fileno=0)).run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
