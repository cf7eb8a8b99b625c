"""`plumbline prereg`: registers preregistrations, and checks them without a server."""

from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import typer
from pydantic import AwareDatetime, TypeAdapter, ValidationError

from app.admission.case import Check, Claims, Registered, SubmissionFields
from app.admission.rules import WITNESSED_RULE, is_admitted
from app.config import Settings
from app.files.uploads import Limits, SentFile
from app.kinds.parse import parse_manifest
from app.kinds.reader import Evidence, read_evidence
from app.manifest.model import Manifest
from app.prereg.fields import Prereg
from app.prereg.prereg import git_blob_sha1, parse_prereg, sha256_hex
from app.receiving import upload
from plumbline.cli.output import check_table, note, say, show
from plumbline.cli.remote import DEFAULT_SERVER, RemoteServer, ServerOption, TokenOption

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


def register_file(
    file: PreregFile,
    *,
    benchmark: Annotated[
        str | None, typer.Option(help="The benchmark it is for, if the prereg does not name one.")
    ] = None,
    server: ServerOption = DEFAULT_SERVER,
    token: TokenOption = None,
) -> None:
    """Register a prereg and print its address. The same bytes again keep their time; they may get a benchmark."""
    path = "/preregs" if benchmark is None else f"/preregs?benchmark={quote(benchmark, safe='')}"
    with RemoteServer(server, token) as remote:
        answer = remote.send_yaml("POST", path, file.read_bytes(), repeatable=True)
    note(f"Registered at {answer['registered_at']}: {remote.address}{answer['url']}")
    if not answer["benchmarks"]:
        note("It is not registered for any benchmark, so no run can cite it: give --benchmark before the run.")
    for sentence in answer["warnings"]:
        note(sentence)
    for each in answer["reservations"]:
        if each["state"] == "open":
            note(f"{each['entrant']} is reserved for you in {each['benchmark']} until {each['until'][:10]}.")
    for each in answer["not_reserved"]:
        note(f"{each['entrant']} is not reserved for you in {each['benchmark']}: {each['reason']}")
    say(answer["sha256"])


def check(
    file: PreregFile,
    *,
    manifest: ManifestOption = None,
    evidence: EvidenceOption = None,
    entrant: Annotated[str | None, typer.Option(help="The entrant, if the rows do not name it.")] = None,
    claims: Annotated[
        str | None, typer.Option(help="JSON: the values that you report, to be compared with the rows.")
    ] = None,
    dirty: Annotated[bool | None, typer.Option("--dirty/--clean", help="Whether there was uncommitted code.")] = None,
    started_at: Annotated[str | None, typer.Option(help="When the run began, such as 2026-03-02T08:00:00Z.")] = None,
) -> None:
    """Say whether a server would accept a prereg, and with --manifest and --evidence whether it would admit a run.

    No server is needed. Exit codes: 0 fine, 1 the run would not be admitted, 2 the prereg or a file is refused.
    """
    content = file.read_bytes()
    prereg = parse_prereg(content)
    say(f"{file} is a prereg of the {prereg.form} form, run purpose {prereg.run_purpose}.")
    for name, value in _declared(prereg, content):
        say(f"{name:<18} {value}")
    if manifest is None and not evidence:
        return
    if manifest is None or not evidence:
        raise typer.BadParameter("--manifest and --evidence go together")
    fields = SubmissionFields(
        entrant=entrant, started_at=_time_of(started_at), dirty=dirty, claims=_read_claims(claims)
    )
    declared = parse_manifest(manifest.read_bytes())
    uploads = [SentFile(path.name, path) for path in evidence]
    read = read_evidence(declared, uploads, entrant, Limits.from_settings(Settings()))
    checks = _checks(content, prereg, declared, read, fields)
    show(check_table([asdict(each) for each in checks]))
    note("Only a server can witness that the registration came before the run; this was not checked.")
    if not is_admitted(checks):
        raise typer.Exit(NOT_ADMITTED)


def _declared(prereg: Prereg, content: bytes) -> Iterator[tuple[str, str]]:
    """Yield what the prereg binds its run to, in the order of importance, and the addresses of its bytes."""
    per_seed = prereg.episodes_per_seed
    yield "seeds", "not declared" if prereg.seeds is None else ", ".join(map(str, prereg.seeds))
    yield "episodes per seed", "not declared" if per_seed is None else f"{per_seed} in each condition"
    yield "conditions", "not restricted" if prereg.conditions is None else ", ".join(prereg.conditions)
    if prereg.own_partner:
        yield "own partner only", ", ".join(prereg.own_partner)
    yield "bootstrap method", prereg.bootstrap_method
    yield "failure policy", prereg.failure_policy
    yield "sha256", sha256_hex(content)
    yield "git blob sha1", git_blob_sha1(content)


def _read_claims(text: str | None) -> Claims | None:
    try:
        return None if text is None else TypeAdapter(dict[str, dict[str, float]]).validate_json(text)
    except ValidationError:
        raise typer.BadParameter('--claims must be JSON of this form: {"entrant": {"metric": 0.5}}') from None


def _time_of(text: str | None) -> datetime | None:
    try:
        return None if text is None else TypeAdapter(AwareDatetime).validate_python(text)
    except ValidationError:
        raise typer.BadParameter("--started-at must be a time with a time zone, such as 2026-03-02T08:00:00Z") from None


def _checks(
    content: bytes, prereg: Prereg, manifest: Manifest, evidence: Evidence, fields: SubmissionFields
) -> list[Check]:
    """Apply every rule that needs no server: those of admission, and the claims compared with the rows."""
    now, slugs = datetime.now(UTC), (manifest.slug,)
    registered = Registered(sha256_hex(content), git_blob_sha1(content), prereg, now, False, slugs)
    case = upload.case_of(manifest, evidence, fields, registered, now)
    checks = [*upload.check(case), *upload.check_claims(manifest, evidence, fields)]
    return [check for check in checks if check.rule != WITNESSED_RULE]
