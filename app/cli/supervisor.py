"""Keeps a server's own processes running, and stops them; used by `plumbline serve`.

Each process is the leader of its own session, so Ctrl-C in a terminal reaches the supervisor alone. Its
standard input is a pipe from the supervisor that never carries anything: when the supervisor ends, however it
ends, the pipe closes and the process stops by itself (`stop_with_supervisor`).
"""

import logging
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType

logger = logging.getLogger(__name__)

STOP_GRACE_S = 6.0
STEADY_AFTER_S = 60.0
FIRST_DELAY_S, LONGEST_DELAY_S = 0.5, 30.0
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
    """What a process runs. `environ` is its whole environment, `pass_fds` what it inherits besides."""

    name: str
    command: Sequence[str]
    environ: Mapping[str, str]
    pass_fds: tuple[int, ...] = ()


class Child:
    """One program that is kept running: a new process is started when the old one has ended."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._n_failures = 0
        self._start_after = 0.0
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the program's process."""
        self._started_at = time.monotonic()
        self._process = subprocess.Popen(  # noqa: S603 - the command is our own
            self.program.command,
            env=dict(self.program.environ),
            stdin=subprocess.PIPE,
            pass_fds=self.program.pass_fds,
            start_new_session=True,
        )

    def tend(self) -> None:
        """Notice that the process has ended, and start another one when its delay is over."""
        if self._process is not None and self._process.poll() is not None:
            self._note_end(self._process.returncode)
        if self._process is None and time.monotonic() >= self._start_after:
            self.start()

    def _note_end(self, status: int) -> None:
        self._release()
        steady = time.monotonic() - self._started_at >= STEADY_AFTER_S
        self._n_failures = 1 if steady else self._n_failures + 1
        delay_s = restart_delay_s(self._n_failures)
        self._start_after = time.monotonic() + delay_s
        logger.warning("%s %s; starting it again in %.1f s", self.program.name, describe_end(status), delay_s)

    @property
    def pid(self) -> int | None:
        """The number of the running process."""
        return None if self._process is None else self._process.pid

    @property
    def n_failures(self) -> int:
        """How often in a row the process ended soon after its start."""
        return self._n_failures

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
            # Not waited for yet, so the number still belongs to our process and to its group.
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._release()

    def _release(self) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
        self._process = None


@contextmanager
def supervised(programs: Sequence[Program], *, grace_s: float = STOP_GRACE_S) -> Iterator[Sequence[Child]]:
    """Start the programs; on the way out stop all of them, at the same time, and kill what is left after `grace_s`."""
    children = [Child(program) for program in programs]
    try:
        for child in children:
            child.start()
        yield children
    finally:
        for child in children:
            child.ask_to_stop()
        deadline = time.monotonic() + grace_s
        for child in children:
            child.wait_or_kill(deadline)


def tend_all(children: Sequence[Child]) -> None:
    """Start again what has ended."""
    for child in children:
        child.tend()


def restart_delay_s(n_failures: int) -> float:
    """Return how long to wait before a program that failed n times in a row is started again."""
    return float(min(LONGEST_DELAY_S, FIRST_DELAY_S * 2 ** (n_failures - 1)))


def describe_end(status: int) -> str:
    """Say in words how a process ended, from its return code."""
    if status >= 0:
        return f"ended with exit code {status}"
    return f"was ended by {signal.Signals(-status).name}"


def stop_with_supervisor() -> None:
    """Stop this process when its supervisor ends, be it by kill -9: then standard input closes."""
    threading.Thread(target=_wait_for_end_of_input, name="supervisor-watch", daemon=True).start()


def _wait_for_end_of_input() -> None:
    # Not through sys.stdin: its lock would be held for ever, and hinder the end of the interpreter.
    while os.read(0, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(STOP_GRACE_S)
    os.kill(os.getpid(), signal.SIGKILL)
