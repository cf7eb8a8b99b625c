"""/benchmarks/{slug}/entrants: what entrants are said to be, of all of them as a table, and how it is written.

Of many at once by a file, of one as JSON or as the fields of a form, and of one by its model card. All or nothing;
by the owner of an entrant, or a steward.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, File, Query, Request, UploadFile
from sqlalchemy.orm import Session
from starlette.datastructures import UploadFile as Received
from starlette.responses import RedirectResponse, Response

from app.boards.entrant_fields import Values, read_values, with_fields
from app.errors import FieldRejected, Forbidden, Problem, TooLarge
from app.files.tables import BadRecord, object_of
from app.files.uploads import ReceivedFile, promised_suffix
from app.manifest.model import EntrantField
from app.names import clip_for_message, count, first_few
from app.receiving.entrant_fields import MOST_BYTES, SUFFIXES, read_card, read_file
from app.render.text import name_in_path, path_of_name
from app.rights import policy, roles
from app.rights.policy import refuse_other_entrants
from app.store import audit, benchmarks, entrant_fields, entrants, snapshots
from app.store.audit import Change
from app.store.benchmarks import Declared
from app.values.table import Cell, Column, Table
from app.web.caller import PUBLIC, Caller, may, signed_in
from app.web.checked_first import CheckedFirst
from app.web.cookies import form_key_of
from app.web.description import described, table_routes
from app.web.documents import CardDocument, EntrantFieldsDocument, TableDocument
from app.web.forms import FIELDS, FILES
from app.web.kept_forms import UNSENT, KeptForm, keeping
from app.web.requests import copy_files, received_files
from app.web.state import SessionDep, StateDep, get_state
from app.web.views import (
    NO_STORE,
    FieldsTo,
    SnapshotNumber,
    around,
    json_answer,
    name_links,
    page,
    split_format,
    table_answer,
    view_of,
)

ACTION = "say what an entrant is"

router = APIRouter(route_class=CheckedFirst, tags=["entrants"], max_body_size=MOST_BYTES + (1 << 16))


MOST_NAMED = 20


@table_routes(router, "/benchmarks/{slug}/entrants", "The entrants", 404, answer=TableDocument, dependencies=PUBLIC)
def list_entrants(
    slug: str,
    request: Request,
    session: SessionDep,
    snapshot: SnapshotNumber = None,
    fields_to: FieldsTo = None,
) -> Response:
    """List the entrants of the boards with what they are said to be (.csv, .json): a CSV to fill in and send back."""
    declared = benchmarks.find_declared(session, slug)
    shown = snapshots.find_snapshot(session, declared.benchmark, snapshot)
    version = None if shown is None or snapshot is None else shown.manifest_version_id
    fields = benchmarks.load_declared(session, declared.benchmark, version).manifest.entrant_fields
    as_of = entrant_fields.as_of(session, declared.benchmark, shown if snapshot is not None else None, fields_to)
    values = entrant_fields.values_of(session, declared.benchmark, fields, shown, as_of)
    named = sorted({} if shown is None else snapshots.load_standings(session, shown.id))
    about = "What describes them is stated by their owners or a steward, and counts in no score."
    about = about if fields else "The manifest declares no fields that describe them (entrant_fields)."
    note = f"{count(len(named), 'entrant')}. {about}"
    table = Table("entrants", "Entrants", (Column("entrant", "Entrant", "text"),), tuple((name,) for name in named),
                  (note,))  # fmt: skip
    table = with_fields(table, [field.model_copy(update={"shown": True}) for field in fields], values)
    links = [("Describe them", f"/edit/{slug}")] if fields else []
    view = around(view_of(session, declared, table, shown), f"/benchmarks/{slug}/entrants", links, name_links(declared))
    return table_answer(request, view, split_format(request.url.path)[1])


# Written: by a file of many, as the values of one, or by a model card.

Seen = Annotated[
    int | None,
    Query(
        ge=0, le=2**53, description="the last change that was read: what somebody changed since is refused, not lost"
    ),
]


def _show_own_again(request: Request, caller: Caller, kept: KeptForm) -> Response:
    """Return the form that takes a file, with why that was refused."""
    with get_state(request).sessions() as session:
        return _own(request, session, caller, kept)


file_router = APIRouter(route_class=keeping(_show_own_again), tags=["entrants"], max_body_size=MOST_BYTES + (1 << 16))


@file_router.post(
    "/benchmarks/{slug}/entrants",
    summary="Describe many entrants, by a file",
    responses=described(403, 404, 409, answer=EntrantFieldsDocument),
)
def put_file(
    slug: str,
    file: Annotated[UploadFile, File(description="CSV or JSON: a column `entrant`, and one for each field")],
    session: SessionDep,
    caller: Annotated[Caller, may(ACTION)],
    seen: Seen = None,
) -> Response:
    """Store the fields of every entrant of a CSV or JSON file, or nothing; an empty cell of a CSV changes nothing."""
    declared = _declared(session, slug)
    with received_files() as folder:
        received = _received(file, folder)
        known = entrants.names(session, declared.benchmark.id)
        values = read_file(received, declared.manifest.entrant_fields, known)
    return _write(session, declared, caller, values, "file", seen)


def _received(file: UploadFile, folder: Path) -> ReceivedFile:
    suffix = promised_suffix(file.filename or "", SUFFIXES)
    if suffix is None or (file.filename or "").endswith(".gz"):
        problem = Problem(f"expected a file that ends in {', '.join(SUFFIXES)}", column="file",
                          value=clip_for_message(file.filename or ""))  # fmt: skip
        raise FieldRejected("The file cannot be read.", [problem])
    sent = copy_files([file], folder)[0]
    if sent.path.stat().st_size > MOST_BYTES:
        raise TooLarge(f"A file of fields may have at most {MOST_BYTES >> 20} MiB.")
    return ReceivedFile(sent.name, sent.path, suffix, 0)


def _show_again(request: Request, caller: Caller, kept: KeptForm) -> Response:
    """Return the form of an entrant with what was typed in it, why that was refused, and what holds now."""
    with get_state(request).sessions() as session:
        return _form(request, session, caller, kept)


one_router = APIRouter(route_class=keeping(_show_again), tags=["entrants"], max_body_size=MOST_BYTES + (1 << 16))


async def read_sent(request: Request) -> Mapping[str, Any]:
    """Return the fields of one entrant: a JSON object, or the fields of a form, where empty means taken back."""
    if request.headers.get("content-type", "").startswith(FIELDS):
        form = await request.form()
        return {name: text or None for name, text in form.items() if not isinstance(text, Received)}
    given = object_of((await request.body()).decode("utf-8", "replace"))
    if isinstance(given, BadRecord):
        raise FieldRejected("The fields cannot be read.", [Problem(given.message, row=given.row, value=given.value)])
    return given


FIELDS_OF_ONE = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"type": "object", "additionalProperties": True}}},
    }
}


@one_router.put(
    "/benchmarks/{slug}/entrants/{entrant:path}/fields",
    summary="Describe an entrant",
    responses=described(403, 404, 409, answer=EntrantFieldsDocument),
    openapi_extra=FIELDS_OF_ONE,
)
def put_values(
    slug: str,
    entrant: str,
    session: SessionDep,
    caller: Annotated[Caller, may(ACTION)],
    given: Annotated[Mapping[str, Any], Depends(read_sent)],
    seen: Seen = None,
) -> Response:
    """Store the given fields of one entrant, and leave the others; null takes a value back."""
    declared, name = _declared(session, slug), name_in_path(entrant)
    entrants.find_entrant(session, declared.benchmark.id, name)
    problems: list[Problem] = []
    values = read_values(declared.manifest.entrant_fields, given, problems, Problem(""))
    if problems:
        raise FieldRejected("The fields cannot be taken; nothing was stored.", problems)
    return _write(session, declared, caller, {name: values}, "value", seen)


async def read_body(request: Request) -> bytes:
    """Return the body as it is, or the file that a form sends."""
    if not request.headers.get("content-type", "").startswith(FILES):
        return await request.body()
    async with request.form() as form:
        sent = form.get("file")
        return await sent.read() if isinstance(sent, Received) else b""


CARD = {"requestBody": {"required": True, "content": {"text/markdown": {"schema": {"type": "string"}}}}}


@one_router.put(
    "/benchmarks/{slug}/entrants/{entrant:path}/card",
    summary="Describe an entrant, by its model card",
    responses=described(403, 404, 409, answer=CardDocument),
    openapi_extra=CARD,
)
def put_card(
    slug: str,
    entrant: str,
    session: SessionDep,
    caller: Annotated[Caller, may(ACTION)],
    card: Annotated[bytes, Depends(read_body)],
    seen: Seen = None,
) -> Response:
    """Store the fields that the front matter of a model card states; scores in it are passed over."""
    declared, name = _declared(session, slug), name_in_path(entrant)
    entrants.find_entrant(session, declared.benchmark.id, name)
    values, passed_over = read_card(card, declared.manifest.entrant_fields)
    return _write(session, declared, caller, {name: values}, "card", seen, {"passed_over": passed_over})


def _declared(session: Session, slug: str) -> Declared:
    declared = benchmarks.find_declared(session, slug)
    if not declared.manifest.entrant_fields:
        problem = Problem(
            "no field is declared; a steward adds entrant_fields to the manifest", column="entrant_fields"
        )
        raise FieldRejected(f"{slug} does not say what its entrants are.", [problem])
    return declared


def _write(
    session: Session, declared: Declared, caller: Caller, values: Values, source: str, seen: int | None,
    more: Mapping[str, Any] | None = None,
) -> Response:  # fmt: skip
    """Store the values of entrants that are the caller's to change, and answer which are new."""
    benchmark = declared.benchmark
    _refuse_foreign(session, declared, caller, list(values))
    new, before = entrant_fields.write(session, benchmark, values, source, caller.id, seen)
    few = list(new)[:MOST_NAMED]
    change = Change({name: {field: before.get(name, {}).get(field) for field in new[name]} for name in few},
                    {**{name: new[name] for name in few}, "n_entrants": len(new)})  # fmt: skip
    audit.record(session, caller.act, 200, change)
    answer = {"benchmark": benchmark.slug, "n_entrants": len(values), "n_changed": sum(map(len, new.values())),
              "changed": new, "last_change": entrant_fields.last_change(session, benchmark.id)}  # fmt: skip
    return json_answer({**answer, **(more or {})})


