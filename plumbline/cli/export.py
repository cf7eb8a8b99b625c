"""`plumbline export`: saves a published board."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from plumbline.calls import TABLE_TYPES, table_request
from plumbline.cli.output import note
from plumbline.cli.remote import DEFAULT_SERVER, RemoteServer, ServerOption, not_from_plumbline


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
    request = table_request(benchmark, board, is_pairs=pairwise, snapshot=snapshot, file_format=file_format)
    with RemoteServer(server) as remote:
        response = remote.send(request)
        if not response.headers.get("Content-Type", "").startswith(TABLE_TYPES[file_format]):
            raise not_from_plumbline(remote.address, response)
    content = response.content
    if output is None:
        sys.stdout.buffer.write(content)
        return
    output.write_bytes(content)
    note(f"Wrote {output}")
