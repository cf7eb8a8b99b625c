"""What the pages of the site show that is more than values: made by the web, rendered by `app.render.html`.

What any other page shows is said at the head of its template.

Why: docs/adr/040-pages.md.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from app.db.models import Snapshot
from app.errors import Rejected
from app.kinds.contract import ANY_CONDITION, MODEL, PageFacts, Rule, UploadExample
from app.kinds.registry import kind_of
from app.manifest.model import Manifest
from app.names import count
from app.render.board import BoardRows, Surroundings
from app.render.columns import ShownColumn, TaskMap, build_ranks_map
from app.render.csv_and_json import csv_bytes
from app.render.drawings import Drawings
from app.render.html import Links, Page
from app.render.table_page import FIRST_PLACES, Look, Panel, legend
from app.render.text import in_format, path_of_name
from app.store.audit import ListedEvent
from app.store.benchmarks import BenchmarkSummary
from app.store.health import Trouble
from app.store.submissions import ListedSubmission
from app.values.glossary import GlossaryEntry
from app.values.table import Cell, Column, Table


@dataclass(frozen=True)
class SubmitExample:
    """An upload as its kind of evidence has it, and a preregistration where the benchmark takes our own form."""

    upload: UploadExample
    prereg: str | None

    @property
    def rows(self) -> str:
        """Return the header and one row as CSV."""
        columns = self.upload.columns
        return csv_bytes([[column.name for column in columns], [column.cell for column in columns]]).decode()


MOST_RANKED = 20


@dataclass(frozen=True, kw_only=True)
class BenchmarkPage(Page):
    """One benchmark: boards, rules, how to submit, the latest submissions.

    `version` is the manifest's; `publish_error` says why the last publication failed; `base` is the address
    of this server where the settings give one; `example` is a small upload that the benchmark takes; `rules` and
    `links` are those of its kind of evidence; `stewards` are names. `first` are the first places of the first board,
    `ranks` all boards and entrants in one table. `submissions` are those of a `status`, empty for all; `by_status` has
    how many there are in each state.
    """

    template = "benchmark.html"
    manifest: Manifest
    version: int
    snapshot: Snapshot | None
    publish_error: str | None
    stewards: Sequence[str]
    publish_tries: int
    commitment: str | None
    base: str
    facts: PageFacts
    rules: Sequence[Rule]
    links: Links
    example: SubmitExample
    submissions: Sequence[ListedSubmission]
    status: str
    by_status: Mapping[str, int]
    first: Panel | None
    ranks: Table
    # Rows that are neither sorted nor pinned here: those of another page.
    look = Look(())
    board = None
    pinned = ()

    @property
    def boards(self) -> Surroundings:
        """Return the boards, as many as there is room for as tabs."""
        home = f"/benchmarks/{self.manifest.slug}"
        boards = [(each.title or each.name, f"{home}/leaderboards/{each.name}") for each in self.manifest.leaderboards]
        return Surroundings(title=self.manifest.title, home=home, boards=boards, board="", views=(), view="")

    @property
    def board_rows(self) -> BoardRows | None:
        """Return the first places as a board's page draws them; None of a board that could not be computed."""
        table = self.first.table if self.first else None
        if table is None or not {"rank", "entrant"} <= set(table.column_names()):
            return None
        return BoardRows(table, table.rows[:FIRST_PLACES], nouns=self.manifest.nouns)

    @property
    def caption(self) -> str:
        """Return how many rows of the first board are shown."""
        return self.first.caption if self.first else ""

    def board_address(self, title: str) -> str:
        """Return where the board of a title is."""
        return dict(self.boards.boards).get(title, self.boards.home)

    @property
    def places(self) -> Mapping[str, Callable[[str], str]]:
        """Return where the names of the ranks on all boards lead, also where the first board has no rows."""
        home = self.boards.home
        return {"entrant": lambda name: f"{home}/entrants/{path_of_name(name)}", "board": self.board_address}

    @property
    def ranks_map(self) -> TaskMap | None:
        """Return the first entrants on all boards; None where there is one board alone."""
        return build_ranks_map(self.ranks, MOST_RANKED) if len(self.ranks.columns) > 4 else None

    @property
    def card(self) -> str:
        """Return the address of the first board's first places."""
        home = f"{self.base}/benchmarks/{self.manifest.slug}/leaderboards"
        return f"{home}/{self.manifest.leaderboards[0].name}/embed.png" if self.base and self.first else ""


