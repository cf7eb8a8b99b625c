"""`plumbline submit`: uploads result files, waits for the verdict, and prints the state of the submission."""

import json
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from plumbline.cli.folders import zipped_folders
from plumbline.cli.output import check_table, make_console, note, noticed, say, show
from plumbline.cli.remote import (
    DEFAULT_SERVER,
    RemoteRequest,
    RemoteServer,
    ServerOption,
    TokenOption,
    wait_for_verdict,
)
from plumbline.errors import FieldRejected, Problem

PUBLISHED, NOT_ADMITTED = 0, 1
# Superseded: it was published, and newer evidence is current already.
EXIT_CODES = {
    "published": PUBLISHED,
    "superseded": PUBLISHED,
    "not_admitted": NOT_ADMITTED,
    "set_aside": NOT_ADMITTED,
    "withdrawn": NOT_ADMITTED,
}

ResultFile = typer.Argument(exists=True, readable=True, help="Result files: csv, json, jsonl, zip; or folders of them.")
PreregFile = typer.Option(exists=True, dir_okay=False, readable=True, help="The prereg, a YAML file.")


@dataclass(frozen=True)
class Package:
    """What one submission sends: result files, the prereg, and the form's other fields."""

    benchmark: str
    files: tuple[Path, ...]
    prereg: Path | None = None
    fields: Mapping[str, str] | None = None
    dry_run: bool = False

    def parts(self) -> list[tuple[str, Path]]:
        """Return the form's files, each with its field."""
        prereg = [] if self.prereg is None else [("prereg", self.prereg)]
        return [("files", path) for path in self.files] + prereg

    @property
    def n_bytes(self) -> int:
        """Size of all files."""
        return sum(path.stat().st_size for _, path in self.parts())


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("submit")(submit)


def submit(
    benchmark: Annotated[str, typer.Argument(help="The benchmark's slug.")],
    files: Annotated[list[Path], ResultFile],
    *,
    prereg: Annotated[Path | None, PreregFile] = None,
    prereg_sha256: Annotated[str | None, typer.Option(help="A prereg that is already registered.")] = None,
    entrant: Annotated[str | None, typer.Option(help="The entrant, if the rows do not name it.")] = None,
    metadata: Annotated[str | None, typer.Option(help="JSON: version, url, code_commit, started_at, …")] = None,
    claims: Annotated[
        str | None, typer.Option(help="JSON: the values that you report, to be compared with the rows.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only check; nothing is stored.")] = False,
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Do not wait for the verdict.")] = False,
    server: ServerOption = DEFAULT_SERVER,
    token: TokenOption = None,
) -> None:
    """Submit result files to a benchmark; a folder is sent as a zip of its files.

    Exit codes: 0 published (with --no-wait: received), 1 not admitted (so ends a power or debug run, which is stored
    and never ranked), 2 refused, 3 the server cannot be reached.
    """
    fields = {"prereg_sha256": prereg_sha256, "entrant": entrant, "metadata": metadata, "claims": claims}
    given = {name: text for name, text in fields.items() if text is not None}
    _check_fields(given, prereg)
    with zipped_folders(files) as sent, RemoteServer(server, token) as remote:
        package = Package(benchmark, tuple(sent), prereg, given, dry_run)
        answer = upload(remote, package)
        show(check_table(answer["checks"]))
        for warning in answer.get("warnings") or ():
            note(noticed(warning))
        if dry_run:
            raise typer.Exit(_say_dry_run(answer))
        note(f"Submission {answer['id']}: {remote.address}{answer['url']}")
        raise typer.Exit(EXIT_CODES.get(answer["status"], PUBLISHED) if no_wait else _follow(remote, answer))


def upload(remote: RemoteServer, package: Package) -> dict[str, Any]:
    """Send a package with a progress bar and return the server's answer."""
    with upload_bar(package) as advance, ExitStack() as stack:
        key = uuid.uuid4().hex

        def parts() -> list[tuple[str, Any]]:
            advance(None)
            opened = [(field, path.name, stack.enter_context(path.open("rb"))) for field, path in package.parts()]
            return [(field, (name, _Counted(file, advance))) for field, name, file in opened]

        request = RemoteRequest(
            "POST",
            f"/benchmarks/{package.benchmark}/submissions",
            params={"dry_run": "true"} if package.dry_run else None,
            headers={"Idempotency-Key": key},
            form=package.fields,
            files=parts,
        )
        answer: dict[str, Any] = remote.send_for_json(request)
    return answer


@contextmanager
def upload_bar(package: Package) -> Iterator[Callable[[int | None], None]]:
    """Show a bar; the yielded function moves it by so many bytes, or back to the start with None."""
    columns = (TextColumn("Sending"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=make_console(sys.stderr)) as progress:
        task = progress.add_task("", total=package.n_bytes)

        def advance(n_bytes: int | None) -> None:
            if n_bytes is None:
                progress.reset(task)
            else:
                progress.advance(task, n_bytes)

        yield advance


class _Counted:
    """A file that counts how much of it was read; httpx2 streams it in pieces."""

    def __init__(self, file: BinaryIO, advance: Callable[[int | None], None]) -> None:
        self._file = file
        self._advance = advance

    def read(self, n_bytes: int = -1) -> bytes:
        chunk = self._file.read(n_bytes)
        self._advance(len(chunk))
        return chunk

    def fileno(self) -> int:
        return self._file.fileno()

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()


def _check_fields(fields: Mapping[str, str], prereg: Path | None) -> None:
    problems = [problem for name in ("metadata", "claims") for problem in _json_problems(name, fields.get(name))]
    if prereg is not None and "prereg_sha256" in fields:
        problems.append(Problem("give either a prereg file or the sha256 of a registered one", column="prereg"))
    if problems:
        raise FieldRejected("These options cannot be combined.", problems)


def _json_problems(name: str, text: str | None) -> list[Problem]:
    if text is None:
        return []
    try:
        is_object = isinstance(json.loads(text), dict)
    except ValueError as error:
        return [Problem(f"is not JSON: {error}", column=name, value=text[:80])]
    return [] if is_object else [Problem("must be a JSON object", column=name, value=text[:80])]


def _say_dry_run(answer: Mapping[str, Any]) -> int:
    verdict = "would be admitted" if answer["admitted"] else "would not be admitted"
    rows = "1 row" if answer["n_rows"] == 1 else f"{answer['n_rows']:,} rows"
    say(f"{rows} of {', '.join(answer['entrants'])} {verdict}. Nothing was stored.")
    if answer["admitted"] and (impact := answer.get("impact")):
        if impact["reason"]:
            say(impact["reason"])
        for board in impact["boards"]:
            said = f"The board would fail: {board['fails']}" if board["fails"] else " ".join(board["lines"])
            say(f"{board['board']}: {said}")
    return PUBLISHED if answer["admitted"] else NOT_ADMITTED


def _follow(remote: RemoteServer, answer: Mapping[str, Any]) -> int:
    verdict = wait_for_verdict(remote, int(answer["id"]))
    if verdict["checks"] != answer["checks"]:
        note("The evaluation changed the checks:")
        show(check_table(verdict["checks"]))
    say(f"Submission {answer['id']} is {verdict['status'].replace('_', ' ')}: {verdict['reason']}")
    return EXIT_CODES[verdict["status"]]
