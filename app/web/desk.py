"""/desk/{slug}: what waits for its stewards, a withdrawal with its reason, another manifest and its effect."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, Request
from sqlalchemy import func, select
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from app.db.models import StoredFingerprint, Submission, SubmissionEvent
from app.errors import Forbidden
from app.kinds.parse import parse_new_manifest
from app.receiving.impact import diff_of, preview_of
from app.rights import roles, sessions
from app.store import benchmark_rows, benchmarks, grids, labels, sql, submissions
from app.store.disputes import waiting_here
from app.store.preregs import list_registrations
from app.store.tries import refused_here
from app.web.benchmarks import add_version
from app.web.caller import Caller, may
from app.web.cookies import session_secret
from app.web.description import described
from app.web.kept_forms import UNSENT, KeptForm, keeping
from app.web.requests import Reason, refuse_longer
from app.web.state import SessionDep, StateDep, get_state
from app.web.submissions import withdraw_as
from app.web.views import page

ADDRESS = "/desk/{slug}"
WAITING = ("received", "evaluated", "set_aside")
LATE = ("overdue", "never_reported")
MOST = 50


def _show_again(request: Request, caller: Caller, kept: KeptForm) -> Response:
    """Return the desk with what was written in a form of it, and why that was refused."""
    slug = request.path_params["slug"]
    with get_state(request).sessions() as session:
        roles.require(session, "see the stewards' desk", caller, benchmark_rows.find_benchmark(session, slug))
        return _desk(slug, request, session, kept=kept)


router = APIRouter(route_class=keeping(_show_again), tags=["benchmarks"])


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
    caller: Annotated[Caller, may("withdraw a submission")],
    submission: Annotated[int, Form(ge=1, le=2**62)],
    reason: Annotated[Reason, Form()],
) -> Response:
    """Take a submission of the benchmark off the boards; the reason is public."""

    def take_off(session: Session) -> None:
        if submissions.slug_of(session, submissions.find_submission(session, submission)) != slug:
            raise Forbidden(f"Submission {submission} is not of {slug}.")
        withdraw_as(session, state, caller, submission, reason, 303)

    state.transact(take_off)
    return RedirectResponse(f"/submissions/{submission}", 303)


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
    manifest: Annotated[str, Form()],
    act: Annotated[Literal["preview", "put"], Form()] = "preview",
) -> Response:
    """Show what another manifest would change, line by line and rank by rank; or save it as a version."""
    yaml = manifest.replace("\r\n", "\n").encode()
    refuse_longer(yaml, state.settings.max_manifest_kib * 1024, "manifest")
    if act == "put":
        state.transact(lambda session: add_version(session, state, caller, slug, yaml, 303))
        return RedirectResponse(f"/benchmarks/{slug}", 303)
    with state.sessions() as session:
        declared = benchmarks.find_declared(session, slug)
        new = benchmarks.as_next(declared, yaml, parse_new_manifest(yaml))
        benchmarks.check_update(session, slug, new.manifest, yaml)
        preview = preview_of(session, declared, new, partial(state.computing_turn, caller.owner, session))
        return _desk(slug, request, session, yaml.decode(), diff_of(declared.version.yaml, yaml), preview)


def _desk(
    slug: str,
    request: Request,
    session: Session,
    text: str | None = None,
    diff: Sequence[tuple[str, str]] = (),
    preview: dict[str, Any] | None = None,
    kept: KeptForm = UNSENT,
) -> Response:
    declared = benchmarks.find_declared(session, slug)
    number, secret, now = declared.benchmark.id, session_secret(request), sql.now(session)
    listed = submissions.list_with_names(session, number, limit=1000)
    grid = declared.manifest.grid
    late = [each for each in list_registrations(session, declared) if each.outcome(now) in LATE]
    return page(
        "desk.html",
        title=f"Desk of {declared.manifest.title}",
        slug=slug,
        name=declared.manifest.title,
        form_key=None if secret is None else sessions.form_key(secret),
        waiting=[each for each in listed if each.submission.status in WAITING][:MOST],
        flagged=_flagged(session, number),
        refused=refused_here(session, number),
        disputes=waiting_here(session, number),
        late=[(each, each.outcome(now)) for each in late[:MOST]],
        withdrawn=_withdrawn(session, number),
        manifest=kept.fields.get("manifest", declared.version.yaml.decode()) if text is None else text,
        kept=kept.fields,
        refusal=kept.refusal,
        version=declared.version.version,
        diff=diff,
        preview=preview,
        is_previewed=text is not None,
        has_private_labels=labels.scoring_of(declared.manifest) is not None,
        is_closed=labels.find_close(session, number) is not None,
        visibility=declared.benchmark.visibility,
        labels=labels.describe_labels(session, number) if labels.takes_labels(declared.manifest) else None,
        items=grids.describe_items(session, declared) if grid is not None and grid.has_file else None,
    )


def _flagged(session: Session, benchmark_id: int) -> list[tuple[int, str, Mapping[str, Sequence[str]]]]:
    """Return the submissions of which something was noticed, the newest first, with the flags of each entrant."""
    has_any = func.cardinality(StoredFingerprint.flags) > 0
    query = select(Submission.id, Submission.status).where(Submission.benchmark_id == benchmark_id)
    flagged = select(StoredFingerprint.submission_id).where(has_any)
    query = query.where(Submission.id.in_(flagged)).order_by(Submission.id.desc()).limit(MOST)
    return [(n, status, submissions.list_flags(session, n)) for n, status in session.execute(query)]


def _withdrawn(session: Session, benchmark_id: int) -> list[tuple[int, datetime, str]]:
    query = (
        select(Submission.id, SubmissionEvent.at, SubmissionEvent.reason)
        .join(SubmissionEvent, SubmissionEvent.submission_id == Submission.id)
        .where(Submission.benchmark_id == benchmark_id, SubmissionEvent.status == "withdrawn")
        .order_by(SubmissionEvent.at.desc())
        .limit(MOST)
    )
    return [(number, at, reason) for number, at, reason in session.execute(query)]
