"""The child processes that read: each waits for an order, reads one upload within its limits, and waits again."""

import ctypes
import errno
import json
import math
import os
import pickle
import resource
import signal
import socket
import struct
import tempfile
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any

from app.reading.jobs import ANSWER, JOB, Failed, outcome_of, write_answer
from app.reading.kept import USED_CPU_S, memory_of
from app.reading.readers import FAULT, OUT_OF_MEMORY

CPU_GRACE_S = 5
PR_SET_PDEATHSIG = 1
# How a reading ended and the processor time that it took, with that of processes that it started.
REPORT = struct.Struct("<Bd")


def read_as_ordered(line: socket.socket, base_bytes: int) -> None:
    """Carry out the orders received on a socket and report how each ended, until the socket closes."""
    with line.makefile("rb") as orders:
        for number, order in enumerate(orders):
            if number == 0:
                _end_with_parent()
                # A process group of its own, so that it can be ended with everything it starts.
                os.setsid()
            before_s = _used_s()
            status = _status_of_reading(json.loads(order), base_bytes)
            line.sendall(REPORT.pack(status, _used_s() - before_s))


def _end_with_parent() -> None:
    """End however the fork server ends: a reader that is stopped does not notice that its socket has closed."""
    # Linux alone has it; elsewhere a reader ends when it reads from the socket.
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _used_s() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


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
    """Run the job stored in a folder, within the limits of the order, and write the answer beside it."""
    folder = Path(order["folder"])
    # What the reader leaves behind is removed with the folder of the request.
    tempfile.tempdir = str(folder)
    _limit(resource.RLIMIT_CORE, 0, 0)
    used = resource.getrusage(resource.RUSAGE_SELF)
    used_s = math.floor(used.ru_utime + used.ru_stime)
    _limit(resource.RLIMIT_CPU, used_s + order["cpu_s"], USED_CPU_S + order["cpu_s"] + CPU_GRACE_S)
    _limit(resource.RLIMIT_FSIZE, order["file_bytes"], order["file_bytes"])
    # A reused process has more memory mapped than a new one, and is allowed the same amount on top of it.
    most_bytes = base_bytes + 2 * order["memory_bytes"]
    _limit(resource.RLIMIT_AS, min(memory_of("self").mapped + order["memory_bytes"], most_bytes), most_bytes)
    job = pickle.loads((folder / JOB).read_bytes())  # noqa: S301 - our own web process wrote it
    outcome = outcome_of(job)
    try:
        write_answer(folder / ANSWER, outcome)
    except OSError as error:
        # A full disk may have room for this.
        write_answer(folder / ANSWER, Failed(error.errno or errno.EIO, str(error)))


def _limit(kind: int, soft: int, hard: int) -> None:
    # A system may define a limit without supporting it, as macOS does for memory.
    with suppress(ValueError, OSError):
        resource.setrlimit(kind, (soft, hard))
