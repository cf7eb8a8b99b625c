"""Commands by the module that defines them, put together and run; errors that a person can mend become one message."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Annotated

import typer

from plumbline.cli.output import note, show_error
from plumbline.cli.remote import Unreachable
from plumbline.errors import PlumblineError

REFUSED, UNREACHABLE, INTERRUPTED = 2, 3, 130


def build_app(arguments: Sequence[str], modules: Mapping[str, str], release: Callable[[], str]) -> typer.Typer:
    """Return the command line with the command that is called, or with every command if it is none of ours.

    `modules` says which module defines a command: only the one asked for is imported.
    """

    def show_version(wanted: bool) -> None:
        if wanted:
            typer.echo(f"plumbline {release()}")
            raise typer.Exit

    def plumbline(
        *,
        version: Annotated[
            bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the version and exit.")
        ] = False,
    ) -> None:
        """A self-hosted leaderboard server: evidence in over HTTP, honest intervals and ranks out."""

    app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
    app.callback()(plumbline)
    asked = arguments[0] if arguments else ""
    for module in [modules[asked]] if asked in modules else dict.fromkeys(modules.values()):
        import_module(module).register(app)
    return app


def tell(error: PlumblineError | OSError) -> None:
    """Print what its user can mend: of the system the reason and the file, such as a full disk or a closed pipe."""
    if isinstance(error, PlumblineError):
        show_error(error)
    else:
        note(f"Error: {error}", style="red")


def run_command(
    app: Callable[[], typer.Typer],
    arguments: Sequence[str],
    tell: Callable[[PlumblineError | OSError], None] = tell,
) -> int:
    """Run one command and return its exit code; what its user can mend ends in a message, never in a traceback."""
    try:
        app()(list(arguments), prog_name="plumbline")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    except Unreachable as error:
        tell(error)
        return UNREACHABLE
    except (PlumblineError, OSError) as error:
        tell(error)
        return REFUSED
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0
