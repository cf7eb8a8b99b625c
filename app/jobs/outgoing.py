"""Requests to addresses given by strangers: never into a private network, never following redirects.

Called by `app.jobs.notifying` and, for what an address must be, by `app.web.notifications`. A name is resolved once,
all its addresses must be public, and one of them is connected to, so that the name cannot resolve differently in
between. From the resolution to the status of the answer there is one deadline, however slowly each byte comes.
"""

import asyncio
import base64
import hashlib
import hmac
import ipaddress
import socket
import ssl
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import httpx

from app.errors import PlumblineError

DEADLINE_S = 10.0
# A resolution cannot be broken off. Those that are no longer waited for end when the resolver gives up.
WAITING = ThreadPoolExecutor(64, thread_name_prefix="outgoing")
PORTS = frozenset({443, 8443})
MAX_LENGTH = 500
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
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
        url = httpx.URL(address)
    except (httpx.InvalidURL, ValueError):
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
    if any(address.version == network.version and address in network for network in networks):
        return True
    # Outside of global unicast, IPv6 embeds and translates to other addresses, and does not show where it leads.
    if isinstance(address, ipaddress.IPv6Address) and (address not in GLOBAL_UNICAST or address.teredo):
        return False
    if any(address.version == network.version and address in network for network in NOT_PUBLIC):
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
    url = httpx.URL(address)
    sent = {**headers, "Host": url.netloc.decode("ascii"), "Content-Type": "application/json"}
    try:
        async with asyncio.timeout(DEADLINE_S):
            status = await _status_of(url, body, sent, networks)
    except TimeoutError:
        raise NotDelivered(f"{url.host} did not answer within {DEADLINE_S:g} s") from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise NotDelivered(f"{url.host} cannot be notified: {error or type(error).__name__}") from None
    if not 200 <= status < 300:
        raise NotDelivered(
            f"{url.host} answered {status}" + (": redirects are not followed" if 300 <= status < 400 else "")
        )


async def _status_of(url: httpx.URL, body: bytes, headers: Mapping[str, str], networks: Sequence[Network]) -> int:
    port = url.port or (443 if url.scheme == "https" else 80)
    loop = asyncio.get_running_loop()
    pinned = url.copy_with(host=await loop.run_in_executor(WAITING, resolve, url.host, port, networks))
    async with (
        httpx.AsyncClient(
            timeout=DEADLINE_S, follow_redirects=False, trust_env=False, verify=_certificates()
        ) as client,
        client.stream("POST", pinned, content=body, headers=headers, extensions={"sni_hostname": url.host}) as response,
    ):
        return response.status_code


@cache
def _certificates() -> ssl.SSLContext:
    """Return what certificates are checked with; reading all authorities takes longer than a request."""
    return httpx.create_ssl_context(trust_env=False)


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
