"""`plumbline benchmark init` and `preview`: a manifest out of results, and its boards in the browser; no server."""

import sys
import tempfile
import webbrowser
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import parse_qsl, urlsplit

import typer

from app.config import Settings
from app.errors import FieldRejected, Problem, Rejected
from app.files.uploads import Limits, SentFile
from app.jobs.boards import compute_tables
from app.jobs.replay import offline_evidence
from app.kinds.grid_sentences import grid_rules
from app.kinds.parse import parse_manifest, parse_new_manifest
from app.kinds.reader import Evidence, read_evidence
from app.kinds.registry import kind_of
from app.manifest.model import Manifest
from app.names import count
from app.render.csv_and_json import MEDIA_TYPES, WRITERS, table_to_csv, table_to_json
from app.render.glossary import glossary_entries
from app.render.html import render, render_page
from app.render.saved import ICON, assets
from app.render.table_page import TablePage, TableView
from app.values.table import Table
from plumbline.calls import path_of_benchmark
from plumbline.cli.folders import zipped_folders
from plumbline.cli.output import note, noticed, say, show_error
from plumbline.cli.remote import DEFAULT_SERVER, RemoteRequest, RemoteServer, ServerOption, TokenOption

if TYPE_CHECKING:
    from app.receiving.drafting import Draft, ResultsSheet

Results = Annotated[
    list[Path], typer.Argument(exists=True, readable=True, help="Results: csv, json, jsonl, zip; or folders of them.")
]

ManifestPath = Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True, help="The manifest.")]

Columns = Annotated[list[str] | None, typer.Option(help="A column of this role; may be repeated.")]

Column = Annotated[str | None, typer.Option(help="The column of this role, if its name does not reveal it.")]

Entrant = Annotated[str | None, typer.Option("--name", help="The entrant, if the rows do not name it.")]


def register(group: typer.Typer) -> None:
    """Add the commands to `plumbline benchmark`."""
    group.command("init")(init)
    group.command("check")(check)
    group.command("preview")(preview)


def init(
    results: Results,
    *,
    output: Annotated[Path, typer.Option("-o", "--output", help="The file to write.")] = Path("manifest.yaml"),
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    slug: Annotated[str | None, typer.Option(help="The benchmark's slug; default: from the file's name.")] = None,
    title: Annotated[str | None, typer.Option(help="The benchmark's title.")] = None,
    entrant: Column = None,
    task: Column = None,
    condition: Column = None,
    seed: Column = None,
    item: Columns = None,
    metric: Columns = None,
    maximize: Annotated[list[str] | None, typer.Option(help="A metric that is better when higher.")] = None,
    minimize: Annotated[list[str] | None, typer.Option(help="A metric that is better when lower.")] = None,
    name: Entrant = None,
    server: ServerOption = DEFAULT_SERVER,
    show_preview: Annotated[bool, typer.Option("--preview", help="Show the boards in the browser.")] = False,
) -> None:
    """Draft a manifest from results: a table, or what a harness wrote. No server is needed, and nothing is sent.

    What the results do not say is asked in a terminal; elsewhere it stays as TODO, which `benchmark check` names.
    """
    # pandas takes half a second to load, which no other command should wait for.
    from app.receiving.drafting import Roles, Wishes, draft_manifest

    if output.exists() and not force:
        problem = Problem("the file exists; --force overwrites it, -o writes another", file=str(output))
        raise FieldRejected("Nothing was written.", [problem])
    roles = Roles(entrant, task, condition, seed, tuple(item or ()), tuple(metric or ()))
    directions = {**dict.fromkeys(maximize or (), "maximize"), **dict.fromkeys(minimize or (), "minimize")}
    sheet = look_at(results)
    wishes = Wishes(slug, title, roles, directions, f"{server.rstrip('/')}/schemas/manifest.json")
    draft = draft_manifest(sheet, results[0].stem, wishes, _ask)
    output.write_text(draft.text, "utf-8")
    say(f"Wrote {output}.")
    if sheet.left_out:
        note(f"Left out: {', '.join(sheet.left_out)}. A draft is of one harness: name its own folder.")
    if _tell(draft, output, results) and show_preview:
        preview(output, results, name=name)


def look_at(results: Sequence[Path]) -> "ResultsSheet":
    """Return results as a sheet. Raises EvidenceRejected where they are no table."""
    from app.receiving.drafting import read_sheet

    limits = Limits.from_settings(Settings())
    with zipped_folders(results) as files, tempfile.TemporaryDirectory(prefix="plumbline-draft-") as folder:
        return read_sheet([SentFile(path.name, path) for path in files], Path(folder), limits)


