"""The entry point of `plumbline` and of `python -m app.cli`: every command."""

import logging
import os
import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module

import typer

from app.errors import PlumblineError
from app.program.starting import paused
from app.program.version import release
from plumbline.__main__ import MODULES as CLIENTS
from plumbline.cli import commands

REFUSED, UNREACHABLE, INTERRUPTED = commands.REFUSED, commands.UNREACHABLE, commands.INTERRUPTED

# Which module defines a command. Only the one asked for is imported: `submit` need not wait for the database's parts.
MODULES = {
    "serve": "app.cli.serve",
    "worker": "app.cli.worker",
    "web": "app.cli.web",
    "db": "app.cli.database",
    "token": "app.cli.tokens",
    "invitation": "app.cli.invitations",
    "benchmark": "app.cli.benchmarks",
    "entrant": "app.cli.entrants",
    "prereg": "app.cli.preregs",
    **CLIENTS,
    "replay": "app.cli.replay",
}


def build_app(arguments: Sequence[str]) -> typer.Typer:
    """Return the command line with the command that is called, or with every command if it is none of ours."""
    with paused():
        return commands.build_app(arguments, MODULES, release)


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; what its user can mend ends in a message, never in a traceback."""
    of_a_server = bool(arguments) and arguments[0] in ("serve", "web", "worker")
    is_logged = of_a_server and os.environ.get("PLUMBLINE_LOG_FORMAT") == "json"
    return commands.run_command(
        lambda: build_app(arguments), arguments, partial(_log, arguments[0]) if is_logged else commands.tell
    )


def _log(process: str, error: PlumblineError | OSError) -> None:
    """Log what ends a process of a server as the line of JSON that all of its log is."""
    telemetry = import_module("app.telemetry")
    if not logging.getLogger().handlers:  # the settings themselves were refused
        telemetry.configure("json", process)
    logging.getLogger(__name__).error("%s", error)


def main() -> None:
    """Run the command that this process was started with."""
    # Read when numpy is loaded. Threads of BLAS wait for each other busily: of the small products here, a publication
    # with two took twice the processor time, which readers and writers lack, and no less of the clock.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
