"""Answers that several resources give: pages, and one table as HTML, CSV or JSON."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode

from fastapi import Request
from starlette.responses import Response

from app.db.models import Snapshot
from app.errors import NotFound
from app.kinds.series.reading_guide import guide_of
from app.manifest.parts import LabelSource, Mode
from app.render import html
from app.render.drawings import build_drawings
from app.render.exports import table_to_csv, table_to_json, to_json
from app.render.narrow import COLUMNS, Choice
from app.render.view import is_descending, sort_address, sort_table
from app.values.table import Column, Table

BEGINNINGS = {"leaderboard": ("rank", "entrant"), "pairwise": ("entrant_a", "entrant_b")}
FORMATS = ("csv", "json", "yaml")
KEPT = ("snapshot", *COLUMNS)
"""What says which rows are meant; it goes with a reader from one view of a table to the next."""


def split_format(tail: str) -> tuple[str, str]:
    """Split an address into the name and the format it asks for; names never end in one."""
    stem, dot, ending = tail.rpartition(".")
    return (stem, ending) if dot and ending in FORMATS else (tail, "html")


def refuse_other_formats(fmt: str, *known: str) -> None:
    """Raise NotFound for an ending that an address does not have; every address has a page."""
    if fmt not in ("html", *known):
        endings = [f".{name}" for name in known]
        raise NotFound(f"There is no .{fmt} of this; there are {', '.join(endings[:-1])} and {endings[-1]}.")


def page(template: str, **shown: Any) -> Response:
    """Return a page."""
    return Response(html.render(template, **shown), media_type="text/html; charset=utf-8")


def json_answer(document: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return JSON."""
    return Response(to_json(document), status, dict(headers or {}), media_type="application/json")


def csv_answer(table: Table) -> Response:
    """Return a table as CSV."""
    return Response(table_to_csv(table), media_type="text/csv; charset=utf-8")


@dataclass(frozen=True)
class TableView:
    """A table at its address, with what stands around it; `choices` are the fields of the form that narrows it.

    `drawn` is the table whose drawings are shown, where it is another one.
    """

    slug: str
    address: str
    table: Table
    snapshot: Snapshot | None = None
    version: int | None = None
    trail: Sequence[tuple[str, str]] = ()
    links: Sequence[tuple[str, str]] = ()
    row_links: Mapping[str, Callable[[str], str]] = field(default_factory=dict)
    mode: Mode | None = None
    labels: LabelSource | None = None
    choices: Sequence[Choice] = ()
    drawn: Table | None = None


def table_answer(request: Request, view: TableView, fmt: str) -> Response:
    """Return the table in the format that was asked for. Raises NotFound, or FieldRejected for a bad sort."""
    refuse_other_formats(fmt, "csv", "json")
    if fmt == "csv":
        return csv_answer(_headed(view.table))
    if fmt == "json":
        return Response(table_to_json(view.table, _about(view)), media_type="application/json")
    return _table_page(request, view)


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


def _table_page(request: Request, view: TableView) -> Response:
    asked = request.query_params.multi_items()
    query = dict(asked)
    descending = is_descending(query.get("order"))
    table = sort_table(view.table, query.get("sort"), descending=descending)
    kept = [(name, value) for name, value in asked if name in KEPT and value]
    columns = {column.name: column for column in view.table.columns}
    return page(
        "table.html",
        title=view.table.title,
        slug=view.slug,
        table=table,
        drawings=build_drawings(view.drawn or view.table),
        columns=html.shown_columns(table, detail=query.get("detail") == "1"),
        snapshot=view.snapshot,
        version=view.version,
        trail=view.trail,
        links=[*view.links, *_exports(view, query, kept)],
        row_links=view.row_links,
        guide=guide_of(view.mode),
        labels=view.labels,
        sort=lambda name: sort_address(asked, columns[name]),
        permalink=_permalink(view, kept),
        choices=view.choices,
        hidden=[(name, value) for name, value in kept if name == "snapshot"],
        sorted_by=query.get("sort"),
        descending=descending,
    )


def _permalink(view: TableView, kept: Sequence[tuple[str, str]]) -> str:
    narrowed = [(name, value) for name, value in kept if name != "snapshot"]
    query = narrowed if view.snapshot is None else [("snapshot", str(view.snapshot.number)), *narrowed]
    return f"{view.address}?{urlencode(query)}" if query else view.address


def _exports(view: TableView, query: Mapping[str, str], kept: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    suffix = "?" + urlencode(kept) if kept else ""
    has_all = query.get("detail") == "1"
    toggled = kept if has_all else [*kept, ("detail", "1")]
    toggle = ("Fewer columns" if has_all else "All columns", "?" + urlencode(toggled))
    return [("CSV", f"{view.address}.csv{suffix}"), ("JSON", f"{view.address}.json{suffix}"), toggle]
