"""/tries/{try} and /account/submissions: what somebody sent, also what was refused, to be read again.

A try is shown to who sent it and to the stewards of its benchmark.
"""

from fastapi import APIRouter
from starlette.responses import Response

from app.errors import NotFound
from app.store.mine import own_submissions
from app.store.tries import find_try, own_tries
from app.web.answers import json_answer, page
from app.web.checked_first import CheckedFirst
from app.web.endpoint_answers import described
from app.web.state import Holder, SessionDep, is_steward_of

router = APIRouter(route_class=CheckedFirst, tags=["submissions"], include_in_schema=False)
PRIVATE = {"Cache-Control": "no-store"}


@router.get("/tries/{number}", summary="A try", responses=described(401, 404, also=("html",)))
def show_try(number: str, session: SessionDep, caller: Holder) -> Response:
    """Show what a dry run or a refused upload was answered with (.json)."""
    stem, dot, ending = number.rpartition(".")
    attempt, slug = find_try(session, stem if dot and ending == "json" else number)
    if attempt.token_id != caller.id and not is_steward_of(session, caller, attempt.benchmark_id):
        raise NotFound("There is no such try; only the latest of each token are kept.")
    if dot and ending == "json":
        return json_answer(attempt.document, headers=PRIVATE)
    shown = page("try.html", title=_title(attempt.is_dry, attempt.status), slug=slug, attempt=attempt,
                 document=attempt.document)  # fmt: skip
    shown.headers.update(PRIVATE)
    return shown


def _title(is_dry: bool, status: int) -> str:
    if status < 300:
        return "Checked"
    return "Checked and refused" if is_dry else "Refused"


@router.get("/account/submissions", summary="Your submissions", responses=described(401, also=("html",)))
def show_own(session: SessionDep, caller: Holder) -> Response:
    """Show the submissions and the tries of whoever is signed in."""
    shown = page("own.html", title="Your submissions", tries=own_tries(session, caller.id),
                 submissions=own_submissions(session, caller.id, None))  # fmt: skip
    shown.headers.update(PRIVATE)
    return shown
