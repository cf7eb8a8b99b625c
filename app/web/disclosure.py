"""What binds the steward of private labels, closing a benchmark, and what each owner learned."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Path, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from app.db.engine import LONG_REQUESTS, allow
from app.db.models import OwnerLink
from app.errors import NotFound
from app.store import audit, benchmark_rows, benchmarks, disclosure, labels, owners, tokens
from app.store.audit import Change
from app.store.benchmarks import Declared
from app.store.disclosed import disclosed_table
from app.store.disclosure import Closing, Commitment
from app.values.table import Cell, Column, Table
from app.web.answers import json_answer, split_format, table_answer
from app.web.caller import Caller
from app.web.checked_first import CheckedFirst
from app.web.documents.disclosure import OwnerLinkDocument
from app.web.documents.tables import TableDocument
from app.web.endpoint_answers import described, table_routes
from app.web.fields import Body, Line, Reason
from app.web.put_tables import PRIVATE
from app.web.state import SessionDep, State, StateDep, StewardHere
from app.web.tokens import TokenNumber
from app.web.views import around, view_of

router = APIRouter(route_class=CheckedFirst, tags=["labels"])

ABOUT = (Column("what", "What", "text"), Column("value", "Value", "text", glossary="label_commitment"))


@table_routes(router, "/benchmarks/{slug}/commitment", "The commitment to private labels", 404, answer=TableDocument)
def show_commitment(slug: str, request: Request, session: SessionDep) -> Response:
    """Show the commitment published when the labels were uploaded; after the close also its parts (.csv, .json)."""
    declared = benchmarks.find_declared(session, slug)
    return _shown(request, session, declared, _commitment_table(_find(session, declared)))


def _find(session: Session, declared: Declared) -> Commitment:
    commitment = disclosure.find_commitment(session, declared.benchmark.id)
    if commitment is None:
        raise NotFound(f"{declared.manifest.slug} has no private labels, so there is no commitment to them.")
    return commitment


def _commitment_table(published: Commitment) -> Table:
    notes = ["The SHA-256 of four lines, each ending in a line feed; after the close they are shown below."]
    rows: list[tuple[Cell, ...]] = [
        ("commitment", published.commitment),
        ("committed at", _time(published.committed_at)),
    ]
    if published.close is not None:
        rows += [("closed at", _time(published.close.at)), ("closed by", published.closed_by or "its time"),
                 ("reason", published.close.reason)]  # fmt: skip
    if published.opening is not None:
        rows += [(f"line {at}", line) for at, line in enumerate(published.opening.text().splitlines(), 1)]
    if published.close is not None and not published.close.labels_match:
        notes.append("At the close the stored labels did NOT match the commitment.")
    return Table("commitment", "Commitment to the labels", ABOUT, tuple(rows), tuple(notes))


def _time(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _shown(
    request: Request, session: Session, declared: Declared, table: Table, links: Sequence[tuple[str, str]] = ()
) -> Response:
    address, fmt = split_format(request.url.path)
    view = around(view_of(session, declared, table, None), address, links, {})
    answer = table_answer(request, view, fmt)
    answer.headers.update(PRIVATE)
    return answer


class Close(Body):
    """Why a benchmark closes; shown for ever."""

    reason: Reason


@router.post(
    "/benchmarks/{slug}/close",
    summary="Close the benchmark: score the private part",
    responses=described(403, 404, 409, answer=TableDocument),
)
def close(slug: str, order: Close, state: StateDep, caller: StewardHere) -> Response:
    """Close a benchmark of private labels for ever (its steward): no more is scored, and the private part decides."""
    return state.transact(lambda session: _close(session, state, slug, order, caller))


def _close(session: Session, state: State, slug: str, order: Close, caller: Caller) -> Response:
    allow(session, LONG_REQUESTS)
    declared = benchmarks.find_declared(session, slug)
    disclosure.close(session, Closing(declared, labels.stored_labels(session, declared), caller.id, order.reason))
    audit.record(session, caller.act, 200, Change(after={"closed": True}, reason=order.reason))
    state.jobs.defer_refresh(session, declared.benchmark.id)
    table = _commitment_table(_find(session, declared))
    return json_answer({"benchmark": slug, "snapshot": None, **_document(table)}, headers=PRIVATE)


def _document(table: Table) -> dict[str, object]:
    return {**table.to_json(), "rows": list(table.records())}


DISCLOSED = "/benchmarks/{slug}/disclosed"


@table_routes(router, DISCLOSED, "What was disclosed of the labels (stewards)", 403, 404, answer=TableDocument)
def show_disclosed(slug: str, request: Request, session: SessionDep, caller: StewardHere) -> Response:
    """Show how much each owner asked of private labels and learned: answers, numbers, and bits at most."""
    del caller  # the dependency has refused everyone else
    declared = benchmarks.find_declared(session, slug)
    if disclosure.scoring_of(declared.manifest) is None:
        raise NotFound(f"{slug} has no private labels, so nothing is disclosed of them.")
    closed = disclosure.find_close(session, declared.benchmark.id)
    links = [] if closed is None else [("Exact scores", f"/benchmarks/{slug}/exact")]
    return _shown(request, session, declared, disclosed_table(session, declared), links)


class Link(Body):
    """The token (number or name) as whose a token's submissions are counted, and why."""

    counted_as: TokenNumber | Line
    reason: Reason


@router.put(
    "/benchmarks/{slug}/owners/{token}",
    summary="Link a token to an owner",
    responses=described(403, 404, 409, answer=OwnerLinkDocument),
)
def link_owner(
    slug: str,
    token: Annotated[str, Path(description="the number or the name of a token", max_length=100)],
    order: Link,
    session: SessionDep,
    caller: StewardHere,
) -> Response:
    """Count two tokens as one owner, with one quota and one best (a steward); naming the token itself undoes it."""
    benchmark = benchmark_rows.find_benchmark(session, slug)
    one, owner = tokens.find_named(session, token), tokens.find_named(session, str(order.counted_as))
    owner_link = OwnerLink(
        benchmark_id=benchmark.id, token_id=one.id, owner_id=owner.id, by_id=caller.id, reason=order.reason
    )
    owners.link(session, owner_link)
    after = {"token": one.id, "counted_as": owner.id}
    audit.record(session, caller.act, 200, Change(after=after, reason=order.reason))
    return json_answer({"benchmark": slug, **after}, headers=PRIVATE)
