"""What the pages of published tables share: finding a table in a snapshot, what is shown around it, and the same table
as HTML, CSV or JSON.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Depends, Query, Request
from pydantic import BeforeValidator
from sqlalchemy.orm import Session
from starlette.responses import Response

from app.boards.entrant_fields import with_fields
from app.boards.nouns import in_nouns
from app.boards.tradeoff import axes_of
from app.db.models import Snapshot
from app.errors import NotFound
from app.kinds.contract import PageFacts
from app.kinds.registry import kind_of
from app.manifest.model import Manifest
from app.names import count
from app.render.board import Surroundings
from app.render.csv_and_json import MEDIA_TYPES, WRITERS, table_to_csv, table_to_json, to_json
from app.render.html import Page, render, render_page
from app.render.saved import has_a_font, in_xml, palettes, png_of, saved_style
from app.render.syndication import bibtex
from app.render.table_page import (
    FIRST_PLACES,
    Panel,
    TablePage,
    TableView,
    Wanted,
    choices,
    field_filters,
    narrow_table,
    offers_weights,
    only_columns,
)
from app.render.text import FORMATS, name_in_path, path_of_name
from app.store import benchmarks, entrant_fields, row_exports, snapshots
from app.store.benchmark_rows import find_benchmark
from app.store.benchmarks import Declared, find_retirement
from app.values.table import Column, Table
from app.web.state import get_state

PICTURES = ("svg", "png")
BEGINNINGS = {"leaderboard": ("rank", "entrant"), "pairwise": ("entrant_a", "entrant_b")}


def split_format(tail: str) -> tuple[str, str]:
    """Split an address into what it names and the format it asks for."""
    stem, dot, ending = tail.rpartition(".")
    return (stem, ending) if dot and ending in FORMATS else (tail, "html")


def split_name(tail: str) -> tuple[str, str]:
    """Split the end of an address into the name in it, whatever the name, and the format."""
    stem, fmt = split_format(tail)
    return name_in_path(stem), fmt


def refuse_other_formats(fmt: str, *known: str) -> None:
    """Raise NotFound for an ending that an address does not have; every address has a page."""
    if fmt not in ("html", *known):
        endings = [f".{name}" for name in known]
        raise NotFound(f"There is no .{fmt} of this; there are {', '.join(endings[:-1])} and {endings[-1]}.")


def page(template: str, **shown: Any) -> Response:
    """Return the page of a template, which sees what is shown; a page with logic of its own is for `page_answer`."""
    return _html_answer(render(template, **shown))


def page_answer(shown: Page) -> Response:
    """Return a page with logic of its own."""
    return _html_answer(render_page(shown))


def _html_answer(content: bytes) -> Response:
    return Response(content, media_type="text/html; charset=utf-8")


NO_STORE = {"Cache-Control": "no-store"}
"""Headers of what no cache keeps, ours included."""


def json_answer(document: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return JSON."""
    return Response(to_json(document), status, dict(headers or {}), media_type="application/json")


def time_shown(at: datetime | None) -> str | None:
    """Return a time as documents have it: null where there is none."""
    return None if at is None else at.isoformat()


def csv_answer(table: Table) -> Response:
    """Return a table as CSV."""
    return Response(table_to_csv(table), media_type="text/csv; charset=utf-8")


def table_answer(request: Request, view: TableView, fmt: str) -> Response:
    """Return the table in the format that was asked for. Raises NotFound, or FieldRejected for a bad sort."""
    refuse_other_formats(fmt, "csv", "json", *PICTURES, *WRITERS)
    chosen = only_columns(view.table, request.query_params.getlist("column"))
    if fmt not in ("html", *PICTURES):
        view = replace(view, table=chosen)
    if fmt in PICTURES:
        return _picture(view, request.query_params.get("picture") or "1", fmt)
    if fmt in WRITERS:
        return Response(WRITERS[fmt](_headed(view.table), _about(view)), media_type=MEDIA_TYPES[fmt])
    if fmt == "csv":
        return csv_answer(_headed(view.table))
    if fmt == "json":
        return Response(table_to_json(view.table, _about(view)), media_type="application/json")
    return page_answer(TablePage(title=view.table.title, view=view, asked=request.query_params.multi_items()))


