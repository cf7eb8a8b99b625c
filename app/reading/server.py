"""The process that has the readers of files imported, and forks a child for each upload.

Started by `app.reading.fork_server` with one end of a socket as its standard input; orders and reports are lines of
JSON. It has no secrets, and it ends with its children when the other end closes, however that comes about. One child
more than there are uploads waits for the next, which need not wait for a fork then.
"""

import errno
import gc
import json
import os
import pickle
import resource
import selectors
import signal
import socket
import sys
import tempfile
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from app.boards.registry import methods
from app.reading.answers import ANSWER, JOB, write_answer
from app.reading.fork_server import FAULT, OUT_OF_MEMORY
from app.reading.jobs import Failed, outcome_of

CPU_GRACE_S = 5


@dataclass
class Child:
    """A process that reads one upload."""

    number: int
    pid: int
    ends_at: float
    is_late: bool = False


@dataclass(frozen=True)
class Spare:
    """A child that waits for its order, and where it is given; it ends when nothing can come any more."""

    pid: int
    order: int

    def start(self, order: dict[str, Any]) -> None:
        """Give it its order. Raises BrokenPipeError where it is gone."""
        try:
            os.write(self.order, json.dumps(order).encode())
        finally:
            os.close(self.order)


class Server:
    """Starts, watches and ends the children."""

    def __init__(self, orders: socket.socket) -> None:
        self._orders = orders
        self._received = b""
        self._children: dict[int, Child] = {}
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
        with selectors.DefaultSelector() as selector:
            selector.register(self._orders, selectors.EVENT_READ)
            selector.register(waker, selectors.EVENT_READ)
            is_open = True
            while is_open:
                # Between orders: whoever has just ordered a reading does not wait for this.
                self._spare = self._spare or self._fork()
                ready = {key.fileobj for key, _ in selector.select(self._wait_s())}
                if waker in ready:
                    waker.recv(4096)
                is_open = self._orders not in ready or self._obey()
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
        except BrokenPipeError:
            os.waitpid(spare.pid, 0)
            spare = self._fork()
            spare.start(order)
        self._children[spare.pid] = Child(order["start"], spare.pid, time.monotonic() + order["wall_s"])

    def _fork(self) -> Spare:
        wanted, order = os.pipe()
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            self._orders.close()
            os.close(order)
            os._exit(_status_of_waiting(wanted, self._base_bytes))
        os.close(wanted)
        return Spare(pid, order)

    def _end_late(self) -> None:
        for child in self._children.values():
            if not child.is_late and time.monotonic() >= child.ends_at:
                child.is_late = True
                _kill(child.pid)

    def _report_ended(self) -> None:
        for pid in list(self._children):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                child = self._children.pop(pid)
                # What it started in turn must not outlive it.
                _kill(pid)
                report = {"ended": child.number, "status": os.waitstatus_to_exitcode(status), "late": child.is_late}
                self._orders.sendall(json.dumps(report).encode() + b"\n")


def _status_of_waiting(wanted: int, base_bytes: int) -> int:
    with os.fdopen(wanted, "rb") as pipe:
        order = pipe.read()
    return _status_of_reading(json.loads(order), base_bytes) if order else 0


def _status_of_reading(order: dict[str, Any], base_bytes: int) -> int:
    try:
        read(order, base_bytes)
    except MemoryError:
        return OUT_OF_MEMORY
    except BaseException:
        traceback.print_exc()
        return FAULT
    return 0


def read(order: dict[str, Any], base_bytes: int) -> None:
    """Do the job that lies in a folder and leave the answer beside it, within the limits of the order."""
    os.setsid()
    folder = Path(order["folder"])
    # What the reader leaves behind is removed with the folder of the request.
    tempfile.tempdir = str(folder)
    _limit(resource.RLIMIT_CORE, 0, 0)
    _limit(resource.RLIMIT_CPU, order["cpu_s"], order["cpu_s"] + CPU_GRACE_S)
    _limit(resource.RLIMIT_FSIZE, order["file_bytes"], order["file_bytes"])
    _limit(resource.RLIMIT_AS, base_bytes + order["memory_bytes"], base_bytes + order["memory_bytes"])
    job = pickle.loads((folder / JOB).read_bytes())  # noqa: S301 - our own web process wrote it
    outcome = outcome_of(job)
    try:
        write_answer(folder / ANSWER, outcome)
    except OSError as error:
        # A full disk may have room for this.
        write_answer(folder / ANSWER, Failed(error.errno or errno.EIO, str(error)))


def _limit(kind: int, soft: int, hard: int) -> None:
    # A system may know a limit and not allow it, as macOS does with that of memory.
    with suppress(ValueError, OSError):
        resource.setrlimit(kind, (soft, hard))


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
