"""Starts a whole server as its users do, for the tests that need one."""

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.cases.places import place

STOPS_WITHIN_S = 40


@dataclass
class RunningServer:
    """A server that was started with `plumbline serve`."""

    process: subprocess.Popen[str]
    address: str
    printed: str

    def child(self, command: str) -> psutil.Process:
        """Return its process that runs this command."""
        children = psutil.Process(self.process.pid).children()
        return next(child for child in children if command in command_of(child))

    def stop(self, number: signal.Signals = signal.SIGINT) -> int:
        """Send a signal and return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(STOPS_WITHIN_S)


def command_of(process: psutil.Process) -> list[str]:
    """Return the command line of a process, empty where it has ended since it was found."""
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:
        return []


def is_alive(process: psutil.Process) -> bool:
    """Say whether a process runs; one that has ended and was not waited for by its new parent does not."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def environment(data_dir: Path, **settings: str) -> dict[str, str]:
    """Return an environment with these settings and no others."""
    others = {name: value for name, value in os.environ.items() if not name.startswith("PLUMBLINE_")}
    return others | {"PLUMBLINE_DATA_DIR": str(data_dir), "PLUMBLINE_PORT": "0", **settings}


@contextmanager
def running_server(
    data_dir: Path, *, python: Path = Path(sys.executable), program: Path | None = None, **settings: str
) -> Iterator[RunningServer]:
    """Start a server on a free port; on the way out it is stopped, if it still runs.

    With the Python of another environment it runs what is installed there, and starts outside the repository; with a
    `program` the state of the repository that is in that folder.
    """
    with (data_dir.parent / "serve.log").open("w+") as log:
        process = subprocess.Popen(
            [python, "-m", "app.cli", "serve"],
            cwd=program or (None if python == Path(sys.executable) else data_dir.parent),
            env=environment(data_dir, **settings),
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        try:
            yield RunningServer(process, *_read_address(process, Path(log.name)))
        finally:
            if process.poll() is None:
                process.terminate()
            process.communicate(timeout=STOPS_WITHIN_S)


@contextmanager
def fresh_data_dir(*, on_disk: bool = False) -> Iterator[Path]:
    """Yield the name of a folder that is not there yet, where also an unprivileged user may look."""
    with tempfile.TemporaryDirectory(prefix="plumbline-test-", dir=None if on_disk else place()) as folder:
        Path(folder).chmod(0o755)
        yield Path(folder) / "data"


def processes_of(data_dir: Path) -> list[psutil.Process]:
    """Return the database processes that work in a folder."""
    return [each for each in psutil.process_iter(["cmdline"]) if str(data_dir) in " ".join(each.info["cmdline"] or [])]


def _read_address(process: subprocess.Popen[str], log: Path) -> tuple[str, str]:
    printed = ""
    for line in process.stdout or ():
        printed += line
        if found := re.search(r"plumbline is at (\S+)", line):
            return found[1], printed
    raise AssertionError(f"The server did not start:\n{printed}{log.read_text()}")
