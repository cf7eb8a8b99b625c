"""`plumbline replay`: every table of an exported snapshot recomputed on this machine."""

import tempfile
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

from app.jobs.replay import Difference, Export, differences, read_export, recompute
from app.program.version import code_version
from plumbline.cli.output import note, say
from plumbline.cli.remote import RemoteRequest, RemoteServer

DIFFERENT = 1


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("replay")(replay)


def replay(
    export: Annotated[str, typer.Argument(help="The file replay.zip of a benchmark, or the benchmark's address.")],
    *,
    relative: Annotated[
        float, typer.Option(min=0, help="The largest relative difference allowed: other processors round differently.")
    ] = 0.0,
) -> None:
    """Recompute every table of a published snapshot, and say the first cell that differs. Ends with 1 if one does."""
    with tempfile.TemporaryDirectory(prefix="plumbline-replay-") as folder:
        exported = read_export(_at_hand(export, Path(folder)))
    facts = exported.facts
    note(f"{facts['benchmark']}, snapshot {facts['snapshot']}, published by {facts['code_version']}")
    if facts["code_version"] != code_version():
        note(f"This is {code_version()}: another version may compute another number.", style="yellow")
    different = list(differences(exported, recompute(exported), relative=relative))
    for each in different:
        say(_sentence(each), style="red")
    _sum_up(exported, len(different))
    if different:
        raise typer.Exit(DIFFERENT)


def _at_hand(export: str, folder: Path) -> Path:
    """Return the export as a file; an address is fetched."""
    parts = urlsplit(export)
    if parts.scheme not in ("http", "https"):
        return Path(export)
    path = parts.path.rstrip("/")
    path = path if path.endswith(".zip") else f"{path}/replay.zip"
    query = f"?{parts.query}" if parts.query else ""
    with RemoteServer(f"{parts.scheme}://{parts.netloc}") as remote:
        response = remote.send(RemoteRequest("GET", f"{path}{query}", headers={"Accept": "application/zip"}))
    fetched = folder / "replay.zip"
    fetched.write_bytes(response.content)
    return fetched


def _sentence(each: Difference) -> str:
    if each.column is None:
        return f"{each.table} {each.what}"
    return (
        f"{each.table} row {each.row}, column {each.column}: published {each.published!r}, "
        f"recomputed {each.recomputed!r}"
    )


def _sum_up(exported: Export, n_different: int) -> None:
    n_tables, n_cells = len(exported.published), sum(len(t.rows) * len(t.columns) for t in exported.published)
    same = "all the same" if not n_different else f"{n_different} different"
    say(f"{n_tables} tables, {n_cells:,} cells: {same}")
    note(f"Not recomputed, being counts of the server: {', '.join(exported.facts['counted_by_the_server'])}")