@dataclass(frozen=True)
class RegistrationOutcome:
    """What came of a registration in one submission: its state, its reason, its claims and deviations."""

    id: int
    status: str
    reason: str
    tables: Sequence[Panel]


YAML_KEY = re.compile(r"(\s*(?:- )?)([\w.-]+)(?=:(?:\s|$))")


def prereg_lines(text: str) -> list[tuple[str, str, str]]:
    """Return the lines of a preregistration, each as what is before its key, the key, and the rest with its end."""
    return [_line(line) for line in text.splitlines(keepends=True)]


def _line(line: str) -> tuple[str, str, str]:
    match = YAML_KEY.match(line)
    return (match[1], match[2], line[match.end() :]) if match else ("", "", line)


# The tables of the pages that are not themselves one table: what their .csv holds.


def benchmarks_table(listed: Sequence[BenchmarkSummary]) -> Table:
    """Return every benchmark with its boards, their names joined by a blank."""
    columns = (
        Column("slug", "Slug", "text"),
        Column("title", "Title", "text"),
        Column("evidence", "Evidence", "text"),
        Column("n_entrants", "Entrants", "integer"),
        Column("n_submissions", "Submissions", "integer"),
        Column("snapshot", "Snapshot", "integer"),
        Column("published_at", "Published", "time"),
        Column("leaderboards", "Leaderboards", "text"),
    )
    rows = tuple(
        (
            b.names.slug,
            b.names.title,
            b.evidence,
            b.n_entrants,
            b.n_submissions,
            b.snapshot_number,
            b.published_at.isoformat() if b.published_at else None,
            " ".join(board["name"] for board in b.names.leaderboards),
        )
        for b in listed
    )
    return Table("benchmarks", "Benchmarks", columns, rows)


def boards_table(manifest: Manifest) -> Table:
    """Return a benchmark's leaderboards as its manifest declares them, metrics joined by a blank."""
    columns = (
        Column("leaderboard", "Leaderboard", "text"),
        Column("title", "Title", "text"),
        Column("method", "Method", "text"),
        Column("metrics", "Metrics", "text"),
        Column("n_tasks", "Tasks", "integer"),
    )
    everything = manifest.task_ids()
    n_all = None if everything is None else len(everything)
    rows = tuple(
        (
            board.name,
            board.title or board.name,
            board.method,
            " ".join(board.metric_names()),
            n_all if board.tasks is None else len(board.tasks),
        )
        for board in manifest.leaderboards
    )
    return Table("leaderboards", f"Leaderboards of {manifest.title}", columns, rows)


def checks_table(described: Mapping[str, Any]) -> Table:
    """Return the checks of a submission as its JSON describes it."""
    names = ("rule", "outcome", "reason")
    columns = tuple(Column(name, name.capitalize(), "text") for name in names)
    rows = tuple(tuple(check[name] for name in names) for check in described["checks"])
    return Table("checks", f"Checks of submission {described['id']}", columns, rows)


def citing_table(described: Mapping[str, Any]) -> Table:
    """Return the submissions that cite a preregistration as its JSON describes it."""
    columns = (
        Column("sha256", "Preregistration", "text"),
        Column("registered_at", "Registered", "time"),
        Column("submission", "Submission", "integer"),
        Column("status", "Status", "text"),
    )
    about = (described["sha256"], described["registered_at"])
    rows = tuple((*about, citing["id"], citing["status"]) for citing in described["submissions"])
    return Table("submissions", "Submissions that cite the preregistration", columns, rows)


def changes_table(slug: str, listed: Sequence[Mapping[str, Any]], between: Mapping[str, Any] | None = None) -> Table:
    """Return one row for each change of each snapshot as the JSON lists them, or for each change between two.

    `was` is the submission before, or of a changed manifest the version before.
    """
    shown_keys = ("kind", "entrant", "board", "submission", "version", "was", "from", "to")
    columns = (
        Column("snapshot", "Snapshot", "integer"),
        Column("published_at", "Published", "time"),
        Column("kind", "Change", "text"),
        Column("entrant", "Entrant", "text"),
        Column("board", "Leaderboard", "text"),
        Column("submission", "Submission", "integer"),
        Column("version", "Version of the manifest", "integer"),
        Column("was", "Before", "integer"),
        Column("from", "Rank before", "integer"),
        Column("to", "Rank", "integer"),
    )
    if between is not None:
        listed = [{**each, "changes": between["changes"]} for each in listed if each["number"] == between["to"]]
    rows = tuple(
        (snapshot["number"], snapshot["published_at"], *(change.get(name) for name in shown_keys))
        for snapshot in listed
        for change in snapshot["changes"]
    )
    return Table("changes", f"Changes of {slug}", columns, rows)


