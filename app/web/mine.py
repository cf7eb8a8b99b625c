"""/whoami/submissions: what the holder of the token has sent."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from app.store.mine import own_submissions
from app.web.answers import json_answer
from app.web.checked_first import CheckedFirst
from app.web.documents.people import OwnSubmissionDocument
from app.web.endpoint_answers import described
from app.web.state import SessionDep, Submitter
from app.web.tokens import UNCACHED

router = APIRouter(route_class=CheckedFirst, tags=["tokens"])


@router.get(
    "/whoami/submissions",
    summary="Submissions of this token",
    responses=described(401, answer=list[OwnSubmissionDocument]),
)
def list_mine(
    session: SessionDep,
    caller: Submitter,
    benchmark: Annotated[str | None, Query(description="the slug of one benchmark", max_length=63)] = None,
) -> Response:
    """List the newest 200 submissions of this token, with their status and entrants."""
    submissions = own_submissions(session, caller.id, benchmark)
    listed = [{**vars(each), "received_at": each.received_at.isoformat(), "url": f"/submissions/{each.id}"}
              for each in submissions]  # fmt: skip
    return json_answer(listed, headers=UNCACHED)