def _picture(view: TableView, number: str, fmt: str) -> Response:
    """Return one of the drawings of a page as a file. Raises NotFound where there is none of that number."""
    drawn = [drawing for drawing in view.drawings() if drawing.is_saved]
    if not number.isascii() or not number.isdigit() or not 0 < int(number[:6]) <= len(drawn):
        count = f"there {'is' if len(drawn) == 1 else 'are'} {len(drawn)} here" if drawn else "nothing is drawn here"
        raise NotFound(f"There is no picture {number[:40]}: {count}.")
    drawing = drawn[int(number) - 1]
    content = render("picture.svg", title=view.table.title, drawing=drawing, style=saved_style())
    return drawn_answer(in_xml(content.decode().strip()), drawing.size, fmt)


def drawn_answer(svg: str | bytes, size: tuple[float, float], fmt: str) -> Response:
    """Return a drawing as SVG or PNG. Raises NotFound for PNG where no font is installed."""
    if fmt == "svg":
        return Response(svg, media_type="image/svg+xml")
    if not has_a_font():
        raise NotFound("No font is installed on this server, so there is no .png; the .svg has the same picture.")
    text = svg if isinstance(svg, str) else svg.decode()
    return Response(png_of(text, *size, palettes()[0]["paper"]), media_type="image/png")


def _headed(table: Table) -> Table:
    """Return a table that could not be computed with the columns by which all of its kind begin."""
    known = BEGINNINGS.get(table.name.partition("/")[0], ())
    return table if table.columns else replace(table, columns=tuple(Column(name, name) for name in known))


def _about(view: TableView) -> dict[str, Any]:
    snapshot = view.snapshot
    if snapshot is None:
        return {"benchmark": view.slug, "snapshot": None}
    return {
        "benchmark": view.slug,
        "snapshot": snapshot.number,
        "published_at": snapshot.published_at.isoformat(),
        "manifest_version": view.version,
        "manifest_digest": snapshot.manifest_digest,
        "input_digest": snapshot.input_digest,
        "code_version": snapshot.code_version,
    }


def refuse_respelled_number(number: Any) -> Any:
    """Return a number, or its digits as they are written here: one thing has one address. Raises ValueError."""
    if isinstance(number, str) and not DIGITS.fullmatch(number):
        raise ValueError("expected the digits of a number, and nothing else")
    return number


DIGITS = re.compile("0|[1-9][0-9]*")


FieldsTo = Annotated[
    int | None,
    Query(ge=0, le=2**53, description="with a snapshot: the last change of entrants' fields that counts"),
    BeforeValidator(refuse_respelled_number),
]
SnapshotNumber = Annotated[int | None, Query(ge=1, le=2**31 - 1), BeforeValidator(refuse_respelled_number)]
MAX_WANTED = 100
Names = Annotated[list[str] | None, Query(max_length=MAX_WANTED)]
RowLinks = Mapping[str, Callable[[str], str]]


def read_wanted(
    task: Names = None,
    class_: Annotated[list[str] | None, Query(alias="class", max_length=MAX_WANTED)] = None,
    entrant: Names = None,
) -> Wanted:
    """Return which rows were asked for; an empty field of a form asks for nothing."""
    asked = {"task": task, "class": class_, "entrant": entrant}
    return {name: [value for value in values or () if value] for name, values in asked.items()}


WantedDep = Annotated[Wanted, Depends(read_wanted)]


def narrowed(view: TableView, wanted: Wanted) -> TableView:
    """Return the view of the wanted rows, with the form that asks for others."""
    return replace(view, table=narrow_table(view.table, wanted), choices=choices(view.table, wanted))


def find_shown(session: Session, slug: str, number: int | None) -> tuple[Declared, Snapshot]:
    """Return a benchmark and its snapshot of a number, the newest without one. Raises NotFound without any."""
    declared = benchmarks.find_declared(session, slug)
    shown = snapshots.find_snapshot(session, declared.benchmark, number)
    if shown is None:
        raise NotFound(f"Nothing of {slug} is published yet.")
    return declared, shown


def published(session: Session, slug: str, number: int | None, name: str) -> TableView:
    """Return a table of a snapshot, or an empty one that says why there is none. Raises NotFound."""
    declared = benchmarks.find_declared(session, slug)
    snapshot = snapshots.find_snapshot(session, declared.benchmark, number)
    table = None if snapshot is None else snapshots.load_table(session, snapshot.id, name)
    if snapshot is None or table is None:
        table = row_exports.explain_absence(declared.manifest, snapshot, name, declared.benchmark.publish_error)
    # What is published has the nouns of its own manifest: the bytes of a snapshot stay.
    return replace(view_of(session, declared, table, snapshot), table=table)


