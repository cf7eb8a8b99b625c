"""What binds a supervised process to its supervisor: a socket, which is the process's standard input.

The process sends a byte each second from its event loop, so that the supervisor notices a loop that hangs; when the
supervisor ends, however it ends, the socket closes and the process stops by itself. `app.cli.web` and `worker` call the
process's side (`send_beats`, `stop_with_supervisor`), `app.cli.supervisor` the other one (`Beats`). A worker that was
started by itself watches its own loop (`exit_when_hung`).
"""

import asyncio
import faulthandler
import os
import signal
import socket
import threading
import time
from contextlib import suppress

BEAT_EVERY_S = 1.0
# A supervisor that slept itself, or a machine that did, has observed nothing of the time in between.
LONGEST_STEP_S = 1.0
STANDARD_INPUT = 0


class Beats:
    """What the supervisor hears of one process; `theirs` becomes the process's standard input."""

    def __init__(self) -> None:
        self._ours, self.theirs = socket.socketpair()
        self._ours.setblocking(False)
        self._listened_at = time.monotonic()
        self.heard = False
        self.silent_s = 0.0

    def listen(self) -> bool:
        """Say whether a sign of life has come since the last call; if not, count the silence as far as observed."""
        now = time.monotonic()
        step_s = min(now - self._listened_at, LONGEST_STEP_S)
        self._listened_at = now
        received = self._receive()
        self.heard = self.heard or received
        self.silent_s = 0.0 if received else self.silent_s + step_s
        return received

    def _receive(self) -> bool:
        received = False
        with suppress(BlockingIOError, ConnectionError):
            while self._ours.recv(4096):
                received = True
        return received

    def close(self) -> None:
        """Let go of the process: it stops when it still runs."""
        self._ours.close()
        self.theirs.close()


async def send_beats() -> None:
    """Send a sign of life each second, for as long as the event loop turns and the supervisor lives."""
    with socket.socket(fileno=os.dup(STANDARD_INPUT)) as supervisor:
        while _beat(supervisor):
            await asyncio.sleep(BEAT_EVERY_S)


def _beat(supervisor: socket.socket) -> bool:
    # Not setblocking: the thread that waits for the supervisor's end reads the same socket, and must wait.
    try:
        supervisor.send(b".", socket.MSG_DONTWAIT)
    except BlockingIOError:
        pass  # a supervisor that was stopped for long has more than enough beats to read
    except OSError:
        return False
    return True


async def exit_when_hung(patience_s: float) -> None:
    """End this process, with the traces of its threads, when its event loop has been blocked for so long.

    For one that nobody supervises. The clock runs in C and needs no turn of the interpreter, which may hang too.
    """
    try:
        while True:
            faulthandler.dump_traceback_later(patience_s, exit=True)
            await asyncio.sleep(min(BEAT_EVERY_S, patience_s / 4))
    finally:
        faulthandler.cancel_dump_traceback_later()


def stop_with_supervisor(grace_s: float) -> None:
    """Stop this process when its supervisor ends, be it by kill -9; what is in hand has `grace_s` to end."""
    threading.Thread(target=_wait_for_end_of_input, args=(grace_s,), name="supervisor-watch", daemon=True).start()


def _wait_for_end_of_input(grace_s: float) -> None:
    # Not through sys.stdin: its lock would be held for ever, and hinder the end of the interpreter.
    with suppress(ConnectionError):
        while os.read(STANDARD_INPUT, 1024):
            pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(grace_s)
    os.kill(os.getpid(), signal.SIGKILL)
