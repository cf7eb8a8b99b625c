"""Keeps a server's own processes running, and stops them; used by `plumbline serve`.

Each process is the leader of its own session, so Ctrl-C in a terminal reaches the supervisor alone. Its standard input
is a socket (`signs_of_life`), over which it says each second that it lives: one that falls silent is killed, and one
that ended is started again.
"""

import logging
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType
from typing import Protocol

from app.cli.restarts import Restarts, start_patience_s
from app.cli.signs_of_life import Beats
from app.config.settings import Settings

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

    `environ` is its whole environment, `pass_fds` what it inherits besides.
    """

    name: str
    command: Sequence[str]
    environ: Mapping[str, str]
    patience_s: float
    grace_s: float
    pass_fds: tuple[int, ...] = ()


class Tended(Protocol):
    """A part of the server that must be checked periodically."""

    def tend(self) -> None:
        """Do what is due now; never waits."""


class Child:
    """One program that is kept running: a new process is started when the old one has ended or fallen silent."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._restarts = Restarts()
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

    def tend(self) -> None:
        """Kill a process that hangs, notice that one has ended, and start another one when its delay is over."""
        if self._process is not None:
            if self._beats.listen():
                self._restarts.note_up(time.monotonic())
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
        now = time.monotonic()
        delay_s = self._restarts.delay_after_end_s(now, had_come_up=self._beats.heard)
        self._start_after = now + delay_s
        self._release()
        logger.warning("%s %s; starting it again in %.1f s", self.program.name, describe_end(status), delay_s)

    @property
    def pid(self) -> int | None:
        """The number of the running process."""
        return None if self._process is None else self._process.pid

    @property
    def is_up(self) -> bool:
        """Whether the process has started and sent its first heartbeat."""
        return self._process is not None and self._beats.heard

    @property
    def n_failed_starts(self) -> int:
        """Consecutive failed starts of the process."""
        return self._restarts.n_failed_starts

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
def supervised(programs: Sequence[Program]) -> Iterator[Sequence[Child]]:
    """Start the programs; on the way out stop all of them, at the same time, and kill what outlives its grace."""
    children = [Child(program) for program in programs]
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