def _refuse_foreign(session: Session, declared: Declared, caller: Caller, names: Sequence[str]) -> None:
    """Refuse entrants that are neither the caller's nor of a benchmark that they steward. Raises Forbidden."""
    refuse_other_entrants(caller, names)
    if roles.allows(session, ACTION, caller, declared.benchmark):
        return
    owners = entrants.owners_of(session, declared.benchmark.id, names)
    foreign = sorted(name for name in names if owners.get(name) != caller.id)
    if foreign:
        why = policy.RIGHTS[ACTION].refusal.format(slug=declared.benchmark.slug)
        raise Forbidden(f"{why} Not yours: {first_few(foreign, MOST_NAMED)}.", recorded=why)
    roles.require(session, ACTION, caller, declared.benchmark, caller.id)


# /edit/{slug}: the forms, for whoever is signed in.

forms_router = APIRouter(route_class=CheckedFirst, include_in_schema=False)


@forms_router.get("/edit/{slug}", dependencies=PUBLIC)
def show_own(slug: str, request: Request, session: SessionDep, state: StateDep) -> Response:
    """Show the entrants that whoever is signed in may describe, and the form that takes a file of them."""
    if (caller := signed_in(request, state)) is None:
        return RedirectResponse(f"/login?next=/edit/{slug}", 303, NO_STORE)
    return _own(request, session, caller, UNSENT)


