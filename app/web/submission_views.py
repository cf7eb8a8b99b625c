"""/submissions/{id}: the status of a submission, its rows and its own tables; withdrawing it."""

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter
from sqlalchemy.orm import Session
from starlette.responses import Response, StreamingResponse

from app.db.models import Submission, SubmissionEvent
from app.errors import Forbidden, NotFound
from app.kinds.known import kind_of
from app.manifest.declared_metadata import units_of
from app.render.exports import parts_to_csv, table_to_json
from app.render.page_tables import checks_table
from app.render.pages import ShownTable
from app.render.row_filter import narrow_table
from app.store import audit, benchmark_rows, benchmarks, current, submissions, web_processes
from app.store.audit import Change
from app.store.disputes import shown_disputes
from app.store.sent_rows import read_sent
from app.store.submission_parts import Parts, read_parts
from app.web.answers import csv_answer, json_answer, page, refuse_other_formats, split_format
from app.web.checked_first import CheckedFirst
from app.web.documents.submissions import SubmissionDocument
from app.web.documents.tables import SubmissionTableDocument
from app.web.endpoint_answers import described
from app.web.exports import NOT_KEPT
from app.web.fields import Body, Reason
from app.web.reports import is_report, report_links
from app.web.state import SessionDep, StateDep, Submitter, is_steward_of
from app.web.views import WantedDep

router = APIRouter(route_class=CheckedFirst)

WAITING_FOR = {"received": "evaluation", "evaluated": "publication"}
"""The states that a submission leaves without action by anybody, and what it waits for in each."""


def check_document(check: Any) -> dict[str, str]:
    """Return what is shown of a check."""
    return {"rule": check.rule, "outcome": check.outcome, "reason": check.reason}


def describe(session: Session, submission: Submission, just_stored: Parts | None = None) -> dict[str, Any]:
    """Return everything that is shown of a submission; nothing is read again of one that was just stored."""
    parts = just_stored or read_parts(session, submission)
    status, events = _said(session, submission, parts.events)
    return {
        "id": submission.id,
        "url": f"/submissions/{submission.id}",
        "benchmark": parts.slug,
        "status": status,
        "reason": events[-1].reason,
        "admitted": all(event.status != "not_admitted" for event in events),
        "waiting_for": WAITING_FOR.get(status),
        "run_purpose": submission.run_purpose,
        "prereg_sha256": submission.prereg_sha256,
        "received_at": submission.received_at.isoformat(),
        "n_rows": submission.n_rows,
        "metadata": submission.description,
        "claims": submission.claims,
        "checks": [check_document(check) for check in parts.checks],
        "flags": dict(parts.flags),
        "identity": [
            {"bundle": bundle["name"], "entrant": bundle["entrant"], **dict(sorted(bundle.get("identity", {}).items()))}
            for bundle in submission.facts.get("bundles", ())
        ],
        "entrants": [
            {
                "name": e.name,
                "n_rows": entry.n_rows,
                "state": entry.state,
                "tasks": current.tasks_of(session, entry),
                "superseded_by": entry.superseded_by,
            }
            for e, entry in parts.entries
        ],
        "files": [{"name": f.name, "sha256": f.sha256, "n_bytes": f.n_bytes, "n_rows": f.n_rows} for f in parts.files],
        **({} if just_stored else shown_disputes(session, submission.id)),
        "history": [{"status": e.status, "at": e.at.isoformat(), "reason": e.reason} for e in events],
    }


def _said(
    session: Session, submission: Submission, events: Sequence[SubmissionEvent]
) -> tuple[str, Sequence[SubmissionEvent]]:
    """Return the status and the history of a submission as they are said: published once every web process shows it."""
    status = submission.status
    if status != "published" or not web_processes.unshown(session, [submission.id]):
        return status, events
    before = events[:-1] if events[-1].status == status else events
    return web_processes.status_said(status, is_unshown=True), before