def with_entrant_fields(session: Session, view: TableView, number: int | None, change: int | None) -> TableView:
    """Return a view with what its entrants are said to be as further columns, and with what it is as of.

    Without a `number` of a snapshot all values count that there are; of a numbered one those that held when it was
    published, or those up to a `change`, so that its bytes stay.
    """
    benchmark = find_benchmark(session, view.slug)
    version = None if number is None or view.snapshot is None else view.snapshot.manifest_version_id
    fields = benchmarks.load_declared(session, benchmark, version).manifest.entrant_fields
    if not fields or "entrant" not in view.table.column_names():
        return view
    as_of = entrant_fields.as_of(session, benchmark, None if number is None else view.snapshot, change)
    values = entrant_fields.values_of(session, benchmark, fields, view.snapshot, as_of)
    seen = entrant_fields.last_change(session, benchmark.id) if number is None else change
    table = with_fields(view.table, fields, values)
    return replace(view, table=table, fields_to=seen or None, filters=field_filters(fields, values))


def view_of(session: Session, declared: Declared, table: Table, snapshot: Snapshot | None) -> TableView:
    """Return a table with the snapshot it belongs to, and what every page of its benchmark shows."""
    version = None if snapshot is None else snapshots.manifest_version_number(session, snapshot)
    table = in_nouns(table, declared.manifest.nouns)
    slug, facts = declared.benchmark.slug, facts_of(session, declared)
    trail = [(declared.manifest.title, f"/benchmarks/{slug}")]
    return TableView(slug, "", table, snapshot, version, trail=trail, facts=facts)


def facts_of(session: Session, declared: Declared) -> PageFacts:
    """Return what every page of a benchmark shows: what may be claimed from it, and that it is retired."""
    facts = replace(kind_of(declared.manifest).pages.facts(declared.manifest), nouns=declared.manifest.nouns)
    retired = find_retirement(session, declared.benchmark.id)
    if retired is None:
        return facts
    notice = f"Retired on {retired.at:%Y-%m-%d}: {retired.reason} It accepts no more submissions; its pages stay."
    return replace(facts, guide=f"{notice} {facts.guide or ''}".strip(), is_retired=True)


def around(view: TableView, address: str, links: Sequence[tuple[str, str]], row_links: RowLinks) -> TableView:
    """Return the view at its address, with the links beside it and in its rows."""
    return replace(view, address=address, links=links, row_links=row_links)


MORE_TITLES = {
    "comparisons": "Every metric pair by pair",
    "tests": "Tests",
    "breakdown": "By task and condition",
    "score": "Term by term",
    "quantiles": "Quantiles",
    "intervals": "Intervals",
    "classes": "Classes",
    "roc": "ROC",
    "pr": "Precision and recall",
    "thresholds": "Thresholds",
    "confusion": "Confusion",
    "reliability": "Reliability",
    "residuals": "Residuals",
    "qq": "QQ",
    "conditional": "Conditional",
    "truncation": "Truncation",
}
"""What the further tables of a board are called, in the order in which they are listed; any other one comes last."""


def framed(request: Request, session: Session, view: TableView, declared: Declared, board: str, name: str) -> TableView:
    """Return a table of a board with the frame of its page: the benchmark's boards and the views of this one.

    `name` is the end of the address of the view, nothing for the board itself.
    """
    home = f"/benchmarks/{view.slug}/leaderboards"
    own, origin = f"{home}/{board}", get_state(request).settings.own_address
    published = [] if view.snapshot is None else snapshots.table_names(session, view.snapshot.id)
    kinds = [each.split("/")[0] for each in published if each.split("/")[1:] == [board]]
    ranked = (
        view.table if view.table.name == f"leaderboard/{board}" else load_table(session, view, f"leaderboard/{board}")
    )
    # Sizes and prices are what entrants are said to be, which a stored board does not have.
    about = ranked
    if ranked is not None and ranked is not view.table:
        about = with_entrant_fields(session, replace(view, table=ranked), None, None).table
    views = [("Table", own)]
    if view.snapshot is not None and ranked is not None and ranked.rows:
        has_pairs, rows, several = "pairwise" in kinds, kind_of(declared.manifest).rows, len(ranked.rows) > 1
        offered = (
            ("Map", "matrix", not rows.are_packed),
            ("Pairs", "pairwise", has_pairs),
            ("Groups", "letters", has_pairs),
            ("Compare", "compare", not rows.are_packed and several),
            ("Items", "items", rows.have_items and several),
            ("Cost", "tradeoff", name == "tradeoff" or (about is not None and axes_of(about, None, None) is not None)),
            ("Time", "history", view.snapshot.number > 1),
        )
        views += [(words, f"{own}/{end}") for words, end, is_there in offered if is_there]
    order = list(MORE_TITLES)
    further = sorted(set(kinds) - {"leaderboard", "pairwise"})
    further.sort(key=lambda kind: order.index(kind) if kind in order else len(order))
    more = [(MORE_TITLES.get(kind, kind.replace("_", " ").capitalize()), f"{own}/{kind}") for kind in further]
    more += [("Two against each other", f"{own}/against")] if "pairwise" in kinds else []
    more += [("Records", f"/benchmarks/{view.slug}/tables/records")] if "records" in published else []
    more += [("Tasks", f"/benchmarks/{view.slug}/tasks"), ("About the benchmark", f"/benchmarks/{view.slug}")]
    frame = Surroundings(
        title=declared.manifest.title,
        home=f"/benchmarks/{view.slug}",
        boards=[(each.title or each.name, f"{home}/{each.name}") for each in declared.manifest.leaderboards],
        board=own,
        views=views,
        view=f"{own}/{name}" if name else own,
        more=more,
        measures=_measures(declared.manifest, board),
        origin=origin,
        cite=_cite(view, declared.manifest, board, origin, request if name == "explore" else None),
        news=[f"{each.at}: {each.text}" for each in declared.manifest.newest()],
        has_weights=any(each.name == board and offers_weights(declared.manifest, each)
                        for each in declared.manifest.leaderboards),
    )  # fmt: skip
    return replace(view, frame=frame)


