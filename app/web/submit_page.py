"""/submit/{slug}: an upload from a browser, checked or sent, by the very path of the API.

A form of HTML cannot be refilled with files; so a check opens beside the form, which keeps what was chosen.
"""

import json
from functools import partial
from typing import Annotated, Literal

from fastapi import APIRouter, File, Form, Query, Request, UploadFile
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile as Received
from starlette.responses import RedirectResponse, Response

from app.config import Settings
from app.db.models import Benchmark
from app.errors import Forbidden, NotFound, PlumblineError
from app.kinds.registry import kind_of
from app.manifest.model import MOST_DECLARED
from app.render.pages import submit_example
from app.rights import roles
from app.rights.policy import RIGHTS
from app.store import audit, benchmark_rows, benchmarks, preregs
from app.store.tries import find_try, keep_try, own_submissions, own_tries
from app.web.caller import PUBLIC, READ_SOON, Caller, may, refuse_uninvited, signed_in
from app.web.checked_first import CheckedFirst
from app.web.cookies import form_key_of, session_secret
from app.web.description import described
from app.web.documents import OwnSubmissionDocument
from app.web.preregs import warnings_of
from app.web.requests import MAX_FIELDS
from app.web.state import SessionDep, State, StateDep
from app.web.submissions import METADATA_FIELDS, FormField, fields_of, form_fields, take
from app.web.views import NO_STORE, json_answer, page

Word = Annotated[str, Form(max_length=5000)]


def make_router(settings: Settings) -> APIRouter:
    """Return the routes; the limit of an upload's size is a setting."""
    router = APIRouter(route_class=CheckedFirst, tags=["submissions"])
    address = "/submit/{slug}"
    router.add_api_route(
        address,
        show_form,
        methods=["GET"],
        responses=described(401, 403, 404, also=("html",)),
        include_in_schema=False,
        dependencies=PUBLIC,  # Who is not signed in is led to the login; of others it asks whether they may submit.
    )
    router.add_api_route(
        address,
        submit_form,
        methods=["POST"],
        status_code=303,
        summary="Check or send the form of a browser",
        responses=described(403, 404, 409),
        dependencies=READ_SOON,
        max_body_size=settings.max_body_mib * 1024 * 1024,
        form_limits={"max_fields": MAX_FIELDS + len(METADATA_FIELDS) + MOST_DECLARED},
    )
    return router


def show_form(
    slug: str,
    request: Request,
    session: SessionDep,
    state: StateDep,
    prereg: Annotated[str, Query(max_length=64)] = "",
) -> Response:
    """Show the form to whoever is signed in, with the registration chosen that they come from; lead others to the
    login, and back.
    """
    caller = signed_in(request, state)
    if caller is None:
        return RedirectResponse(f"/login?next=/submit/{slug}", 303, NO_STORE)
    declared = benchmarks.find_declared(session, slug)
    refuse_uninvited(session, "submit", caller, slug)
    own = preregs.list_own(session, slug, caller.id)
    chosen = next((each for each in own if each.sha256 == prereg), None)
    return page(
        "submit.html",
        title=f"Submit to {declared.manifest.title}",
        manifest=declared.manifest,
        example=submit_example(declared.manifest),
        form_key=form_key_of(request) or "",
        suffixes=kind_of(declared.manifest).suffixes,
        metadata_fields=form_fields(declared.manifest.entrant_fields),
        preregs=own,
        chosen=prereg if chosen is not None else None,
        warnings=[] if chosen is None else warnings_of(session, chosen, slug),
        tries=own_tries(session, caller.id, declared.benchmark.id),
        submissions=own_submissions(session, caller.id, slug),
    )