def _ask(question: str, answers: Sequence[str]) -> str | None:
    """Ask in a terminal; return None without one, as nobody can answer."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    note(question, style="bold")
    for at, answer in enumerate(answers, start=1):
        note(f"  {at}  {answer}")
    chosen = 0
    while not 1 <= chosen <= len(answers):
        chosen = typer.prompt(f"A number from 1 to {len(answers)}", type=int, err=True)
    return answers[chosen - 1]


def _tell(draft: "Draft", output: Path, results: Sequence[Path]) -> bool:
    """Say what comes next, and whether the manifest is one already."""
    if draft.n_missing:
        missing = "1 answer is" if draft.n_missing == 1 else f"{draft.n_missing} answers are"
        note(f"{missing} missing: `plumbline benchmark check {output}` names them.")
        return False
    try:
        slug = parse_manifest(draft.text.encode()).slug
    except Rejected as error:
        show_error(error)
        return False
    files = " ".join(map(str, results))
    note(f"Then: plumbline benchmark check {output}, plumbline benchmark create {output},")
    note(f"      plumbline submit {slug} {files}")
    return True


def check(
    manifest: ManifestPath,
    *,
    results: Annotated[list[Path] | None, typer.Option(exists=True, help="Results to check it against.")] = None,
    name: Entrant = None,
    ask_server: Annotated[
        bool, typer.Option("--dry-run", help="Also check it on the server; nothing is stored.")
    ] = False,
    server: ServerOption = DEFAULT_SERVER,
    token: TokenOption = None,
) -> None:
    """Say everything that is wrong with a manifest, each with its line; no server is asked without --dry-run.

    Exit codes: 0 fine, 2 refused.
    """
    content = manifest.read_bytes()
    declared = parse_new_manifest(content)
    for line in describe(declared):
        say(line)
    if results:
        read = read_results(declared, results, name)
        rows, entrants = len(read.scores), len(read.scores.entrant.words)
        say(f"The results are {count(rows, 'row')} of {count(entrants, 'entrant')}.")
    if ask_server:
        _ask_server(declared, content, server, token)


def describe(manifest: Manifest) -> Iterator[str]:
    """Yield what a manifest comes to, and what it leaves open."""
    tasks = manifest.task_ids()
    listed = "open tasks" if tasks is None else count(len(tasks), "task")
    yield f"{manifest.slug} is a benchmark of {manifest.evidence} with {listed}."
    for name, metric in manifest.metrics.items():
        ends = [f"{end:g}" if end is not None else "…" for end in (metric.min, metric.max)]
        yield f"Metric {name}: {metric.direction}, from {ends[0]} to {ends[1]}."
    for board in manifest.leaderboards:
        yield f"Board {board.name}: {board.method} of {', '.join(board.metric_names())}."
    for rule in grid_rules(manifest):
        yield f"Grid: {rule.text}{rule.words}{rule.rest}"
    if manifest.admission.prereg == "optional":
        yield "Note: runs need no preregistration."


def _ask_server(manifest: Manifest, content: bytes, server: str, token: str | None) -> None:
    """Send the manifest as a dry run: as a new benchmark, or as a version of the one that is there."""
    with RemoteServer(server, token) as remote:
        known = {each["slug"] for each in remote.get_json("/benchmarks.json")}
        method, path = ("PUT", path_of_benchmark(manifest.slug)) if manifest.slug in known else ("POST", "/benchmarks")
        headers = {"Content-Type": "application/yaml"}
        answer = remote.send_for_json(
            RemoteRequest(method, path, params={"dry_run": "true"}, headers=headers, content=content)
        )
    what = f"version {answer['version']}" if answer["is_new"] else f"version {answer['version']}, which it has already"
    say(f"{remote.address} would accept it as {what} of {manifest.slug}. Nothing was stored.")


def preview(
    manifest: ManifestPath,
    results: Results,
    *,
    name: Entrant = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the browser.")] = True,
) -> None:
    """Show the boards that results would give, in the browser. They are computed here; nothing is stored or sent."""
    declared = parse_manifest(manifest.read_bytes())
    tables = compute_boards(manifest, results, name)
    serve_preview(declared, tables, open_browser=browser)


def compute_boards(manifest: Path, results: Sequence[Path], name: str | None) -> list[Table]:
    """Return the tables of one submission of results. Raises EvidenceRejected as a server would."""
    declared = parse_manifest(manifest.read_bytes())
    read = read_results(declared, results, name)
    return compute_tables(offline_evidence(declared, [read]))


def read_results(manifest: Manifest, results: Sequence[Path], name: str | None) -> Evidence:
    """Return results as the evidence of a manifest, and tell the warnings. Raises EvidenceRejected."""
    with zipped_folders(results) as files:
        uploads = [SentFile(path.name, path) for path in files]
        read = read_evidence(manifest, uploads, name, Limits.from_settings(Settings()))
    for warning in read.warnings:
        note(noticed(warning.as_dict()))
    return read


# Boards shown in the browser from this machine's memory: the pages of a server, without a server's database. It
# listens on the loopback address alone and on a port that the system chooses.

HTML = "text/html; charset=utf-8"

Answer = tuple[HTTPStatus, str, bytes]


def _icon() -> Answer:
    return HTTPStatus.OK, "image/svg+xml", ICON


def _glossary() -> Answer:
    return HTTPStatus.OK, HTML, render("glossary.html", title="Glossary", entries=glossary_entries(), is_preview=True)


FIXED: Mapping[str, Callable[[], Answer]] = {"/favicon.svg": _icon, "/glossary": _glossary}
"""What each page of a preview leads to beside its tables."""


@dataclass(frozen=True)
class PreviewSite:
    """The tables of a benchmark at the addresses that they would have on a server."""

    manifest: Manifest
    tables: Sequence[Table]

    @property
    def home(self) -> str:
        """Return the address of the first board."""
        return self._address(f"leaderboard/{self.manifest.leaderboards[0].name}")

    @cached_property
    def _by_address(self) -> Mapping[str, Table]:
        return {self._address(table.name): table for table in self.tables}

    def _address(self, name: str) -> str:
        kind, _, board = name.partition("/")
        place = f"/benchmarks/{self.manifest.slug}"
        if board not in {spec.name for spec in self.manifest.leaderboards}:
            return f"{place}/tables/{name.removeprefix('tables/')}"
        return f"{place}/leaderboards/{board}" + ("" if kind == "leaderboard" else f"/{kind}")

    def answer(self, asked: str) -> Answer:
        """Return the answer of an address: status, media type and content."""
        parts = urlsplit(asked)
        if parts.path in assets():
            content, kind = assets()[parts.path]
            return HTTPStatus.OK, kind, content
        if parts.path in FIXED:
            return FIXED[parts.path]()
        stem, dot, ending = parts.path.rpartition(".")
        fmt = ending if dot and ending in ("csv", "json", *WRITERS) else "html"
        address = stem if fmt != "html" else parts.path
        table = self._by_address.get(self.home if address == "/" else address)
        if table is None:
            text = "This address is not part of the preview; it exists once the benchmark is created on a server."
            return HTTPStatus.NOT_FOUND, "text/plain; charset=utf-8", text.encode()
        if fmt in WRITERS:
            return HTTPStatus.OK, MEDIA_TYPES[fmt], WRITERS[fmt](table, {"preview": True})
        if fmt == "csv":
            return HTTPStatus.OK, "text/csv; charset=utf-8", table_to_csv(table)
        if fmt == "json":
            return HTTPStatus.OK, "application/json", table_to_json(table, {"preview": True})
        return self._page(table, parse_qsl(parts.query))

    def _page(self, table: Table, query: Sequence[tuple[str, str]]) -> Answer:
        address = self._address(table.name)
        others = [(other.title, self._address(other.name)) for other in self.tables if other is not table]
        facts = kind_of(self.manifest).pages.facts(self.manifest)
        trail = [(f"Preview of {self.manifest.slug}", self.home)]
        view = TableView(self.manifest.slug, address, table, trail=trail, links=others, facts=facts)
        try:
            shown = TablePage(title=table.title, view=view, asked=query, is_preview=True)
            return HTTPStatus.OK, HTML, render_page(shown)
        except FieldRejected as error:
            return HTTPStatus.UNPROCESSABLE_ENTITY, "text/plain; charset=utf-8", str(error).encode()


def serve_preview(manifest: Manifest, tables: Sequence[Table], *, open_browser: bool) -> None:
    """Serve the boards until the user ends it."""
    with make_server(PreviewSite(manifest, tables)) as server:
        address = f"http://127.0.0.1:{server.server_address[1]}{PreviewSite(manifest, tables).home}"
        say(f"Preview: {address}")
        sys.stdout.flush()
        note("Nothing is stored. Ctrl-C ends it.")
        if open_browser:
            webbrowser.open(address)
        server.serve_forever()


def make_server(site: PreviewSite) -> ThreadingHTTPServer:
    """Return a server of the site on a free port of the loopback address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, kind, content = site.answer(self.path)
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *message: Any) -> None:
            """Say nothing of each request."""

    return ThreadingHTTPServer(("127.0.0.1", 0), Handler)
