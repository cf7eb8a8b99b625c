"""`plumbline prereg`: registers preregistrations, and checks them without a server."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from app.admission import Case, check_admission, is_admitted
from app.admission_check import Check, Registered
from app.cli.output import check_table, note, say, show
from app.cli.remote import DEFAULT_SERVER, Server, ServerOption, TokenOption
from app.config import Settings
from app.evidence.reader import read_evidence
from app.evidence.uploads import Limits, Upload
from app.leaderboards.registry import parse_manifest
from app.prereg import git_blob_sha1, parse_prereg, sha256_hex

PreregFile = Annotated[
    Path, typer.Argument(exists=True, dir_okay=False, readable=True, help="The prereg, a YAML file.")
]
ManifestOption = Annotated[
    Path | None, typer.Option(exists=True, dir_okay=False, help="The benchmark's manifest, to apply its rules.")
]
EvidenceOption = Annotated[
    list[Path] | None, typer.Option(exists=True, dir_okay=False, help="A file of the run; repeat for several.")
]
NOT_ADMITTED = 1


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    group = typer.Typer(no_args_is_help=True, help="Register what you intend to measure, before you run it.")
    group.command("register")(register_file)
    group.command("check")(check)
    app.add_typer(group, name="prereg")


def register_file(file: PreregFile, *, server: ServerOption = DEFAULT_SERVER, token: TokenOption = None) -> None:
    """Register a prereg and print its address. Registering the same bytes again changes nothing."""
    with Server(server, token) as remote:
        answer = remote.send_yaml("POST", "/preregs", file.read_bytes(), repeatable=True)
    note(f"Registered at {answer['registered_at']}: {remote.address}{answer['url']}")
    say(answer["sha256"])


def check(
    file: PreregFile,
    *,
    manifest: ManifestOption = None,
    evidence: EvidenceOption = None,
    entrant: Annotated[str | None, typer.Option(help="Where the rows do not name it.")] = None,
) -> None:
    """Say whether a server would accept a prereg, and with --manifest and --evidence whether it would admit a run.

    No server is needed. Whether the registration came before the run is what only a server can witness. Exit code 1:
    the run would not be admitted.
    """
    content = file.read_bytes()
    prereg = parse_prereg(content)
    say(f"{file} is a prereg of the {prereg.form} form, run purpose {prereg.run_purpose}.")
    say(f"sha256         {sha256_hex(content)}")
    say(f"git blob sha1  {git_blob_sha1(content)}")
    if manifest is None and not evidence:
        return
    if manifest is None or not evidence:
        raise typer.BadParameter("--manifest and --evidence go together")
    checks = _admission(content, manifest, evidence, entrant)
    show(check_table([asdict(each) for each in checks]))
    if not is_admitted(checks):
        raise typer.Exit(NOT_ADMITTED)


def _admission(content: bytes, manifest: Path, evidence: Sequence[Path], entrant: str | None) -> list[Check]:
    """Apply every rule of admission, as if the prereg had been registered and the files sent just now."""
    declared = parse_manifest(manifest.read_bytes())
    uploads = [Upload(path.name, path) for path in evidence]
    read = read_evidence(declared, uploads, entrant, Limits.from_settings(Settings()))
    now = datetime.now(UTC)
    registered = Registered(sha256_hex(content), git_blob_sha1(content), parse_prereg(content), now, attested=False)
    return check_admission(Case(declared, read.scores, registered, now, read.facts))
