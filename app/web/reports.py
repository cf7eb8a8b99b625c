"""/submissions/{id}/reports/{task}: what a submission's predictions of one task are worth, plot by plot."""

from collections.abc import Iterable, Sequence
from urllib.parse import urlencode

from fastapi import APIRouter
from starlette.responses import Response

from app.errors import NotFound
from app.kinds.contract import Pages
from app.kinds.registry import kind_of
from app.names import clip_for_message
from app.render.columns import ShownColumn, shown_columns
from app.render.drawings import build_drawings
from app.render.pages import ReportSection
from app.render.table_page import narrow_table
from app.render.text import name_in_path, path_of_name
from app.store import benchmarks, submissions
from app.values.table import Table
from app.web.answers import page
from app.web.caller import PUBLIC
from app.web.checked_first import CheckedFirst
from app.web.description import described
from app.web.state import SessionDep

router = APIRouter(route_class=CheckedFirst, dependencies=PUBLIC)

NAMED = ("entrant", "task")


def is_report(pages: Pages, table: Table) -> bool:
    """Say whether a submission's table is shown task by task on pages of its own."""
    return table.name in pages.reports and "task" in table.column_names()


def report_links(pages: Pages, submission: int, tables: Sequence[Table]) -> list[tuple[str, str]]:
    """Return a link to the report of each task that a submission's tables name."""
    return [(task, _address(submission, task)) for task in _tasks(pages, tables)]


def _tasks(pages: Pages, tables: Sequence[Table]) -> list[str]:
    report_tables = [table for table in tables if is_report(pages, table)]
    return sorted({str(row[table.index("task")]) for table in report_tables for row in table.rows})


def _address(submission: int, task: str) -> str:
    return f"/submissions/{submission}/reports/{path_of_name(task)}"


@router.get(
    "/submissions/{submission}/reports/{task:path}",
    summary="A submission's report on one task",
    responses=described(404, 422, also=("html",)),
)
def show_report(submission: int, task: str, session: SessionDep) -> Response:
    """Return the tables of a submission's report on one task: intervals, curves, confusion, calibration, errors."""
    task = name_in_path(task)
    stored = submissions.find_submission(session, submission)
    tables = submissions.read_tables(session, stored.id)
    slug = submissions.slug_of(session, stored)
    manifest = benchmarks.find_declared(session, slug).manifest
    pages = kind_of(manifest).pages
    if task not in _tasks(pages, tables):
        raise NotFound(f"Submission {stored.id} has no report on a task {clip_for_message(task)}.")
    reports = [table for table in tables if is_report(pages, table)]
    ordered = sorted(reports, key=lambda table: pages.reports.index(table.name))
    sections = [_section(stored.id, narrow_table(table, {"task": [task]}), task) for table in ordered]
    return page(
        "report.html",
        title=f"{task}, submission {stored.id}",
        task=task,
        entrants=_entrants(section.table for section in sections),
        facts=pages.facts(manifest),
        trail=[(slug, f"/benchmarks/{slug}"), (f"Submission {stored.id}", f"/submissions/{stored.id}")],
        others=[link for link in report_links(pages, stored.id, tables) if link[0] != task],
        sections=[section for section in sections if section.table.rows],
    )


def _entrants(tables: Iterable[Table]) -> list[str]:
    return list(dict.fromkeys(str(row[table.index("entrant")]) for table in tables for row in table.rows))


def _section(submission: int, table: Table, task: str) -> ReportSection:
    address = f"/submissions/{submission}/tables/{table.name}"
    query = urlencode({"task": task})
    return ReportSection(
        table,
        _distinguishing_columns(table),
        build_drawings(table),
        f"{address}.csv?{query}",
        f"{address}.json?{query}",
    )


def _distinguishing_columns(table: Table) -> Sequence[ShownColumn]:
    """Return the columns without those with the same name in every row, which is in the heading."""
    shown = shown_columns(table, detail=False)
    return [each for each in shown if each.column.name not in NAMED or len({row[each.at] for row in table.rows}) > 1]
