"""Delivers notifications of submissions to those who asked for them: a signed request to the web, or mail.

A slow receiver delays nobody else: several are told at once, each token one thing at a time, and each delivery has one
deadline.

Why: docs/adr/043-notifications.md.
"""

import asyncio
import base64
import hashlib
import hmac
import ipaddress
import json
import logging
import smtplib
import socket
import ssl
import time
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from email.message import EmailMessage
from functools import cache
from typing import Any
from urllib.parse import unquote, urlsplit

import httpx2

from app.db.engine import SessionFactory
from app.errors import PlumblineError
from app.store import notifications
from app.store.notifications import CONFIRM, MAIL, Due

logger = logging.getLogger(__name__)

PLACES = 16

LOOKS_EVERY_S = 0.5

WORDS = {"published": "is on the boards", "not_admitted": "was not admitted", "superseded": "is superseded"}

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True)
class Outgoing:
    """How this server reaches others: its public address, its mail server, and the private networks it may contact."""

    base_url: str = ""
    smtp_url: str | None = None
    mail_from: str | None = None
    networks: tuple[Network, ...] = ()


NOWHERE = Outgoing()


async def deliver_due(sessions: SessionFactory, outgoing: Outgoing) -> int:
    """Send what is due, and what becomes due meanwhile, until nothing is in hand; return how many were attempted.

    Failures are retried with growing delays.
    """
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


# Requests to addresses given by strangers: never into a private network, never following redirects. A name is
# resolved once, all its addresses must be public, and one of them is connected to, so that the name cannot resolve
# differently in between. From the resolution to the status of the answer there is one deadline, however slowly each
# byte comes.

DEADLINE_S = 10.0

# A resolution cannot be broken off. Those that are no longer waited for end when the resolver gives up.
WAITING = ThreadPoolExecutor(64, thread_name_prefix="outgoing")

PORTS = frozenset({443, 8443})

MAX_LENGTH = 500

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")

# Not for everybody's use either, though older releases of Python call them global. Source: IANA's special-purpose
# registries, and 192.88.99.0/24 and 2002::/16, which lead to other addresses (RFC 3068, RFC 3056).
NOT_PUBLIC = tuple(map(ipaddress.ip_network, ("192.0.0.0/24", "192.88.99.0/24", "2002::/16", "3fff::/20")))


class NotDelivered(PlumblineError):
    """A notification could not be delivered, or may not be; the message says why."""


def complain_about(address: str, networks: Sequence[Network] = ()) -> str | None:
    """Return what is wrong with a web address before it is resolved; None if nothing is."""
    try:
        url = httpx2.URL(address)
    except (httpx2.InvalidURL, ValueError):
        return "not an address"
    if url.scheme != "https" and not (url.scheme == "http" and networks):
        return "expected an address that begins with https://"
    if not url.host or url.userinfo or url.fragment or len(address) > MAX_LENGTH:
        return f"expected https://host/path of at most {MAX_LENGTH} characters, without a user and without a fragment"
    if not networks and (url.port or 443) not in PORTS:
        return f"expected one of the ports {', '.join(map(str, sorted(PORTS)))}"
    literal = _literal(url.host)
    return "not a public address" if literal is not None and not _is_allowed(literal, networks) else None


def _literal(host: str) -> Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _is_allowed(address: Address, networks: Sequence[Network]) -> bool:
    if any(address in network for network in networks):
        return True
    # Outside of global unicast, IPv6 embeds and translates to other addresses, and does not show where it leads.
    if isinstance(address, ipaddress.IPv6Address) and (address not in GLOBAL_UNICAST or address.teredo):
        return False
    if any(address in network for network in NOT_PUBLIC):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def resolve(host: str, port: int, networks: Sequence[Network] = ()) -> str:
    """Return an address of a host.

    Raises NotDelivered if any of its addresses may not be connected to.
    """
    try:
        resolved = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise NotDelivered(f"{host} is not known: {error}") from None
    addresses = [ipaddress.ip_address(str(each[4][0]).partition("%")[0]) for each in resolved]
    if not addresses or not all(_is_allowed(address, networks) for address in addresses):
        raise NotDelivered(f"{host} is not a public address")
    return str(addresses[0])


async def post(address: str, body: bytes, headers: Mapping[str, str], networks: Sequence[Network] = ()) -> None:
    """Send a body to an address.

    Raises NotDelivered for any answer but success, redirects included, and where none comes within `DEADLINE_S`.
    """
    wrong = complain_about(address, networks)
    if wrong is not None:
        raise NotDelivered(wrong)
    url = httpx2.URL(address)
    sent = {**headers, "Host": url.netloc.decode("ascii"), "Content-Type": "application/json"}
    try:
        async with asyncio.timeout(DEADLINE_S):
            status = await _status_of(url, body, sent, networks)
    except TimeoutError:
        raise NotDelivered(f"{url.host} did not answer within {DEADLINE_S:g} s") from None
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise NotDelivered(f"{url.host} cannot be notified: {error or type(error).__name__}") from None
    if not 200 <= status < 300:
        raise NotDelivered(
            f"{url.host} answered {status}" + (": redirects are not followed" if 300 <= status < 400 else "")
        )


async def _status_of(url: httpx2.URL, body: bytes, headers: Mapping[str, str], networks: Sequence[Network]) -> int:
    port = url.port or (443 if url.scheme == "https" else 80)
    loop = asyncio.get_running_loop()
    pinned = url.copy_with(host=await loop.run_in_executor(WAITING, resolve, url.host, port, networks))
    async with (
        httpx2.AsyncClient(
            timeout=DEADLINE_S, follow_redirects=False, trust_env=False, verify=_certificates()
        ) as client,
        client.stream("POST", pinned, content=body, headers=headers, extensions={"sni_hostname": url.host}) as response,
    ):
        return response.status_code


@cache
def _certificates() -> ssl.SSLContext:
    """Return what certificates are checked with; reading all authorities takes longer than a request."""
    return httpx2.create_ssl_context(trust_env=False)


def signed(number: int, at: int, body: bytes, secret: bytes) -> dict[str, str]:
    """Return the headers that prove who sent a body, and when (seconds since 1970).

    Source: Standard Webhooks 1.0.0, symmetric signatures: HMAC-SHA256 of `id.timestamp.body`.
    """
    name = f"msg_{number}"
    signature = hmac.new(secret, f"{name}.{at}.".encode() + body, hashlib.sha256).digest()
    return {
        "Webhook-Id": name,
        "Webhook-Timestamp": str(at),
        "Webhook-Signature": f"v1,{base64.b64encode(signature).decode()}",
    }


def shown_secret(secret: bytes) -> str:
    """Return a secret in the form given to receivers, who check signatures with it."""
    return f"whsec_{base64.b64encode(secret).decode()}"
