"""/submissions/{submission}/disputes: somebody says what is wrong with it, and a steward answers in public.

The form for it is at /disputes/{submission}, beside the other pages of who is signed in.
"""

from typing import Annotated

from fastapi import APIRouter, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from app.db.models import Submission
from app.rights import roles
from app.rights.policy import refuse_elsewhere
from app.store import audit, benchmark_rows, disputes, submissions
from app.store.audit import Change
from app.web.answers import json_answer, page
from app.web.caller import Caller, may
from app.web.checked_first import CheckedFirst
from app.web.cookies import form_key_of
from app.web.description import described
from app.web.documents import SubmissionDocument
from app.web.fields import Body, Reason
from app.web.state import SessionDep
from app.web.submissions import describe

router = APIRouter(route_class=CheckedFirst, tags=["submissions"])
ADDRESS = "/submissions/{submission}/disputes"
PRIVATE = {"Cache-Control": "no-store"}


class Saying(Body):
    """What is wrong with a submission; public, without a name, once it is answered."""

    text: Reason


class Answering(Body):
    """A steward's answer; public for ever, together with the dispute."""

    answer: Reason


@router.get(
    "/disputes/{submission}",
    summary="Disputes of a submission",
    responses=described(401, 404, also=("html",)),
    include_in_schema=False,
)
def show(
    submission: int,
    request: Request,
    session: SessionDep,
    caller: Annotated[Caller, may("see the disputes of a submission")],
) -> Response:
    """Show a submission's disputes with their answers, one's own open one, and the form."""
    stored = submissions.find_submission(session, submission)
    benchmark = benchmark_rows.get_benchmark(session, stored.benchmark_id)
    is_steward = roles.allows(session, "answer a dispute", caller, benchmark)
    readable = [
        each
        for each in disputes.of_submission(session, stored.id)
        if is_steward or each.answer is not None or each.by_id == caller.id
    ]
    shown = page("disputes.html", title=f"Disputes of submission {stored.id}", submission=stored.id,
                 slug=submissions.slug_of(session, stored), disputes=readable, is_steward=is_steward,
                 form_key=form_key_of(request))  # fmt: skip
    shown.headers.update(PRIVATE)
    return shown


@router.post(
    ADDRESS,
    summary="Dispute a submission",
    status_code=201,
    responses=described(403, 404, 409, answer=SubmissionDocument, status=201),
)
def say(
    submission: int, saying: Saying, session: SessionDep, caller: Annotated[Caller, may("dispute a submission")]
) -> Response:
    """Store a dispute for the stewards; everybody sees at once that there is one, and reads it with its answer."""
    stored, slug = _stored(session, submission)
    refuse_elsewhere(caller, slug)
    new = disputes.dispute(session, stored, caller.id, saying.text)
    audit.record(session, caller.act, 201, Change(None, {"dispute": new.id}, None, slug))
    return _changed(session, stored, 201)


@router.post(
    f"{ADDRESS}/{{dispute}}/answer",
    summary="Answer a dispute",
    responses=described(403, 404, 409, answer=SubmissionDocument),
)
def answer(
    submission: int,
    dispute: int,
    answering: Answering,
    session: SessionDep,
    caller: Annotated[Caller, may("answer a dispute")],
) -> Response:
    """Answer a dispute, once (a steward of the benchmark); from then on both are public."""
    stored, slug = _stored(session, submission)
    benchmark = benchmark_rows.get_benchmark(session, stored.benchmark_id)
    roles.require(session, "answer a dispute", caller, benchmark)
    disputes.answer(session, stored, dispute, caller.id, answering.answer)
    audit.record(session, caller.act, 200, Change({"dispute": dispute}, {"answered": True}, answering.answer, slug))
    return _changed(session, stored, 200)


def _stored(session: Session, number: int) -> tuple[Submission, str]:
    stored = submissions.find_submission(session, number)
    return stored, submissions.slug_of(session, stored)


def _changed(session: Session, stored: Submission, status: int) -> Response:
    benchmark_rows.mark_pages_changed(session, stored.benchmark_id)
    return json_answer(describe(session, stored), status=status, headers=PRIVATE)