def load_table(session: Session, view: TableView, name: str) -> Table | None:
    """Return another table of the snapshot that is viewed; None where it has none of that name."""
    return None if view.snapshot is None else snapshots.load_table(session, view.snapshot.id, name)


def _measures(manifest: Manifest, board: str) -> str:
    """Return what a board measures, as the manifest calls it; nothing of one that is in no manifest of today."""
    spec = next((each for each in manifest.leaderboards if each.name == board), None)
    name = getattr(spec, "metric", None)
    metric = manifest.metrics.get(name) if isinstance(name, str) else None
    return "" if metric is None else metric.title or kind_of(manifest).pages.metric_words(str(name))


def _cite(view: TableView, manifest: Manifest, board: str, origin: str, explored: Request | None) -> str:
    """Return the BibTeX entry of a board, or of what a reader made of it: then with the choice in its address."""
    shown = view.snapshot
    if shown is None:
        return ""
    title = next((each.title for each in manifest.leaderboards if each.name == board and each.title), board)
    query, path = [("snapshot", str(shown.number))], f"/benchmarks/{view.slug}/leaderboards/{board}"
    if explored is not None:
        asked = [(name, value) for name, value in explored.query_params.multi_items() if value]
        query += [(name, value) for name, value in asked if name not in ("snapshot", "page", "sort", "order")]
        path, title = f"{path}/explore", f"{title}, a reader's choice"
    address = f"{origin}{path}?{urlencode(query)}"
    return bibtex(manifest, title, shown.number, shown.input_digest, shown.published_at, address)


def name_links(declared: Declared) -> RowLinks:
    """Return where the names in a table's cells lead: to the entrant, to the task, to the submission."""
    home = f"/benchmarks/{declared.benchmark.slug}"

    def entrant(name: str) -> str:
        return f"{home}/entrants/{path_of_name(name)}"

    return {
        **{field.name: outside for field in declared.manifest.entrant_fields if field.type == "url"},
        "entrant": entrant,
        "entrant_a": entrant,
        "entrant_b": entrant,
        "task": lambda name: f"{home}/tasks/{path_of_name(name)}",
        "submission": _submission,
        "second_submission": _submission,
        "prereg": lambda digest: f"/preregs/{digest}",
    }


def first_places(session: Session, declared: Declared, snapshot: Snapshot | None) -> Panel | None:
    """Return the first board, of which the first places are shown; None where there is none yet."""
    board = declared.manifest.leaderboards[0]
    table = None if snapshot is None else snapshots.load_table(session, snapshot.id, f"leaderboard/{board.name}")
    if table is None or not table.rows:
        return None
    n_rows = len(table.rows)
    caption = f"The first {FIRST_PLACES} of {n_rows:,} rows" if n_rows > FIRST_PLACES else count(n_rows, "entrant")
    return Panel(board.title or board.name, replace(table, notes=(caption,)), name_links(declared))


def outside(text: str) -> str:
    """Return an address of somewhere else; nothing for a text that is none, in a column of the same name."""
    return text if text.startswith(("https://", "http://")) else ""


def _submission(number: str) -> str:
    return f"/submissions/{number.replace(',', '')}"
