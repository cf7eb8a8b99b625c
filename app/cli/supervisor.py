"""Keeps a server's own processes running, and stops them.

Each process is the leader of its own session, so Ctrl-C in a terminal reaches the supervisor alone. Its standard input
is a socket, over which it says each second that it lives: one that falls silent is killed, and one that ended is
started again.

Why: docs/adr/036-processes.md.
"""

import asyncio
import faulthandler
import logging
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType
from typing import Protocol

from app.config import Settings
from plumbline.retries import pause_s

logger = logging.getLogger(__name__)

# A job that is cut is done again, so it gets less time than an upload, which would have to be sent again.
JOB_GRACE_S = 5.0

# Added to the grace period of running work: closing connections and ending the interpreter take a moment, too.
STOP_MARGIN_S = 3.0

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopRequested(BaseException):
    """Somebody asked the server to stop. Not an Exception: no handler of errors may swallow it."""


@contextmanager
def stop_on_signals() -> Iterator[None]:
    """Raise StopRequested at the first SIGINT, SIGTERM or SIGHUP; later ones do not disturb the stopping.

    A signal that was ignored already (nohup, a background job of a script) stays ignored.
    """
    before = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    heard = {number: handler for number, handler in before.items() if handler is not signal.SIG_IGN}

    def stop(number: int, frame: FrameType | None) -> None:
        for each in heard:
            signal.signal(each, _already_stopping)
        raise StopRequested

    for number in heard:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in heard.items():
            signal.signal(number, handler)


def _already_stopping(number: int, frame: FrameType | None) -> None:
    logger.info("stopping already")


@dataclass(frozen=True)
class Program:
    """What a process runs, how long it may be silent after its first heartbeat, and how long a stop may take.

    `environ` is its whole environment, `pass_fds` what it inherits besides. `refuses` is a socket on which nobody is
    kept waiting while no process of the program runs: the next one listens on it again.
    """

    name: str
    command: Sequence[str]
    environ: Mapping[str, str]
    patience_s: float
    grace_s: float
    pass_fds: tuple[int, ...] = ()
    refuses: socket.socket | None = None


class Watched(Protocol):
    """A part of the server that must be checked periodically."""

    def check(self) -> None:
        """Do what is due now; never waits."""


class Supervised:
    """One program that is kept running: a new process is started when the old one has ended or fallen silent."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.n_failed_starts = 0
        """Processes in a row that ended before their first heartbeat."""
        self._start_after = 0.0
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the program's process."""
        self._beats = Beats()
        self._process = subprocess.Popen(  # noqa: S603 - the command is our own
            self.program.command,
            env=dict(self.program.environ),
            stdin=self._beats.theirs.fileno(),
            pass_fds=self.program.pass_fds,
            start_new_session=True,
        )
        self._beats.theirs.close()

    def check(self) -> None:
        """Kill a process that hangs, notice that one has ended, and start another one when its delay is over."""
        if self._process is not None:
            if self._beats.listen():
                self.n_failed_starts = 0
            if self._process.poll() is not None:
                self._note_end(self._process.returncode)
            elif self._beats.silent_s > self._patience_s():
                self._kill_silent(self._process)
        if self._process is None and time.monotonic() >= self._start_after:
            self.start()

    def _patience_s(self) -> float:
        if self._beats.heard:
            return self.program.patience_s
        return max(start_patience_s(self.n_failed_starts), self.program.patience_s)

    def _kill_silent(self, process: subprocess.Popen[bytes]) -> None:
        logger.warning("%s has sent no heartbeat for %.0f s; killing it", self.program.name, self._beats.silent_s)
        self._beats.silent_s = 0.0
        _kill_group(process)

    def _note_end(self, status: int) -> None:
        self.n_failed_starts += not self._beats.heard
        delay_s = restart_delay_s(self.n_failed_starts)
        self._start_after = time.monotonic() + delay_s
        self._release()
        if self.program.refuses is not None:
            # It stops listening and keeps its address; only one bound to a port of its own choice can listen again.
            self.program.refuses.shutdown(socket.SHUT_RDWR)
        logger.warning("%s %s; starting it again in %.1f s", self.program.name, describe_end(status), delay_s)

    @property
    def pid(self) -> int | None:
        """The number of the running process."""
        return None if self._process is None else self._process.pid

    @property
    def is_up(self) -> bool:
        """Whether the process has started and sent its first heartbeat."""
        return self._process is not None and self._beats.heard

    def ask_to_stop(self) -> None:
        """Send SIGTERM to the process."""
        if self._process is not None:
            self._process.terminate()

    def wait_or_kill(self, deadline: float) -> None:
        """Wait for the process until the deadline (monotonic), then end it and all that it started."""
        if self._process is None:
            return
        try:
            self._process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            logger.warning("%s does not stop; killing it", self.program.name)
            _kill_group(self._process)
            self._process.wait()
        self._release()

    def _release(self) -> None:
        self._beats.close()
        self._process = None


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    # Not waited for yet, so the number still belongs to our process and to its group.
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


@contextmanager
def supervised(programs: Sequence[Program]) -> Iterator[Sequence[Supervised]]:
    """Start the programs; on the way out stop all of them, at the same time, and kill what outlives its grace."""
    children = [Supervised(program) for program in programs]
    try:
        for child in children:
            child.start()
        yield children
    finally:
        for child in children:
            child.ask_to_stop()
        asked_at = time.monotonic()
        for child in children:
            child.wait_or_kill(asked_at + child.program.grace_s)


def job_grace_s(settings: Settings) -> float:
    """Return how long a job in hand may take at a stop."""
    return min(JOB_GRACE_S, settings.stop_grace_s)


def describe_end(status: int) -> str:
    """Say in words how a process ended, from its return code."""
    if status >= 0:
        return f"ended with exit code {status}"
    return f"was ended by {signal.Signals(-status).name}"


# How long the supervisor waits before it starts a process again, and until it is up.
#
# A program that came up has users who wait: it is started again at once. One that never comes up would only keep the
# machine busy, so each failure doubles the delay; it may only be slow, so each failure doubles its time as well.

AT_ONCE_S = 0.2

FIRST_DELAY_S, LONGEST_DELAY_S = 0.5, 30.0

# Until its first heartbeat a process is only starting: on a busy machine, or a cold disk, that takes long.
STARTS_WITHIN_S, LONGEST_START_S = 120.0, 1800.0


def restart_delay_s(n_failed_starts: int) -> float:
    """Return how long to wait before a program is started again that failed to come up n times in a row, or served."""
    return (
        AT_ONCE_S
        if n_failed_starts == 0
        else pause_s(n_failed_starts, first_s=FIRST_DELAY_S, longest_s=LONGEST_DELAY_S)
    )


def start_patience_s(n_failed_starts: int) -> float:
    """Return how long a process may take to its first heartbeat after n in a row that did not get there.

    Twice as long each time: where a start takes longer than the first limit, killing it there again would never end.
    """
    return float(min(LONGEST_START_S, STARTS_WITHIN_S * 2**n_failed_starts))


# What binds a supervised process to its supervisor: a socket, which is the process's standard input.
#
# The process sends a byte each second from its event loop, so that the supervisor notices a loop that hangs; when the
# supervisor ends, however it ends, the socket closes and the process stops by itself. `app.cli.web` and `worker` call
# the process's side (`send_beats`, `stop_with_supervisor`), `app.cli.supervisor` the other one (`Beats`). A worker
# that was started by itself watches its own loop (`exit_when_hung`).

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
