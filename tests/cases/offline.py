"""The command line in a process of its own, as a person runs it, without the seconds that each would take to import."""

import multiprocessing
import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from app.cli.__main__ import MODULES, run
from tests.cases.running_server import environment

WITHIN_S = 120
# Every command is forked from one process that has imported them all.
COMMANDS = multiprocessing.get_context("forkserver")
COMMANDS.set_forkserver_preload([*dict.fromkeys(MODULES.values()), __name__])


def plumbline(*arguments: str, folder: Path | None = None, **settings: str) -> "subprocess.CompletedProcess[str]":
    """Run the command line under these settings and no others; return its exit code and what it printed."""
    with tempfile.TemporaryDirectory() as kept:
        printed, noted = Path(kept, "stdout"), Path(kept, "stderr")
        reported = (arguments, environment(Path("unused"), **settings), folder or Path.cwd(), (printed, noted))
        process = COMMANDS.Process(target=_run, args=reported)
        process.start()
        process.join(WITHIN_S)
        if process.exitcode is None:
            process.kill()
            raise subprocess.TimeoutExpired(arguments, WITHIN_S)
        return subprocess.CompletedProcess(arguments, process.exitcode, printed.read_text(), noted.read_text())


def _run(arguments: tuple[str, ...], settings: Mapping[str, str], folder: Path, outputs: tuple[Path, Path]) -> None:
    os.environ.clear()
    os.environ.update(settings)
    os.chdir(folder)
    for number, path in enumerate(outputs, start=1):
        with path.open("w") as file:
            os.dup2(file.fileno(), number)
    raise SystemExit(run(arguments))
