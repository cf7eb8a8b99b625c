"""No address that a stranger names leads into a private network, and what is sent is signed."""

import asyncio
import base64
import hashlib
import hmac
import ipaddress
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from app.jobs.notifying import (
    NotDelivered,
    Outgoing,
    complain_about,
    message_of,
    payload_of,
    post,
    resolve,
    shown_secret,
    signed,
)
from app.store.notifications import CONFIRM, Due

LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"),)


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "10.0.0.1", "172.16.3.4", "192.168.1.1", "169.254.169.254", "0.0.0.1", "100.64.0.1", "224.0.0.1",
     "192.0.0.8", "192.0.0.9", "192.88.99.1", "::1", "fe80::1", "fec0::1", "64:ff9b:1::1", "3fff::1", "5f00::1",
     "2001:0:1::1", "fc00::1", "::ffff:10.0.0.1", "::ffff:127.0.0.1", "64:ff9b::a00:1", "2002:a00:1::", "localhost"],
)  # fmt: skip
def test_what_is_not_public_is_not_connected_to(host: str) -> None:
    """Loopback, private, link-local and mapped addresses, by number or by name."""
    with pytest.raises(NotDelivered, match="not a public address"):
        resolve(host, 443)


def test_a_private_network_is_reached_where_the_server_says_so() -> None:
    """And no other one."""
    assert resolve("127.0.0.1", 80, LOOPBACK) == "127.0.0.1"
    with pytest.raises(NotDelivered):
        resolve("10.0.0.1", 80, LOOPBACK)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("http://example.com/hook", "https://"),
        ("ftp://example.com/hook", "https://"),
        ("https://user:secret@example.com/", "without a user"),
        ("https://example.com/#part", "without a fragment"),
        ("https://example.com:22/", "ports 443, 8443"),
        ("https://127.0.0.1/", "not a public address"),
        ("https://[::1]/", "not a public address"),
        ("https:///nowhere", "host/path"),
        ("no address", "https://"),
        (f"https://example.com/{'a' * 500}", "at most 500"),
    ],
)
def test_an_address_that_cannot_be_told_is_refused_with_the_reason(address: str, words: str) -> None:
    """Before anything is looked up."""
    assert words in (complain_about(address) or "")


@pytest.mark.parametrize(
    ("address", "networks"),
    [
        ("https://example.com/hooks/1?key=2", ()),
        ("https://example.com:8443/", ()),
        (f"https://example.com/{'a' * 480}", ()),
        ("https://192.0.1.1/", ()),
        ("https://[2001:4860:4860::8888]/", ()),
        ("http://127.0.0.1:9000/", LOOPBACK),
        ("https://example.com:9000/", LOOPBACK),
        ("https://8.8.8.8/", LOOPBACK),
    ],
)
def test_a_public_address_is_accepted(address: str, networks: tuple[ipaddress.IPv4Network, ...]) -> None:
    """With a path and a query, to the last letter that is allowed; where networks are named, of any port and plain."""
    assert complain_about(address, networks) is None


@pytest.mark.parametrize("address", ["https://[::1]/", "https://10.0.0.1/", "ftp://127.0.0.1/"])
def test_another_private_address_is_refused_where_networks_are_named(address: str) -> None:
    """An address of the sixth version is in no network of the fourth."""
    assert complain_about(address, LOOPBACK) is not None


AT = datetime(2026, 1, 31, 10, tzinfo=UTC)
DUE = Due(3, 1, 1, "mailto:ann@example.org", b"k" * 24, "not_admitted", "Its tree was dirty.", AT, 7, "tiny")
OUTGOING = Outgoing("https://boards.example/", mail_from="us@example.org")


@pytest.mark.parametrize(
    ("event", "says"),
    [("published", "is on the boards"), ("not_admitted", "was not admitted"), ("superseded", "is superseded")],
)
def test_a_mail_says_what_became_of_which_submission_and_where_it_is(event: str, says: str) -> None:
    """To whom and from whom; as a request it has the same, with the reason and the time."""
    due = replace(DUE, event=event)
    message = message_of(due, OUTGOING)

    assert (message["From"], message["To"]) == ("us@example.org", "ann@example.org")
    assert message["Subject"] == f"plumbline: submission 7 to tiny {says}"
    assert message.get_content().splitlines() == [
        f"Submission 7 to tiny {says}.", "Its tree was dirty.", "https://boards.example/submissions/7"
    ]  # fmt: skip
    assert payload_of(due, OUTGOING) == {
        "event": event, "at": AT.isoformat(), "benchmark": "tiny", "submission": 7,
        "url": "https://boards.example/submissions/7", "reason": "Its tree was dirty.",
    }  # fmt: skip


def test_a_mail_that_confirms_an_address_has_its_code() -> None:
    """And names no submission."""
    message = message_of(replace(DUE, event=CONFIRM, submission=None, benchmark=None), OUTGOING)

    assert message["Subject"] == "plumbline: confirm this address"
    assert message.get_content().splitlines() == [
        "Its tree was dirty.", f"If it was you, confirm it with this code: {(b'k' * 10).hex()}",
        "Otherwise do nothing: no mail follows.",
    ]  # fmt: skip


def test_nothing_is_sent_where_the_address_is_wrong() -> None:
    """What was stored is looked at again when it is told."""
    with pytest.raises(NotDelivered, match="not a public address"):
        asyncio.run(post("https://127.0.0.1/", b"{}", {}))


def test_a_signature_is_checked_as_standard_webhooks_says() -> None:
    """HMAC-SHA256 of id, time and body under the bytes of the secret that whoever checks was given."""
    body = b'{"event":"published"}'
    headers = signed(7, 1700000000, body, b"k" * 24)
    secret = base64.b64decode(shown_secret(b"k" * 24).removeprefix("whsec_"))
    expected = hmac.new(secret, b"msg_7.1700000000." + body, hashlib.sha256).digest()

    assert headers["Webhook-Signature"] == f"v1,{base64.b64encode(expected).decode()}"
    assert (headers["Webhook-Id"], headers["Webhook-Timestamp"]) == ("msg_7", "1700000000")
