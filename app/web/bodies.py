"""Reading a request's body within a limit, and who may send one here."""

import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from fastapi import Depends, UploadFile
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from app.errors import Conflict, Forbidden, TooLarge, UnsupportedMediaType
from app.files.uploads import Upload
from app.names import clip_for_message
from app.store import benchmarks, roles
from app.store.benchmarks import Declared
from app.store.visibility import DRAFT
from app.web.caller import Caller
from app.web.state import State, StateDep, Submitter

YAML_TYPES = (
    "application/yaml",
    "application/x-yaml",
    "text/yaml",
    "text/x-yaml",
    "text/plain",
    "application/octet-stream",
)

# The media type that curl sends by default.
UNSAID = ("", "application/x-www-form-urlencoded")

YAML_REQUEST = {
    "requestBody": {"required": True, "content": {YAML_TYPES[0]: {"schema": {"type": "string"}}}},
}

# Text fields are kept in memory, each up to 1 MiB; files go to disk and have their own limits.
MAX_FIELDS = 16


async def gone(request: Request) -> None:
    """Return when the client has gone; its body must have been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


@contextmanager
def received_files() -> Iterator[Path]:
    """Yield a folder for the files of one request."""
    with tempfile.TemporaryDirectory(prefix="received-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


async def yaml_body(request: Request, max_bytes: int, what: str) -> bytes:
    """Return the body. Raises UnsupportedMediaType, or TooLarge as soon as the limit is passed."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in YAML_TYPES + UNSAID:
        raise UnsupportedMediaType(f"A {what} must be sent as application/yaml, not as {kind[:80]}.")
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > max_bytes:
            raise TooLarge(f"A {what} may have at most {max_bytes} bytes.")
    return bytes(body)


def spool(files: Sequence[UploadFile], folder: Path) -> list[Upload]:
    """Copy uploaded files into a folder under names of our own."""
    uploads = []
    for position, file in enumerate(files):
        path = folder / str(position)
        with path.open("wb") as copy:
            shutil.copyfileobj(file.file, copy, 1 << 20)
        uploads.append(Upload(file.filename or "", path))
    return uploads


# Who may submit to a benchmark: whom its manifest lets, within the scopes of their token.

MOST_NAMED = 10


async def get_submitter_here(slug: str, request: Request, caller: Submitter, state: StateDep) -> Caller:
    """Return the caller if it may submit to the benchmark of the address. Raises Forbidden and NotFound.

    Asked before the body is read and again for the endpoint, as `get_caller` is, and looked up once.
    """
    if not hasattr(request.state, "submits_here"):
        await run_in_threadpool(_refuse_here, slug, caller, state)
        request.state.submits_here = True
    return caller


def _refuse_here(slug: str, caller: Caller, state: State) -> None:
    with state.sessions() as session:
        refuse_uninvited(session, benchmarks.find_declared(session, slug), caller)


SubmitterHere = Annotated[Caller, Depends(get_submitter_here)]


def refuse_uninvited(session: Session, declared: Declared, caller: Caller) -> None:
    """Refuse who may not submit or register here: a token without the scope, a reviewer, the uninvited.

    Raises Forbidden.
    """
    refuse_other_scopes(caller)
    slug, number = declared.benchmark.slug, declared.benchmark.id
    if declared.benchmark.visibility == DRAFT:
        raise Conflict(f"{slug} is a draft, which accepts no submissions; its stewards must publish it first.")
    held = {"steward"} if caller.role == "admin" else roles.roles_in(session, number, caller.id)
    if held & {"steward", "submitter"}:
        return
    if "reviewer" in held:
        raise Forbidden(
            f"You are a reviewer of {slug}, and reviewers cannot submit; a steward can make you a submitter."
        )
    if declared.manifest.admission.submissions == "invited":
        why = f"{slug} accepts submissions from invited submitters only"
        raise Forbidden(f"{why}; ask {_stewards(session, number)}.", recorded=f"{why}.")


def refuse_other_scopes(caller: Caller) -> None:
    """Refuse a token that is not for submitting. Raises Forbidden."""
    if not caller.has_scope("submit"):
        raise Forbidden(f"This token is only for {', '.join(sorted(caller.scopes or ()))}, not for submitting.")


def refuse_other_entrants(caller: Caller, names: Iterable[str]) -> None:
    """Refuse entrants that the token is not for. Raises Forbidden."""
    others = sorted(set(names) - caller.entrants) if caller.entrants is not None else []
    if others:
        shown = ", ".join(clip_for_message(name) for name in others[:MOST_NAMED])
        raise Forbidden(f"This token is only for {', '.join(sorted(caller.entrants or ()))}, not for {shown}.")


def _stewards(session: Session, benchmark_id: int) -> str:
    names = [steward.name for steward in roles.list_stewards(session, benchmark_id)]
    return f"its stewards ({', '.join(names)})" if names else "an admin"
