"""Shares read counts between processes: each reports heavy readers to the database every second, and receives totals.

Run by `app.main` beside the server. Who reads little is not written down at all. A page is still answered without the
database, so an address can read more than its limit for a second in each process.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from functools import partial

from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from app.store import rates
from app.web.limits import RateLimit

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