def glossary_table(entries: Sequence[GlossaryEntry]) -> Table:
    """Return every explained term with its formula and source."""
    names = ("anchor", "term", "text", "formula", "source")
    columns = tuple(Column(name, name.capitalize(), "text") for name in names)
    rows = tuple((e.anchor, e.term, e.text, e.formula, e.source) for e in entries)
    return Table("glossary", "Glossary", columns, rows)


# What a benchmark's page shows of an upload: the columns it reads, one example row, a minimal preregistration.

MOST_SHOWN = 100


def submit_example(manifest: Manifest) -> SubmitExample:
    """Return what a submitter to a benchmark must know of its files."""
    return SubmitExample(kind_of(manifest).pages.example(manifest), _prereg(manifest))


def _prereg(manifest: Manifest) -> str | None:
    if "evaluation" not in manifest.admission.prereg_forms:
        return None
    metrics = ", ".join(f'"{name}"' if ":" in name else name for name in manifest.metrics)
    lines = [f"benchmark: {manifest.slug}", f"entrants: [{MODEL}]", "tasks: all", f"metrics: [{metrics}]"]
    lines += [f"{axis}: [{', '.join(values)}]" for axis, values in _axes(manifest).items() if values]
    return "\n".join([*lines, ""])


def _axes(manifest: Manifest) -> dict[str, list[str]]:
    """Return the axes of the grid that a registration should name, with values that it may name."""
    free = {} if manifest.grid is None else manifest.grid.registration_may_choose
    conditions = free.get("conditions")
    n_conditions = 0 if conditions is None else min(conditions.at_least, MOST_SHOWN)
    return {
        "seeds": [str(seed) for seed in _seeds(manifest)],
        "conditions": [ANY_CONDITION, *(f"{ANY_CONDITION}-{at}" for at in range(2, n_conditions + 1))][:n_conditions],
    }


def _seeds(manifest: Manifest) -> list[int]:
    """Return seeds that a registration may name: those of the grid, or as many as it asks; none if too many."""
    grid = manifest.grid
    if grid is None:
        return []
    free = grid.registration_may_choose.get("seeds")
    asked = grid.seeds if free is None else free.at_least
    seeds = list(range(min(asked, MOST_SHOWN + 1))) if isinstance(asked, int) else asked or []
    return seeds if len(seeds) <= MOST_SHOWN else []


# What waits for a benchmark's stewards.


@dataclass(frozen=True)
class RefusedForm:
    """Why a form of the desk was refused, with the problems of its fields; `sign_in` leads to the login."""

    why: Rejected
    sign_in: str | None


# What needs a steward, as a table.

COLUMNS = (
    Column("what", "What", "text"),
    Column("benchmark", "Benchmark", "text"),
    Column("submission", "Submission", "integer"),
    Column("since", "Since, or next try", "time"),
    Column("tries", "Tries", "integer"),
    Column("reason", "Why", "text"),
)


def health_table(troubles: Sequence[Trouble], notes: Sequence[str]) -> Table:
    """Return a table of what needs attention; `notes` are about the server itself."""
    rows = tuple(
        (each.what, each.benchmark, each.submission, None if each.since is None else each.since.isoformat(),
         each.tries, each.reason)
        for each in troubles
    )  # fmt: skip
    return Table("health", "Health", COLUMNS, rows, tuple(notes))


def health_caption(table: Table) -> str:
    """Return how many things need somebody."""
    if table.rows:
        return f"{count(len(table.rows), 'thing')} to look at"
    # Of the server itself something may be said above.
    return "No benchmark needs you." if table.notes else "Nothing needs you."


# The record of who did what, as a table.

AUDIT_COLUMNS = (
    Column("id", "No.", "integer"),
    Column("at", "At", "time"),
    Column("action", "Action", "text"),
    Column("subject", "Of", "text"),
    Column("benchmark", "Benchmark", "text"),
    Column("token", "Token", "integer"),
    Column("name", "Name", "text"),
    Column("session", "Session", "integer"),
    Column("address", "From", "text"),
    Column("status", "Status", "integer"),
    Column("refusal", "Refused because", "text"),
    Column("before", "Before", "text"),
    Column("after", "After", "text"),
    Column("reason", "Reason", "text"),
)


