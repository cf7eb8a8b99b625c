"""Delivers notifications of submissions to those who asked for them: a signed request to the web, or mail.

Run by the queue every few seconds, separately from the sweep, so that a slow address delays nobody's boards.
"""

import json
import logging
import smtplib
import ssl
import time
from dataclasses import dataclass
from email.message import EmailMessage
from typing import Any
from urllib.parse import unquote, urlsplit

from app.db.engine import SessionFactory
from app.jobs.outgoing import Network, NotDelivered, post, signed
from app.store import notifications
from app.store.notifications import CONFIRM, MAIL, Due

logger = logging.getLogger(__name__)

MOST_AT_ONCE = 50
# A worker sends few at a time: the rest follows a few seconds later.
LONGEST_S = 20.0
SMTP_TIMEOUT_S = 20
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
    until = time.monotonic() + LONGEST_S
    for n_tried in range(MOST_AT_ONCE):
        if time.monotonic() > until:
            return n_tried
        with sessions.begin() as session:
            due = notifications.take_due(session)
        if due is None:
            return n_tried
        _tell(sessions, due, outgoing)
    return MOST_AT_ONCE


def _tell(sessions: SessionFactory, due: Due, outgoing: Outgoing) -> None:
    try:
        if due.address.startswith(MAIL):
            _mail(due, outgoing)
        else:
            _call(due, outgoing)
    except NotDelivered as error:
        logger.info("delivery %s failed: %s", due.id, error)
        with sessions.begin() as session:
            notifications.note_failure(session, due.id, str(error))
    else:
        with sessions.begin() as session:
            notifications.note_delivered(session, due.id)


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


def _call(due: Due, outgoing: Outgoing) -> None:
    body = json.dumps(payload_of(due, outgoing), ensure_ascii=False, separators=(",", ":")).encode()
    post(due.address, body, signed(due.id, int(time.time()), body, due.secret), outgoing.networks)


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


def _mail(due: Due, outgoing: Outgoing) -> None:
    if outgoing.smtp_url is None or outgoing.mail_from is None:
        raise NotDelivered("this server sends no mail: PLUMBLINE_SMTP_URL and PLUMBLINE_MAIL_FROM are not set")
    server = urlsplit(outgoing.smtp_url)
    try:
        with _connected(server.scheme, server.hostname or "", server.port) as connection:
            if server.username:
                connection.login(unquote(server.username), unquote(server.password or ""))
            connection.send_message(message_of(due, outgoing))
    except (smtplib.SMTPException, OSError) as error:
        # The error may be shown, so it must contain neither the name nor the password of the mail server.
        raise NotDelivered(f"the mail server refused: {type(error).__name__}") from None


def _connected(scheme: str, host: str, port: int | None) -> smtplib.SMTP:
    """Return a connection to the mail server: `smtps` encrypted, `smtp` after STARTTLS, `smtp+plain` not at all."""
    context = ssl.create_default_context()
    if scheme == "smtps":
        return smtplib.SMTP_SSL(host, port or 465, timeout=SMTP_TIMEOUT_S, context=context)
    connection = smtplib.SMTP(host, port or 587, timeout=SMTP_TIMEOUT_S)
    if scheme == "smtp":
        connection.starttls(context=context)
    return connection
