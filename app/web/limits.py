"""How often somebody may write, read or be wrong in a minute, and from which address a request comes.

Writes and wrong tokens are counted by the database, for all processes together. Most reads are answered without it, so
they are counted in each process, and `share_reads` tells the other processes each second of who reads much.
`app.web.front` asks `address_of` once a request; everybody else takes the address from the request.
"""

import asyncio
import ipaddress
import logging
import math
import time
from collections.abc import Callable, Mapping
from functools import lru_cache, partial

from fastapi import Request
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool
from starlette.types import Scope

from app.errors import TooManyRequests
from app.store import rates

MOST_KEPT = 100_000

# Clients that used less than this share of their allowance are not reported to other processes.
MUCH = 0.1


class RateLimit:
    """A bucket for each key that refills evenly; a full one holds a minute's worth. For one event loop alone.

    Of each it keeps the level, when that was, and how many acts were not reported to other processes yet.
    """

    def __init__(self, per_minute: int) -> None:
        self.per_minute = per_minute
        self._level: dict[str, tuple[float, float, int]] = {}
        self._unreported: set[str] = set()
        self._much = per_minute * (1 - MUCH)

    def take(self, key: str) -> int:
        """Count one act and return 0, or return how many seconds to wait."""
        now = time.monotonic()
        level, since, unreported = self._level.get(key, (float(self.per_minute), now, 0))
        level = min(float(self.per_minute), level + (now - since) * self.per_minute / 60)
        if level < 1:
            return math.ceil((1 - level) * 60 / self.per_minute)
        if len(self._level) >= MOST_KEPT:
            self._forget(now)
        self._level[key] = (level - 1, now, unreported + 1)
        if level - 1 < self._much:
            self._unreported.add(key)
        return 0

    def unreported(self) -> dict[str, int]:
        """Return how many acts of each to report to the other processes, and mark them reported."""
        counts: dict[str, int] = {}
        for key in self._unreported & self._level.keys():
            level, since, counts[key] = self._level[key]
            self._level[key] = (level, since, 0)
        self._unreported.clear()
        return counts

    def hear(self, used_s: Mapping[str, float]) -> None:
        """Take note of how much of a minute's worth somebody used up in all processes together, in seconds of it."""
        now = time.monotonic()
        for key, used in used_s.items():
            _, _, unreported = self._level.get(key, (0.0, now, 0))
            self._level[key] = (self.per_minute * (1 - used / 60) - unreported, now, unreported)

    def _forget(self, now: float) -> None:
        """Drop the buckets that are full again after a minute; if none is, all of them: memory has an end."""
        self._level = {key: kept for key, kept in self._level.items() if now - kept[1] < 60}
        if len(self._level) >= MOST_KEPT:
            self._level.clear()


def address_of(scope: Scope, hops: int) -> str | None:
    """Return the address of a request's client: the peer's, or the one seen by our own proxies, as configured.

    Each of them appends the address it was asked from to X-Forwarded-For; what comes before those can be forged.
    """
    peer = None if scope.get("client") is None else str(scope["client"][0])
    if hops == 0:
        return peer
    lines = [value.decode("latin-1") for name, value in scope["headers"] if name == b"x-forwarded-for"]
    passed = [each.strip() for line in lines for each in line.split(",")]
    return passed[-hops] if len(passed) >= hops and _is_address(passed[-hops]) else peer


@lru_cache(maxsize=4096)
def network_of(address: str) -> str:
    """Return whose limit an address counts for: itself, or of IPv6 the network that one customer has (RFC 6177)."""
    if not _is_address(address) or ":" not in address:
        return address
    mapped = ipaddress.IPv6Address(address.partition("%")[0]).ipv4_mapped
    if mapped is not None:
        # How a server that listens on both families sees a reader by IPv4.
        return str(mapped)
    return str(ipaddress.ip_network(f"{address.partition('%')[0]}/64", strict=False))


def refuse_guesses(session: Session, request: Request) -> None:
    """Refuse to look up a token for an address that showed too many wrong ones. Raises TooManyRequests."""
    if is_guessing(session, request):
        per_minute = _guesses(request)[1]
        raise TooManyRequests(f"More than {per_minute} wrong tokens in a minute from your address.", 60)


def limit_nobody(request: Request) -> None:
    """Count a write without credentials of an address. Raises TooManyRequests."""
    settings, network = request.app.state.plumbline.settings, network_of_reader(request)
    per_minute = settings.max_wrong_tokens_per_minute
    if network is None:
        return
    take = partial(rates.take, key=f"nobody {network}", per_minute=per_minute)
    if (wait_s := request.app.state.plumbline.transact(take)) > 0:
        raise TooManyRequests(f"More than {per_minute} writes without a token in a minute from your address.", wait_s)


def limit_reader(limit: RateLimit | None, token_id: int | None) -> None:
    """Count a read that a token shows itself for, wherever it comes from. Raises TooManyRequests."""
    if limit is not None and token_id is not None and (wait_s := limit.take(f"token {token_id}")) > 0:
        raise TooManyRequests(f"More than {limit.per_minute} reads in a minute with your token.", wait_s)


def is_guessing(session: Session, request: Request) -> bool:
    """Say whether the address of a request showed too many wrong tokens lately."""
    key, per_minute = _guesses(request)
    return key is not None and rates.is_used_up(session, key, per_minute)


def count_guess(request: Request) -> None:
    """Count a wrong token of an address, in a transaction of its own: that of the request is rolled back."""
    key, per_minute = _guesses(request)
    if key is not None:
        request.app.state.plumbline.transact(lambda session: rates.take(session, key, per_minute))


def _guesses(request: Request) -> tuple[str | None, int]:
    network = network_of_reader(request)
    per_minute = request.app.state.plumbline.settings.max_wrong_tokens_per_minute
    return None if network is None else f"wrong {network}", per_minute


def network_of_reader(request: Request) -> str | None:
    """Return whose limits a request counts for, None where addresses are not distinguished."""
    is_told_apart = request.app.state.plumbline.settings.tells_addresses_apart
    return network_of(request.client.host) if is_told_apart and request.client is not None else None


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


# Shares read counts between processes: each reports heavy readers to the database every second, and receives totals.
#
# Run by `app.main` beside the server. Who reads little is not written down at all. A page is still answered without
# the database, so an address can read more than its limit for a second in each process.

logger = logging.getLogger(__name__)

EVERY_S = 1.0

Transact = Callable[[Callable[[Session], dict[str, float]]], dict[str, float]]


async def share_reads(limit: RateLimit, transact: Transact) -> None:
    """Tell and hear for as long as the process serves."""
    while True:
        await asyncio.sleep(EVERY_S)
        try:
            await share_once(limit, transact)
        except Exception as error:
            # Without the database each process counts for itself.
            logger.warning("reads are not counted together: %s", error)


async def share_once(limit: RateLimit, transact: Transact) -> None:
    """Report heavy readers since the last time to the database, and store the totals over all processes."""
    taken = limit.unreported()
    if taken:
        limit.hear(_read(await run_in_threadpool(transact, partial(_count, taken, limit.per_minute))))


def _count(taken: Mapping[str, int], per_minute: int, session: Session) -> dict[str, float]:
    return rates.take_many(session, {f"reads {key}": n for key, n in taken.items()}, per_minute)


def _read(used_s: Mapping[str, float]) -> dict[str, float]:
    return {key.removeprefix("reads "): used for key, used in used_s.items()}
