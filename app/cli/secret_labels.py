"""`plumbline benchmark close` and `commitment`: the end of private labels, and what binds their steward."""

from pathlib import Path
from typing import Annotated

import typer

from app.config import Settings
from app.files.uploads import Limits, SentFile
from app.kinds.labels import Opening
from app.kinds.parse import parse_manifest
from app.store.labels import labels_of, scoring_of
from plumbline.calls import path_of_benchmark
from plumbline.cli.output import note, say
from plumbline.cli.remote import DEFAULT_SERVER, RemoteRequest, RemoteServer, ServerOption, TokenOption

Given = Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True)]


def register(group: typer.Typer) -> None:
    """Add the commands to those of benchmarks."""
    group.command("close")(close)
    group.command("commitment")(commitment)


def close(
    slug: Annotated[str, typer.Argument(help="The benchmark's slug.")],
    reason: Annotated[str, typer.Option(help="Why it closes; shown permanently.")],
    *,
    server: ServerOption = DEFAULT_SERVER,
    token: TokenOption = None,
) -> None:
    """Close a benchmark of private labels for good: nothing more is scored, and the private part decides."""
    with RemoteServer(server, token) as remote:
        remote.send_for_json(RemoteRequest("POST", f"{path_of_benchmark(slug)}/close", json={"reason": reason}))
        say(f"Closed {slug}; its private part is published next: {remote.address}/benchmarks/{slug}/commitment")


def commitment(
    manifest: Given,
    labels: Given,
    salt: Annotated[str, typer.Option(help="The salt shown at the close, in hexadecimal.")],
    expected: Annotated[str | None, typer.Option(help="The published commitment.")] = None,
) -> None:
    """Compute the commitment to labels anew from their file and the salt; fail where another one was expected."""
    declared = parse_manifest(manifest.read_bytes())
    kind, rules = labels_of(declared), scoring_of(declared)
    if rules is None:
        raise typer.BadParameter("its labels are no secret, so nothing commits to them", param_hint="MANIFEST")
    reading = kind.read(declared, [SentFile(labels.name, labels)], Limits.from_settings(Settings()))
    digest = kind.digest(declared, reading.labels)
    computed = Opening(_bytes(salt), rules.public_share, digest).commitment()
    say(f"labels     {digest}\ncommitment {computed}")
    if expected is not None and expected != computed:
        note(f"The published commitment is {expected}: the labels, the salt or the public share differ.")
        raise typer.Exit(1)


def _bytes(salt: str) -> bytes:
    try:
        return bytes.fromhex(salt)
    except ValueError:
        raise typer.BadParameter("expected hexadecimal digits", param_hint="--salt") from None
