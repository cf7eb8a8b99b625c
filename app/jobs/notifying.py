"""Delivers notifications of submissions to those who asked for them: a signed request to the web, or mail.

Run by the queue every few seconds, separately from the sweep, so that a slow address delays nobody's boards. Nor does
it delay what others are told: several are told at once, each token one thing at a time, and each has one deadline.
"""

import asyncio
import json
import logging
import smtplib
import ssl
import time
from collections.abc import Collection
from dataclasses import dataclass
from email.message import EmailMessage
from typing import Any
from urllib.parse import unquote, urlsplit

from app.db.engine import SessionFactory
from app.jobs.outgoing import DEADLINE_S, WAITING, Network, NotDelivered, post, signed
from app.store import notifications
from app.store.notifications import CONFIRM, MAIL, Due

logger = logging.getLogger(__name__)

PLACES = 16
LOOKS_EVERY_S = 0.5
WORDS = {"published": "is on the boards", "not_admitted": "was not admitted", "superseded": "is superseded"}


@dataclass(frozen=True)
class Outgoing:
    """How this server reaches others: its public address, its mail server, and the private networks it may contact."""

    base_url: str = ""
    smtp_url: str | None = None
    mail_from: str | None = None
    networks: tuple[Network, ...] = ()


NOWHERE = Outgoing()


def notify_due(sessions: SessionFactory, outgoing: Outgoing = NOWHERE) -> int:
    """Send the due notifications and return how many were attempted; failures are retried with growing delays."""
    return asyncio.run(deliver_due(sessions, outgoing))


async def deliver_due(sessions: SessionFactory, outgoing: Outgoing = NOWHERE) -> int:
    """Send what is due, and what becomes due meanwhile, until nothing is in hand; return how many were attempted."""
    n_tried, in_hand = 0, dict[asyncio.Task[None], int]()
    async with asyncio.TaskGroup() as group:
        while True:
            while len(in_hand) < PLACES and (due := await asyncio.to_thread(_take, sessions, in_hand.values())):
                n_tried += 1
                in_hand[group.create_task(_tell(sessions, due, outgoing))] = due.token_id
            if not in_hand:
                return n_tried
            ended, _ = await asyncio.wait(in_hand, timeout=LOOKS_EVERY_S, return_when=asyncio.FIRST_COMPLETED)
            for task in ended:
                del in_hand[task]


def _take(sessions: SessionFactory, busy: Collection[int]) -> Due | None:
    with sessions.begin() as session:
        return notifications.take_due(session, busy)


async def _tell(sessions: SessionFactory, due: Due, outgoing: Outgoing) -> None:
    try:
        if due.address.startswith(MAIL):
            await _mail(due, outgoing)
        else:
            await _call(due, outgoing)
    except NotDelivered as error:
        logger.info("delivery %s failed: %s", due.id, error)
        failure: str | None = str(error)
    except Exception:
        # What is wrong here must not keep what others are told from being sent.
        logger.exception("delivery %s failed by a fault of this server", due.id)
        failure = "This server could not send it; its log says why."
    else:
        failure = None
    await asyncio.to_thread(_note, sessions, due, failure)


def _note(sessions: SessionFactory, due: Due, failure: str | None) -> None:
    with sessions.begin() as session:
        if failure is None:
            notifications.note_delivered(session, due.id)
        else:
            notifications.note_failure(session, due.id, failure)


def payload_of(due: Due, outgoing: Outgoing) -> dict[str, Any]:
    """Return the body of the request, ready for JSON."""
    return {
        "event": due.event,
        "at": due.at.isoformat(),
        "benchmark": due.benchmark,
        "submission": due.submission,
        "url": _address(due, outgoing),
        "reason": due.reason,
    }


def _address(due: Due, outgoing: Outgoing) -> str:
    return f"{outgoing.base_url.rstrip('/')}/submissions/{due.submission}"


async def _call(due: Due, outgoing: Outgoing) -> None:
    body = json.dumps(payload_of(due, outgoing), ensure_ascii=False, separators=(",", ":")).encode()
    await post(due.address, body, signed(due.id, int(time.time()), body, due.secret), outgoing.networks)


def message_of(due: Due, outgoing: Outgoing) -> EmailMessage:
    """Return the mail about a submission, or one that asks to confirm an address."""
    message = EmailMessage()
    message["From"], message["To"] = outgoing.mail_from or "", due.address.removeprefix(MAIL)
    if due.event == CONFIRM:
        message["Subject"] = "plumbline: confirm this address"
        code = notifications.code_of(due.secret)
        text = f"{due.reason}\nIf it was you, confirm it with this code: {code}\nOtherwise do nothing: no mail follows."
    else:
        message["Subject"] = f"plumbline: submission {due.submission} to {due.benchmark} {WORDS[due.event]}"
        text = f"Submission {due.submission} to {due.benchmark} {WORDS[due.event]}.\n{due.reason}\n"
        text += _address(due, outgoing)
    message.set_content(text + "\n")
    return message


async def _mail(due: Due, outgoing: Outgoing) -> None:
    if outgoing.smtp_url is None or outgoing.mail_from is None:
        raise NotDelivered("this server sends no mail: PLUMBLINE_SMTP_URL and PLUMBLINE_MAIL_FROM are not set")
    sending = asyncio.get_running_loop().run_in_executor(WAITING, _send, message_of(due, outgoing), outgoing.smtp_url)
    try:
        await asyncio.wait_for(sending, DEADLINE_S)
    except TimeoutError:
        raise NotDelivered(f"the mail server did not take it within {DEADLINE_S:g} s") from None


def _send(message: EmailMessage, smtp_url: str) -> None:
    server = urlsplit(smtp_url)
    try:
        with _connected(server.scheme, server.hostname or "", server.port) as connection:
            if server.username:
                connection.login(unquote(server.username), unquote(server.password or ""))
            connection.send_message(message)
    except (smtplib.SMTPException, OSError) as error:
        # The error may be shown, so it must contain neither the name nor the password of the mail server.
        raise NotDelivered(f"the mail server refused: {type(error).__name__}") from None


def _connected(scheme: str, host: str, port: int | None) -> smtplib.SMTP:
    """Return a connection to the mail server: `smtps` encrypted, `smtp` after STARTTLS, `smtp+plain` not at all."""
    context = ssl.create_default_context()
    if scheme == "smtps":
        return smtplib.SMTP_SSL(host, port or 465, timeout=DEADLINE_S, context=context)
    connection = smtplib.SMTP(host, port or 587, timeout=DEADLINE_S)
    if scheme == "smtp":
        connection.starttls(context=context)
    return connection
