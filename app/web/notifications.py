"""/notifications: whom to tell when a submission of one's own is published, not admitted or superseded."""

import re
from ipaddress import ip_network
from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import Field
from sqlalchemy.orm import Session
from starlette.responses import Response

from app.db.models import Benchmark, Notification
from app.errors import Conflict, FieldRejected, Problem
from app.jobs.notifying import complain_about, shown_secret
from app.rights import visibility
from app.rights.policy import refuse_elsewhere
from app.store import audit, benchmark_rows, notifications
from app.store.audit import Change
from app.store.notifications import MAIL
from app.web.caller import Caller, may
from app.web.checked_first import CheckedFirst
from app.web.description import described
from app.web.documents import MadeNotificationDocument, NotificationDocument
from app.web.requests import Body, Line, Number
from app.web.state import SessionDep, StateDep
from app.web.views import json_answer

router = APIRouter(route_class=CheckedFirst, tags=["notifications"])
MAILBOX = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+")
Event = Literal["published", "not_admitted", "superseded"]
EVERY_EVENT: tuple[Event, ...] = ("published", "not_admitted", "superseded")


class NewNotification(Body):
    """Which address is notified of what; without a benchmark: of every submission of this token."""

    address: Annotated[Line, Field(max_length=500, description="An HTTPS address, or mailto: and an e-mail address")]
    benchmark: Annotated[Line, Field(max_length=63)] | None = None
    events: Annotated[list[Event], Field(min_length=1, max_length=3)] = Field(default_factory=lambda: list(EVERY_EVENT))


class Confirmation(Body):
    """The code that was sent to an e-mail address."""

    code: Annotated[Line, Field(max_length=100)]


@router.post(
    "/notifications",
    status_code=201,
    summary="Subscribe an address to your submissions",
    responses=described(403, 404, 409, answer=MadeNotificationDocument, status=201),
)
def add(
    order: NewNotification,
    session: SessionDep,
    state: StateDep,
    caller: Annotated[Caller, may("subscribe to one's own submissions")],
) -> Response:
    """Subscribe an address. Only this answer contains the secret with which its notifications are signed."""
    _check(order.address, state.settings.webhook_networks, sends_mail=state.settings.smtp_url is not None)
    if order.benchmark is not None:
        refuse_elsewhere(caller, order.benchmark)
    benchmark = None if order.benchmark is None else benchmark_rows.find_benchmark(session, order.benchmark)
    notification = notifications.add(
        session, caller.id, order.address, order.events, None if benchmark is None else benchmark.id
    )
    audit.record(session, caller.act, 201, Change(after={"notification": notification.id}, benchmark=order.benchmark))
    secret = None if notification.address.startswith(MAIL) else shown_secret(notification.secret)
    return json_answer({**_shown(session, notification, None), "secret": secret}, 201)


def _check(address: str, networks: tuple[str, ...], *, sends_mail: bool) -> None:
    if address.startswith(MAIL):
        if not sends_mail:
            raise Conflict("This server sends no mail; give an https:// address instead.")
        wrong = None if MAILBOX.fullmatch(address.removeprefix(MAIL)) else "not an e-mail address"
    else:
        wrong = complain_about(address, [ip_network(network) for network in networks])
    if wrong is not None:
        raise FieldRejected("This address cannot be notified.", [Problem(wrong, column="address", value=address[:200])])


@router.get("/notifications", summary="Your notifications", responses=described(403, answer=list[NotificationDocument]))
def list_mine(session: SessionDep, caller: Annotated[Caller, may("see one's own account")]) -> Response:
    """List the addresses notified of this token's submissions, each with its latest error."""
    own = notifications.list_own(session, caller.id)
    errors = notifications.last_errors(session, [each.id for each in own])
    return json_answer([_shown(session, each, errors.get(each.id)) for each in own])


@router.post(
    "/notifications/{number}/confirm",
    summary="Confirm an e-mail address",
    responses=described(403, 404, answer=NotificationDocument),
)
def confirm(
    number: Number,
    order: Confirmation,
    session: SessionDep,
    caller: Annotated[Caller, may("confirm or end a subscription")],
) -> Response:
    """Confirm an e-mail address with the code that was sent to it; notifications begin."""
    notification = notifications.find_own(session, number, caller.id)
    notifications.confirm(session, notification, order.code)
    audit.record(session, caller.act, 200, Change(after={"notification": number, "confirmed": True}))
    session.refresh(notification)
    return json_answer(_shown(session, notification, None))


@router.delete(
    "/notifications/{number}", summary="Unsubscribe an address", status_code=204, responses=described(403, 404)
)
def remove(
    number: Number, session: SessionDep, caller: Annotated[Caller, may("confirm or end a subscription")]
) -> Response:
    """Unsubscribe an address; notifications that are due are not sent either."""
    notifications.end(session, notifications.find_own(session, number, caller.id), "removed")
    audit.record(session, caller.act, 204, Change(before={"notification": number}))
    return Response(status_code=204)


def _shown(session: Session, each: Notification, error: str | None) -> dict[str, object]:
    # Its holder named it once, whatever they may read now.
    with visibility.reading_all():
        benchmark = None if each.benchmark_id is None else session.get_one(Benchmark, each.benchmark_id).slug
    return {
        "id": each.id,
        "address": each.address,
        "benchmark": benchmark,
        "events": list(each.events),
        "made_at": each.made_at.isoformat(),
        "confirmed": each.confirmed_at is not None,
        "last_error": error,
    }
