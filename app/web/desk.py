"""/desk/{slug}: what waits for its stewards, a withdrawal with its reason, another manifest and its effect."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, Request
from fastapi.exceptions import RequestValidationError
from sqlalchemy import func, select
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.responses import RedirectResponse, Response

from app.db.engine import LONG_REQUESTS, allow
from app.db.models import StoredFingerprint, Submission, SubmissionEvent
from app.errors import FieldRejected, Forbidden, PlumblineError, Problem, SignedInLongAgo
from app.kinds.parse import parse_manifest
from app.receiving.impact import diff_of, preview_of
from app.render.pages import Flagged, RefusedForm
from app.rights import roles, sessions
from app.store import audit, benchmark_rows, benchmarks, current, labels, sql, submissions
from app.store.audit import Change
from app.store.disputes import waiting_here
from app.store.preregs import list_registrations
from app.store.tries import refused_here
from app.telemetry import REFUSALS
from app.web import forms
from app.web.caller import Caller, Handler, find_caller, may
from app.web.checked_first import CheckedFirst
from app.web.cookies import refuse_cross_site, session_secret
from app.web.description import described
from app.web.problems import rejected_of, status_of
from app.web.requests import Reason
from app.web.state import SessionDep, StateDep, get_state
from app.web.views import page

PRIVATE = {"Cache-Control": "no-store"}
ADDRESS = "/desk/{slug}"
WAITING = ("received", "evaluated", "set_aside")
LATE = ("overdue", "never_reported")
MOST = 50
EMPTY: Mapping[str, str] = MappingProxyType({})


class KeepingFields(CheckedFirst):
    """A route whose refusal shows a browser the desk again, with what was written in the form that was sent.

    A session that began a while ago signs in again beside it, and the form then has the key of the new session.
    """

    def get_route_handler(self) -> Handler:
        """Return the handler, which answers refused forms of those who may see the desk with the desk."""
        handle = super().get_route_handler()

        async def keeping(request: Request) -> Response:
            try:
                return await handle(request)
            except (PlumblineError, RequestValidationError) as error:
                if not forms.is_form(request) or not request.headers.get("content-type", "").startswith(forms.FIELDS):
                    raise
                if not await run_in_threadpool(_sees_desk, request):
                    raise
                return await run_in_threadpool(_refused, request, error, await request.form())

        return keeping


router = APIRouter(route_class=KeepingFields, tags=["benchmarks"])


@router.get(
    ADDRESS,
    summary="The stewards' desk",
    responses=described(401, 403, 404, also=("html",)),
    include_in_schema=False,
    dependencies=[may("see the stewards' desk")],
)
def show_desk(slug: str, request: Request, session: SessionDep) -> Response:
    """Show what is waiting, flagged, refused or overdue, and the forms of a steward."""
    return _desk(slug, request, session)


@router.post(
    f"{ADDRESS}/withdraw",
    summary="Withdraw a submission by the form of the stewards' desk",
    status_code=303,
    responses=described(403, 404, 409),
)
def withdraw(
    slug: str,
    state: StateDep,
    caller: Annotated[Caller, may("withdraw a submission at the desk")],
    submission: Annotated[int, Form(ge=1, le=2**62)],
    reason: Annotated[Reason, Form()],
) -> Response:
    """Take a submission of the benchmark off the boards; the reason is public."""

    def take_off(session: Session) -> None:
        stored = submissions.lock_submission(session, submission)
        if submissions.slug_of(session, stored) != slug:
            raise Forbidden(f"Submission {submission} is not of {slug}.")
        before = {"status": stored.status}
        current.withdraw(session, stored, reason)
        audit.record(session, caller.act, 303, Change(before, {"status": stored.status}, reason, slug))
        benchmark_rows.mark_data_changed(session, stored.benchmark_id)
        state.jobs.defer_refresh(session, stored.benchmark_id)

    state.transact(take_off)
    return RedirectResponse(f"/submissions/{submission}", 303, PRIVATE)


@router.post(
    f"{ADDRESS}/manifest",
    summary="Preview or save a manifest from the stewards' desk",
    responses=described(403, 404, 409, also=("html",)) | {303: {"description": "put; leads to the benchmark"}},
)
def put_manifest(
    slug: str,
    request: Request,
    state: StateDep,
    caller: Annotated[Caller, may("change the manifest")],
    manifest: Annotated[str, Form(max_length=1_000_000)],
    act: Annotated[Literal["preview", "put"], Form()] = "preview",
) -> Response:
    """Show what another manifest would change, line by line and rank by rank; or save it as a version."""
    yaml = manifest.replace("\r\n", "\n").encode()
    if len(yaml) > state.settings.max_manifest_kib * 1024:
        most = f"a manifest has at most {state.settings.max_manifest_kib} KiB"
        raise FieldRejected("The manifest is too long.", [Problem(most, column="manifest")])
    if act == "put":
        state.transact(lambda session: _put(session, state, caller, slug, yaml))
        return RedirectResponse(f"/benchmarks/{slug}", 303, PRIVATE)
    with state.sessions() as session:
        declared = benchmarks.find_declared(session, slug)
        parsed = parse_manifest(yaml)
        benchmarks.check_update(session, slug, parsed, yaml)
        allow(session, LONG_REQUESTS)
        with state.computing.taken_in_thread(caller.owner):
            preview = preview_of(session, declared, parsed, state.rows)
        return _desk(slug, request, session, yaml.decode(), diff_of(declared.version.yaml, yaml), preview)


def _sees_desk(request: Request) -> bool:
    """Say whether a page of ours sent a form in a session that may see the desk, whatever key the form has."""
    state = get_state(request)
    known: Caller | None = getattr(request.state, "caller", None)
    try:
        refuse_cross_site(request)
        caller = known or find_caller(Request({**request.scope, "method": "GET"}), None, state)
        with state.sessions() as session:
            benchmark = benchmark_rows.find_benchmark(session, request.path_params["slug"])
            return roles.allows(session, "see the stewards' desk", replace(caller, is_fresh=True), benchmark)
    except PlumblineError:
        return False


def _refused(request: Request, error: PlumblineError | RequestValidationError, fields: FormData) -> Response:
    """Return the desk with what was written, and why that was refused."""
    REFUSALS.labels(type(error).__name__).inc()
    kept = {name: text for name, text in fields.items() if isinstance(text, str)}
    asks = forms.login_address(request, again=True) if isinstance(error, SignedInLongAgo) else None
    refusal = RefusedForm(rejected_of(error), asks)
    with get_state(request).sessions() as session:
        shown = _desk(request.path_params["slug"], request, session, kept=kept, refusal=refusal)
    shown.status_code = status_of(error)
    return shown


def _put(session: Session, state: StateDep, caller: Caller, slug: str, yaml: bytes) -> None:
    before = benchmarks.find_declared(session, slug).version
    declared = benchmarks.update_benchmark(session, slug, parse_manifest(yaml), yaml, caller.id)
    change = Change({"version": before.version, "sha256": before.sha256},
                    {"version": declared.version.version, "sha256": declared.version.sha256})  # fmt: skip
    audit.record(session, caller.act, 303, change)
    state.jobs.defer_refresh(session, declared.benchmark.id)


def _desk(
    slug: str,
    request: Request,
    session: Session,
    text: str | None = None,
    diff: Sequence[tuple[str, str]] = (),
    preview: dict[str, Any] | None = None,
    kept: Mapping[str, str] = EMPTY,
    refusal: RefusedForm | None = None,
) -> Response:
    declared = benchmarks.find_declared(session, slug)
    number, secret, now = declared.benchmark.id, session_secret(request), sql.now(session)
    listed = submissions.list_with_names(session, number, limit=1000)
    late = [each for each in list_registrations(session, declared) if each.outcome(now) in LATE]
    shown = page(
        "desk.html",
        title=f"Desk of {slug}",
        slug=slug,
        form_key=None if secret is None else sessions.form_key(secret),
        waiting=[each for each in listed if each.submission.status in WAITING][:MOST],
        flagged=_flagged(session, number),
        refused=refused_here(session, number),
        disputes=waiting_here(session, number),
        late=[(each, each.outcome(now)) for each in late[:MOST]],
        withdrawn=_withdrawn(session, number),
        manifest=kept.get("manifest", declared.version.yaml.decode()) if text is None else text,
        kept=kept,
        refusal=refusal,
        version=declared.version.version,
        diff=diff,
        preview=preview,
        is_previewed=text is not None,
        has_private_labels=labels.scoring_of(declared.manifest) is not None,
        is_closed=labels.find_close(session, number) is not None,
    )
    shown.headers.update(PRIVATE)
    return shown


def _flagged(session: Session, benchmark_id: int) -> list[Flagged]:
    has_any = func.cardinality(StoredFingerprint.flags) > 0
    query = select(Submission.id, Submission.status).where(Submission.benchmark_id == benchmark_id)
    flagged = select(StoredFingerprint.submission_id).where(has_any)
    query = query.where(Submission.id.in_(flagged)).order_by(Submission.id.desc()).limit(MOST)
    return [Flagged(n, status, submissions.list_flags(session, n)) for n, status in session.execute(query)]


def _withdrawn(session: Session, benchmark_id: int) -> list[tuple[int, datetime, str]]:
    query = (
        select(Submission.id, SubmissionEvent.at, SubmissionEvent.reason)
        .join(SubmissionEvent, SubmissionEvent.submission_id == Submission.id)
        .where(Submission.benchmark_id == benchmark_id, SubmissionEvent.status == "withdrawn")
        .order_by(SubmissionEvent.at.desc())
        .limit(MOST)
    )
    return [(number, at, reason) for number, at, reason in session.execute(query)]
