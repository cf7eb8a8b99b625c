"""The entry point of `plumbline` and of `python -m app.cli`.

Puts the commands together, and turns errors that a person can mend into one clear message and an exit code.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated

import typer

from app.cli.output import note, show_error
from app.cli.remote import Unreachable
from app.errors import PlumblineError
from app.version import release

REFUSED, UNREACHABLE, INTERRUPTED = 2, 3, 130

# Which module defines a command. Only the one asked for is imported: `submit` need not wait for the database's parts.
MODULES = {
    "serve": "app.cli.serve",
    "worker": "app.cli.processes",
    "web": "app.cli.processes",
    "db": "app.cli.database",
    "token": "app.cli.tokens",
    "invitation": "app.cli.invitations",
    "benchmark": "app.cli.benchmarks",
    "entrant": "app.cli.entrants",
    "prereg": "app.cli.preregs",
    "submit": "app.cli.submit",
    "submissions": "app.cli.mine",
    "withdraw": "app.cli.mine",
    "export": "app.cli.export",
}


def build_app(arguments: Sequence[str]) -> typer.Typer:
    """Return the command line with the command that is asked for, or with all when none of them is."""
    app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
    app.callback()(plumbline)
    asked = arguments[0] if arguments else ""
    for module in [MODULES[asked]] if asked in MODULES else dict.fromkeys(MODULES.values()):
        import_module(module).register(app)
    return app


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"plumbline {release()}")
        raise typer.Exit


def plumbline(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """A self-hosted leaderboard server: evidence in over HTTP, honest intervals and ranks out."""


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; what its user can mend ends in a message, never in a traceback."""
    try:
        build_app(arguments)(list(arguments), prog_name="plumbline")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    except Unreachable as error:
        show_error(error)
        return UNREACHABLE
    except PlumblineError as error:
        show_error(error)
        return REFUSED
    except OSError as error:
        # The reason and the file; a full disk, a folder that is not there, a pipe that was closed.
        note(f"Error: {error}", style="red")
        return REFUSED
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


def main() -> None:
    """Run the command that this process was started with."""
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