def _own(request: Request, session: Session, caller: Caller, kept: KeptForm) -> Response:
    slug = request.path_params["slug"]
    declared = benchmarks.find_declared(session, slug)
    decides = roles.allows(session, ACTION, caller, declared.benchmark)
    owners = entrants.owners_of(session, declared.benchmark.id, entrants.names(session, declared.benchmark.id))
    own = sorted(name for name, owner in owners.items() if decides or owner == caller.id)
    return page("entrant_form.html", title=f"What the entrants of {declared.manifest.title} are", slug=slug, own=own,
                 fields=declared.manifest.entrant_fields, form_key=form_key_of(request), entrant=None,
                 refusal=kept.refusal)  # fmt: skip


@forms_router.get("/edit/{slug}/{entrant:path}", dependencies=PUBLIC)
def show_form(slug: str, entrant: str, request: Request, session: SessionDep, state: StateDep) -> Response:
    """Show the form that changes what an entrant is, filled in with what it is."""
    if (caller := signed_in(request, state)) is None:
        return RedirectResponse(f"/login?next=/edit/{slug}/{path_of_name(name_in_path(entrant))}", 303, NO_STORE)
    return _form(request, session, caller, UNSENT)


def _form(request: Request, session: Session, caller: Caller, kept: KeptForm) -> Response:
    slug, name = request.path_params["slug"], name_in_path(request.path_params["entrant"])
    declared = benchmarks.find_declared(session, slug)
    row = entrants.find_entrant(session, declared.benchmark.id, name)
    roles.require(session, ACTION, caller, declared.benchmark, row.owner_id)
    refuse_other_entrants(caller, [name])
    fields = declared.manifest.entrant_fields
    stored = _written(fields, entrant_fields.stated(session, declared.benchmark.id).get(name, {}))
    typed = {field.name: kept.fields[field.name] for field in fields if field.name in kept.fields}
    return page("entrant_form.html", title=name, slug=slug, own=(), fields=fields, form_key=form_key_of(request),
                 entrant=name, values=stored | typed, now={key: stored.get(key, "") for key in typed},
                 refusal=kept.refusal, seen=entrant_fields.last_change(session, declared.benchmark.id))  # fmt: skip


def _written(fields: Sequence[EntrantField], stored: Mapping[str, Cell]) -> dict[str, str]:
    """Return values as a form has them: numbers as they are typed, flags as yes or no."""
    words = {True: "yes", False: "no"}
    return {
        field.name: words[value]
        if isinstance(value, bool)
        else f"{value:.15g}"
        if isinstance(value, float)
        else str(value)
        for field in fields
        if (value := stored.get(field.name)) is not None
    }