async def submit_form(
    slug: str,
    request: Request,
    state: StateDep,
    caller: Annotated[Caller, may("submit")],
    files: Annotated[list[UploadFile], File()],
    prereg: Annotated[UploadFile | str | None, File()] = None,
    prereg_sha256: Word = "",
    entrant: Word = "",
    act: Annotated[Literal["check", "submit"], Form()] = "check",
) -> Response:
    """Take what the form sends, and lead to the submission, or to the page of the try."""
    if session_secret(request) is None:
        raise Forbidden("This form is for signed-in browsers; with a token, use POST …/submissions.")
    fields = await request.form()
    asked = await run_in_threadpool(_form_fields, state, slug)
    texts = {each.name: fields.get(each.sent_as) for each in asked}
    stated = {name: text.strip() for name, text in texts.items() if isinstance(text, str) and text.strip()}
    cited = prereg if isinstance(prereg, Received) and prereg.filename else None
    sent = partial(
        fields_of,
        state.settings,
        prereg=cited,
        prereg_sha256=prereg_sha256 or None,
        entrant=entrant.strip() or None,
        metadata=json.dumps(stated),
    )
    named, is_dry = [file for file in files if file.filename], act == "check"
    try:
        answer = await take(request, state, caller, slug, named, sent, is_dry=is_dry)
        if not is_dry:
            return RedirectResponse(answer["url"], 303)
        number: str | None = await run_in_threadpool(_keep, state, slug, caller, answer)
    except PlumblineError:
        number = getattr(request.state, "try_number", None)
        if number is None:
            raise
    return RedirectResponse(f"/tries/{number}", 303)


def _form_fields(state: State, slug: str) -> list[FormField]:
    with state.sessions() as session:
        return form_fields(benchmarks.find_declared(session, slug).manifest.entrant_fields)


def _keep(state: State, slug: str, caller: Caller, answered: dict[str, object]) -> str:
    def keep(session: Session) -> str:
        audit.record(session, caller.act, 303)
        return keep_try(session, benchmark_rows.find_benchmark(session, slug).id, caller.id, 200, answered, is_dry=True)

    return state.transact(keep)


# /tries/{try} and /account/submissions: what somebody sent, also what was refused, to be read again.
#
# A try is shown to who sent it and to the stewards of its benchmark.

tries_router = APIRouter(route_class=CheckedFirst, tags=["submissions"], include_in_schema=False)


@tries_router.get("/tries/{number}", summary="A try", responses=described(401, 404, also=("html",)))
def show_try(number: str, session: SessionDep, caller: Annotated[Caller, may("see a try")]) -> Response:
    """Show what a dry run or a refused upload was answered with (.json)."""
    stem, dot, ending = number.rpartition(".")
    attempt, slug = find_try(session, stem if dot and ending == "json" else number)
    benchmark = session.get(Benchmark, attempt.benchmark_id)
    if not roles.allows(session, "see a try", caller, benchmark, attempt.token_id):
        raise NotFound(RIGHTS["see a try"].refusal)
    if dot and ending == "json":
        return json_answer(attempt.document)
    return page("try.html", title=_title(attempt.is_dry, attempt.status), slug=slug, attempt=attempt,
                 document=attempt.document)  # fmt: skip


def _title(is_dry: bool, status: int) -> str:
    if status < 300:
        return "Checked"
    return "Checked and refused" if is_dry else "Refused"


@tries_router.get("/account/submissions", summary="Your submissions", responses=described(401, also=("html",)))
def show_own(session: SessionDep, caller: Annotated[Caller, may("see one's own account")]) -> Response:
    """Show the submissions and the tries of whoever is signed in."""
    return page("own.html", title="Your submissions", tries=own_tries(session, caller.id),
                 submissions=own_submissions(session, caller.id, None))  # fmt: skip


# /whoami/submissions: what the holder of the token has sent.

mine_router = APIRouter(route_class=CheckedFirst, tags=["tokens"])


@mine_router.get(
    "/whoami/submissions",
    summary="Submissions of this token",
    responses=described(401, answer=list[OwnSubmissionDocument]),
)
def list_mine(
    session: SessionDep,
    caller: Annotated[Caller, may("see one's own account")],
    benchmark: Annotated[str | None, Query(description="the slug of one benchmark", max_length=63)] = None,
) -> Response:
    """List the newest 200 submissions of this token, with their status and entrants."""
    submissions = own_submissions(session, caller.id, benchmark)
    listed = [{**vars(each), "received_at": each.received_at.isoformat(), "url": f"/submissions/{each.id}"}
              for each in submissions]  # fmt: skip
    return json_answer(listed)
