"""What a child of the process that forks does: it waits for its order, reads one upload within its limits, and ends.

Called by `app.reading.server`.
"""

import errno
import json
import os
import pickle
import resource
import socket
import tempfile
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any

from app.reading.answers import ANSWER, JOB, write_answer
from app.reading.fork_server import FAULT, OUT_OF_MEMORY
from app.reading.jobs import Failed, outcome_of

CPU_GRACE_S = 5


def status_of_waiting(line: socket.socket, base_bytes: int) -> int:
    """Return the status of the reading that is ordered on a line; 0 where none is any more."""
    order = b""
    while part := line.recv(1 << 16):
        order += part
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
