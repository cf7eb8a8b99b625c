"""`plumbline submit`: uploads result files, waits for the verdict, and prints the state of the submission."""

import json
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from plumbline.calls import Run, upload_request, verdict_of
from plumbline.cli.output import check_table, make_console, note, noticed, say, show
from plumbline.cli.remote import DEFAULT_SERVER, RemoteServer, ServerOption, TokenOption
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
    run = Run(prereg=prereg, prereg_sha256=prereg_sha256, entrant=entrant, metadata=metadata, claims=claims)
    _check_fields(run.fields(), prereg)
    with RemoteServer(server, token) as remote:
        answer = upload(remote, benchmark, files, run, is_dry=dry_run)
        show(check_table(answer["checks"]))
        for warning in answer.get("warnings") or ():
            note(noticed(warning))
        if dry_run:
            raise typer.Exit(_say_dry_run(answer))
        note(f"Submission {answer['id']}: {remote.address}{answer['url']}")
        raise typer.Exit(EXIT_CODES.get(answer["status"], PUBLISHED) if no_wait else _follow(remote, answer))


def upload(remote: RemoteServer, benchmark: str, files: list[Path], run: Run, *, is_dry: bool) -> dict[str, Any]:
    """Send results with a progress bar, from the start again at each try, and return the server's answer."""
    columns = (TextColumn("Sending"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    bar = Progress(*columns, console=make_console(sys.stderr))
    task = bar.add_task("", total=None)

    def begin(n_bytes: int) -> Callable[[int], object]:
        bar.reset(task, total=n_bytes)
        return partial(bar.advance, task)

    with upload_request(benchmark, files, run, is_dry=is_dry, begin=begin) as request, bar:
        answer: dict[str, Any] = remote.send_for_json(request)
    return answer


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
    with make_console(sys.stderr).status("Waiting for the server") as status:
        verdict = verdict_of(remote, answer["id"], tell=lambda at: status.update(f"{at['status']}: {at['reason']}"))
    if verdict["checks"] != answer["checks"]:
        note("The evaluation changed the checks:")
        show(check_table(verdict["checks"]))
    say(f"Submission {answer['id']} is {verdict['status'].replace('_', ' ')}: {verdict['reason']}")
    return EXIT_CODES[verdict["status"]]