@router.get(
    "/submissions/{submission}",
    summary="A submission (.csv: its checks; .json)",
    responses=described(404, answer=SubmissionDocument, also=("html", "csv")),
)
def show(submission: str, session: SessionDep) -> Response:
    """Return a submission: status, checks, history, files, and averages of its own rows."""
    name, fmt = split_format(submission)
    refuse_other_formats(fmt, "csv", "json")
    stored = submissions.find_submission(session, _number(name))
    if fmt == "json":
        return json_answer(describe(session, stored), headers={"Cache-Control": "no-store"})
    if fmt == "csv":
        answer = csv_answer(checks_table(describe(session, stored)))
        answer.headers["Cache-Control"] = "no-store"
        return answer
    kept = submissions.read_tables(session, stored.id)
    manifest = benchmarks.find_declared(session, submissions.slug_of(session, stored)).manifest
    pages = kind_of(manifest).pages
    described_now = describe(session, stored)
    return page(
        "submission.html",
        title=f"Submission {stored.id}",
        s=described_now,
        waiting=described_now["waiting_for"] is not None,
        tables=[ShownTable(table) for table in kept if not is_report(pages, table)],
        reports=report_links(pages, stored.id, kept),
        facts=pages.facts(manifest),
        units=units_of(manifest.metadata),
    )


@router.get(
    "/submissions/{submission}/tables/{name:path}",
    summary="A table of a submission",
    responses=described(404, answer=SubmissionTableDocument, also=("csv",)),
)
def show_table(submission: int, name: str, session: SessionDep, wanted: WantedDep) -> Response:
    """Return one of a submission's own tables (.csv, .json): all of it, or some of its rows."""
    stored = submissions.find_submission(session, submission)
    stem, fmt = split_format(name)
    table = submissions.read_table(session, stored.id, stem)
    if table is None:
        raise NotFound(f"Submission {stored.id} has no table {stem[:40]}.")
    table = narrow_table(table, wanted)
    if fmt == "json":
        return Response(table_to_json(table, {"submission": stored.id}), media_type="application/json")
    if fmt != "csv":
        raise NotFound("This table has no page of its own; there are .csv and .json.")
    return csv_answer(table)


@router.get(
    "/submissions/{submission}/scores.csv", summary="The rows of a submission", responses=described(404, also=("csv",))
)
def scores(submission: int, session: SessionDep, state: StateDep) -> Response:
    """Return every row of a submission as it was stored, as CSV."""
    stored = submissions.find_submission(session, submission)
    rows = parts_to_csv(read_sent(state.sessions, stored.id))
    return StreamingResponse(rows, media_type="text/csv; charset=utf-8", headers=NOT_KEPT)


class Withdrawal(Body):
    """Why a submission is withdrawn; shown for ever."""

    reason: Reason


@router.post(
    "/submissions/{submission}/withdraw",
    summary="Withdraw a submission",
    responses=described(403, 404, 409, answer=SubmissionDocument),
)
def withdraw(submission: int, order: Withdrawal, state: StateDep, caller: Submitter) -> Response:
    """Withdraw a submission from the boards (its submitter, or a steward of its benchmark)."""

    def take_off(session: Session) -> dict[str, Any]:
        stored = submissions.lock_submission(session, submission)
        if stored.token_id != caller.id and not is_steward_of(session, caller, stored.benchmark_id):
            raise Forbidden("Only its submitter or a steward of its benchmark may withdraw a submission.")
        before = {"status": stored.status}
        current.withdraw(session, stored, order.reason)
        change = Change(before, {"status": stored.status}, order.reason, submissions.slug_of(session, stored))
        audit.record(session, caller.act, 200, change)
        described_now = describe(session, stored)
        if current.was_current(session, stored.id):
            benchmark_rows.mark_data_changed(session, stored.benchmark_id)
            state.jobs.defer_refresh(session, stored.benchmark_id)
        else:
            benchmark_rows.mark_pages_changed(session, stored.benchmark_id)
        return described_now

    return json_answer(state.transact(take_off))


def _number(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise NotFound(f"There is no submission {text[:40]}.")
    return int(text)
