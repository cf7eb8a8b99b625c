"""`plumbline export`: saves a published board."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from plumbline.cli.output import note
from plumbline.cli.remote import DEFAULT_SERVER, RemoteRequest, RemoteServer, ServerOption


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("export")(export)


def export(
    benchmark: Annotated[str, typer.Argument(help="The benchmark's slug.")],
    *,
    board: Annotated[str, typer.Option(help="The leaderboard's name.")],
    pairwise: Annotated[bool, typer.Option("--pairwise", help="The table of pairs instead of the ranking.")] = False,
    file_format: Annotated[Literal["csv", "json"], typer.Option("--format", help="What to write.")] = "csv",
    snapshot: Annotated[int | None, typer.Option(min=1, help="An older state, by its number.")] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The file to write; default: standard output.")
    ] = None,
    server: ServerOption = DEFAULT_SERVER,
) -> None:
    """Save a board exactly as it is published."""
    path = f"/benchmarks/{benchmark}/leaderboards/{board}{'/pairwise' if pairwise else ''}.{file_format}"
    headers = {"Accept": "text/csv" if file_format == "csv" else "application/json"}
    params = None if snapshot is None else {"snapshot": str(snapshot)}
    with RemoteServer(server) as remote:
        response = remote.send(RemoteRequest("GET", path, params=params, headers=headers))
        if not response.headers.get("Content-Type", "").startswith(headers["Accept"]):
            raise remote.not_from_plumbline(response)
    content = response.content
    if output is None:
        sys.stdout.buffer.write(content)
        return
    output.write_bytes(content)
    note(f"Wrote {output}")
