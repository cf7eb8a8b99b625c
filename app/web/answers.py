"""Answers that several resources give: pages, and one table as HTML, CSV or JSON."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fastapi import Request
from starlette.responses import Response

from app.errors import NotFound
from app.render import html
from app.render.exports import MEDIA_TYPES, WRITERS, table_to_csv, table_to_json, to_json
from app.render.saved import has_a_font, palettes, png_of, saved_style
from app.render.table_page import TableView, only_columns
from app.render.text import FORMATS, name_in_path
from app.values.table import Column, Table

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
    """Return a page."""
    return Response(html.render(template, **shown), media_type="text/html; charset=utf-8")


def json_answer(document: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return JSON."""
    return Response(to_json(document), status, dict(headers or {}), media_type="application/json")


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
    return page("table.html", title=view.table.title, view=view, asked=request.query_params.multi_items())


def _picture(view: TableView, number: str, fmt: str) -> Response:
    """Return one of the drawings of a page as a file. Raises NotFound where there is none of that number."""
    drawn = [drawing for drawing in view.drawings() if drawing.is_saved]
    if not number.isascii() or not number.isdigit() or not 0 < int(number[:6]) <= len(drawn):
        count = f"there {'is' if len(drawn) == 1 else 'are'} {len(drawn)} here" if drawn else "nothing is drawn here"
        raise NotFound(f"There is no picture {number[:40]}: {count}.")
    drawing = drawn[int(number) - 1]
    content = html.render("picture.svg", title=view.table.title, drawing=drawing, style=saved_style())
    return drawn_answer(content.strip(), drawing.size, fmt)


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
