"""No address that a stranger names leads into a private network, and what is sent is signed."""

import asyncio
import base64
import hashlib
import hmac
import ipaddress

import pytest

from app.jobs.notifying import NotDelivered, complain_about, post, resolve, shown_secret, signed

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


def test_a_public_address_is_accepted() -> None:
    """With a path and a query."""
    assert complain_about("https://example.com/hooks/1?key=2") is None


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