def audit_table(listed: Sequence[ListedEvent], *, with_addresses: bool) -> Table:
    """Return the events as a table; addresses are for admins alone."""
    notes = () if with_addresses else ("Addresses are shown to admins alone.",)
    return Table("audit", "Audit", AUDIT_COLUMNS, tuple(_row(each, with_addresses) for each in listed), notes)


def _row(listed: ListedEvent, with_addresses: bool) -> tuple[Cell, ...]:
    event = listed.event
    return (
        event.id,
        event.at.isoformat(),
        event.action,
        event.subject,
        event.benchmark,
        event.token_id,
        listed.holder,
        event.session_id,
        event.address if with_addresses else None,
        event.status,
        event.refusal,
        _written(event.before),
        _written(event.after),
        event.reason,
    )


def _written(values: Mapping[str, Any] | None) -> str | None:
    return None if values is None else json.dumps(values, ensure_ascii=False, sort_keys=True)


@dataclass(frozen=True)
class ReportSection:
    """One table of a report with its plots, and the addresses of its rows as CSV and JSON."""

    table: Table
    columns: Sequence[ShownColumn]
    drawings: Drawings
    csv: str
    json: str


@dataclass(frozen=True, kw_only=True)
class AgainstPage(Page):
    """Two entrants of a board against each other: the sentence one may write, and the numbers under it.

    `entrants` are those that can be chosen, `a` and `b` the chosen ones ("" before); `sentences` are empty before
    both are chosen, `of_all` is what holds of every pair of the board. `hidden` is what the form keeps.
    """

    template = "against.html"
    slug: str
    a: str
    b: str
    entrants: Sequence[str]
    sentences: Sequence[str]
    of_all: Sequence[str]
    tables: Sequence[Panel]
    by_task: Panel | None
    frame: Surroundings | None
    exports: Links
    turned: str
    items: str
    hidden: Links
    notes: Sequence[str]
    facts: PageFacts
    snapshot: Snapshot | None
    here: str
    permalink: str
    is_board: ClassVar[bool] = False
    saved_drawings: ClassVar[bool] = False

    def data_address(self, ending: str) -> str:
        """Return where the same rows, or the picture of the tasks, are in another format."""
        return in_format(self.permalink, ending)

    @property
    def legend(self) -> list[tuple[str, GlossaryEntry]]:
        """Return the meaning of the columns of all tables, each once."""
        return legend([shown.column for table in self.tables for shown in table.columns])


# The description of the API as a page: one section an operation, made from the same document as /openapi.json.

Json = Mapping[str, Any]


def list_operations(description: Json) -> dict[str, list[Json]]:
    """Return the operations by their tag, in the order of the description, each as `templates/api.html` reads it."""
    by_tag: dict[str, list[Json]] = {}
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            tag = operation.get("tags", ["other"])[0]
            by_tag.setdefault(tag, []).append(_operation(description, path, method, operation))
    return by_tag


def _operation(description: Json, path: str, method: str, operation: Json) -> Json:
    return {
        "anchor": operation["operationId"],
        "method": method.upper(),
        "path": path,
        "about": operation.get("description", ""),
        "needs_token": "security" in operation,
        "body": ", ".join(operation.get("requestBody", {}).get("content", {})),
        "fields": list(_fields(description, operation)),
        "answers": [
            (status, answer["description"], ", ".join(answer.get("content", {})) or "no body")
            for status, answer in operation["responses"].items()
        ],
    }


def _fields(description: Json, operation: Json) -> Iterator[tuple[str, str, bool, str]]:
    """Yield the parameters of an operation and the fields of its body: name, place, whether required, what it holds."""
    for each in operation.get("parameters", ()):
        yield each["name"], each["in"], each.get("required", False), _about(each, each["schema"])
    for content in operation.get("requestBody", {}).get("content", {}).values():
        schema = _resolve(description, content["schema"])
        for name, each in schema.get("properties", {}).items():
            yield name, "body", name in schema.get("required", ()), _about(each, each)


def _resolve(description: Json, schema: Json) -> Json:
    name = schema.get("$ref", "").rpartition("/")[2]
    resolved: Json = description["components"]["schemas"][name] if name else schema
    return resolved


def _about(named: Json, schema: Json) -> str:
    return named.get("description") or _kind(schema)


def _kind(schema: Json) -> str:
    """Return the type of a value in a word; null, which leaving the field out says too, is not named."""
    choices = [part for part in schema.get("anyOf", [schema]) if part.get("type") != "null"]
    return " or ".join(dict.fromkeys(str(part.get("format") or part.get("type", "value")) for part in choices))
