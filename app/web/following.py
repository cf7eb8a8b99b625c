"""Status events for watchers of submissions: one database reader per process, however many watch.

`app.web.events` answers with it; `app.main` makes it and wakes it when a change is heard, `app.cli.web` ends it.
Who watches holds no connection of the pool.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from pydantic_core import to_json
from starlette.concurrency import run_in_threadpool

from app.db.engine import SessionFactory
from app.errors import Busy, TooManyRequests
from app.store import submissions, web_processes
from app.store.visibility import reading_all

logger = logging.getLogger(__name__)

WAITING_FOR = {"received": "evaluation", "evaluated": "publication"}
"""The states that a submission leaves without action by anybody, and what it waits for in each."""
MOST, MOST_OF_ONE = 500, 20
RETRY_AFTER_S = 10
LOOK_EVERY_S, LOOK_AT_MOST_EVERY_S = 1.0, 0.1
"""Changes are notified at once, except for non-public benchmarks, so the database is also polled."""

Read = Callable[[Collection[int]], Mapping[int, str]]


@dataclass(eq=False)
class Watched:
    """A submission that somebody watches: its status as it was last read, and whether that is news."""

    number: int
    whose: str | None
    status: str
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def is_waiting(self) -> bool:
        """Say whether its status will still change by itself."""
        return self.status in WAITING_FOR

    def as_event(self, name: str) -> str:
        """Return the status as an event of this name."""
        document = {"submission": self.number, "status": self.status, "waiting_for": WAITING_FOR.get(self.status)}
        return f"event: {name}\ndata: {to_json(document).decode()}\n\n"


class Followers:
    """The watchers of submissions in this process: limited in total, per address, and in time."""

    def __init__(self, read: Read, *, heartbeat_s: float = 15.0, longest_s: float = 600.0) -> None:
        self._read = read
        self._heartbeat_s, self._longest_s = heartbeat_s, longest_s
        self._watched: set[Watched] = set()
        self._of_one: Counter[str] = Counter()
        self._heard = asyncio.Event()
        self._looking: asyncio.Task[None] | None = None
        self._is_over = False

    @property
    def n_watched(self) -> int:
        """Return how many watch now."""
        return len(self._watched)

    def wake(self) -> None:
        """Take note that something changed."""
        self._heard.set()

    def end(self) -> None:
        """End every stream: the server stops, and would wait for them."""
        self._is_over = True
        for each in self._watched:
            each.changed.set()
        self.wake()

    @contextmanager
    def follow(self, number: int, whose: str | None, status: str) -> Iterator[Watched]:
        """Count a watcher while it watches.

        Raises Busy, or TooManyRequests for too many from one address.
        """
        if whose is not None and self._of_one[whose] >= MOST_OF_ONE:
            raise TooManyRequests(
                f"You are watching more than {MOST_OF_ONE} submissions from your address.", RETRY_AFTER_S
            )
        if len(self._watched) >= MOST:
            raise Busy(f"{MOST} submissions are being watched already; poll its page instead.", RETRY_AFTER_S)
        watched = Watched(number, whose, status)
        self._watched.add(watched)
        self._of_one.update([whose] if whose is not None else [])
        try:
            yield watched
        finally:
            self._watched.discard(watched)
            if whose is not None:
                self._of_one[whose] -= 1
                self._of_one += Counter()

    async def events(self, watched: Watched) -> AsyncIterator[str]:
        """Yield the status now and each that follows, the last one as `end`; a comment where nothing is new for long.

        Who watched for too long is asked to come back, which browsers do by themselves.
        """
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())
        until = asyncio.get_running_loop().time() + self._longest_s
        yield f"retry: 3000\n{watched.as_event('status')}"
        while watched.is_waiting and not self._is_over and asyncio.get_running_loop().time() < until:
            try:
                await asyncio.wait_for(watched.changed.wait(), self._heartbeat_s)
            except TimeoutError:
                yield ": still waiting\n\n"
                continue
            watched.changed.clear()
            yield watched.as_event("status")
        if not watched.is_waiting:
            yield watched.as_event("end")

    async def _look(self) -> None:
        """Read the watched submissions on every change, and periodically, as long as anybody watches."""
        while self._watched and not self._is_over:
            self._heard.clear()
            await self._look_once()
            await asyncio.sleep(LOOK_AT_MOST_EVERY_S)
            try:
                await asyncio.wait_for(self._heard.wait(), LOOK_EVERY_S)
            except TimeoutError:
                continue

    async def _look_once(self) -> None:
        try:
            statuses = await run_in_threadpool(self._read, {each.number for each in self._watched})
        except Exception as error:
            # The database may be unavailable for a while; watchers stay, and are notified when it is back.
            logger.warning("cannot read the watched submissions: %s", error)
            return
        for each in list(self._watched):
            status = statuses.get(each.number, each.status)
            if status != each.status:
                each.status = status
                each.changed.set()


def read_statuses(sessions: SessionFactory, numbers: Collection[int]) -> dict[int, str]:
    """Return the status of submissions; watchers' permissions were checked when they connected."""
    with reading_all(), sessions() as session:
        statuses = {number: status for number, _, status in submissions.followed(session, numbers)}
        hidden = web_processes.unshown(session, [each for each in numbers if statuses.get(each) == "published"])
    return {each: web_processes.status_said(status, is_unshown=each in hidden) for each, status in statuses.items()}
