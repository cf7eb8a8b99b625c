"""Places for a few at once, and who is next: fair by owner, so that one person's thousand do not make everybody wait.

Used wherever somebody waits here: for uploads to be read (`app.reading.readers`), pages and boards to be rendered
(`app.web.cache`), requests to be processed (`app.web.beginning`), boards of dry runs to be computed (`app.web.state`).
An owner is a text: of a token, whoever shows it (`token 5`), else the network of an address (`app.web.limits`).
"""

import asyncio
import itertools
import math
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from heapq import heappop, heappush

from anyio import from_thread

from app.errors import Busy

RETRY_AFTER_S = 5
FORGETS_S = 60.0
"""After so long, e⁻¹ = 37 % of the processor time that somebody used still counts."""
MOST_REMEMBERED = 10_000
BUSY = "Too many requests are in hand; send this one again a little later."


def owner_of_token(token_id: int) -> str:
    """Return the owner that the holder of a token is, in whatever session and with whichever text of it."""
    return f"token {token_id}"


@dataclass(eq=False)
class Turn:
    """A wait for a place, then the place: one owner's, or that of several who want the same.

    `cost_s` is the processor time that was used in it; where nobody says, the time counts for which it was held.
    """

    owners: dict[str, None]
    priority: int = 0
    cost_s: float | None = None
    number: int = 0
    payer: str | None = None
    began_at: float = 0.0
    is_over: bool = False
    called: asyncio.Future[None] | None = None

    @classmethod
    def of(cls, owner: str, priority: int = 0) -> "Turn":
        """Return a turn of one owner."""
        return cls({owner: None}, priority)

    @property
    def is_waiting(self) -> bool:
        """Say whether it waits for a place."""
        return self.called is not None and not self.called.done()


@dataclass
class _Owner:
    """What one owner waits for, what it holds, and the processor time that it used until a moment."""

    waiting: list[tuple[int, int, Turn]] = field(default_factory=list)
    n_waiting: int = 0
    held: set[Turn] = field(default_factory=set)
    used_s: float = 0.0
    used_at: float = 0.0


class Turns:
    """A number of places, for a single event loop.

    A free place goes to the owner who has used the least processor time lately: by whole seconds, then what is more
    urgent (a lower `priority`), then who used less, then who came first. Where there are two places or more, nobody
    holds all of them, even if nobody else is there: whoever comes must not wait until one is done.

    At most `room` wait; of more, the last one of whoever waits with most is told to come again (Busy), so that nobody
    fills the room for others. Who has used more than `costly_s` lately does not begin while somebody else waits.
    """

    def __init__(
        self,
        places: int,
        *,
        room: int | None = None,
        wait_s: float | None = None,
        costly_s: float = math.inf,
        busy: str = BUSY,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._n_free = self._places = places
        self._most_each = max(1, places - 1)
        self._room = math.inf if room is None else room
        self._wait_s = wait_s
        self._costly_s = costly_s
        self._busy = busy
        self._clock = clock
        self._owners: dict[str, _Owner] = {}
        self._queued: dict[str, _Owner] = {}
        self._numbers = itertools.count()
        self.n_waiting = 0

    @property
    def n_running(self) -> int:
        """Return how many places are taken."""
        return self._places - self._n_free

    def used_s(self, owner: str) -> float:
        """Return the processor time that an owner has used lately, with the time of what it holds now."""
        known, now = self._owners.get(owner), self._clock()
        if known is None:
            return 0.0
        past = known.used_s * math.exp((known.used_at - now) / FORGETS_S)
        return past + sum(now - turn.began_at for turn in known.held)

    def refuse_if_full(self, owner: str) -> None:
        """Raise Busy where one more of this owner would have to come again."""
        known = self._owners.get(owner, _Owner())
        self._refuse_costly(owner)
        if self._n_free and len(known.held) < self._most_each:
            return
        most = max((each.n_waiting for each in self._queued.values()), default=0)
        if self.n_waiting >= self._room and known.n_waiting + 1 >= most:
            raise Busy(self._busy, RETRY_AFTER_S)

    def enter(self, turn: Turn) -> None:
        """Take a free place, or begin to wait for one. Raises Busy."""
        self._refuse_costly(*turn.owners)
        turn.number = next(self._numbers)
        turn.called = asyncio.get_running_loop().create_future()
        self.n_waiting += 1
        for owner in turn.owners:
            self._queue(turn, owner)
        self._let_in()
        if self.n_waiting > self._room:
            self._refuse_one()

    def join(self, turn: Turn, owner: str) -> None:
        """Have another owner wait for the same: it comes as soon as that one's own would."""
        if owner in turn.owners:
            return
        turn.owners[owner] = None
        if turn.is_waiting:
            self._queue(turn, owner)
            self._let_in()

    async def wait(self, turn: Turn) -> None:
        """Wait until the turn has come; one that is cancelled, or comes too late, holds no place. Raises Busy."""
        if turn.called is None:
            self.enter(turn)
        called = turn.called
        if called is None:
            raise RuntimeError("a turn that waits was not entered")
        try:
            async with asyncio.timeout(self._wait_s):
                await called
        except TimeoutError:
            self.end(turn)
            raise Busy(f"{self._busy} It has waited {self._wait_s:g} s.", RETRY_AFTER_S) from None
        except BaseException:
            self.end(turn)
            raise

    def end(self, turn: Turn) -> None:
        """Give the place of a turn to the next one, or wait for it no more; a second time does nothing."""
        if turn.is_over:
            return
        turn.is_over = True
        if turn.called is None:
            return
        if turn.payer is None:
            self._stop_waiting(turn)
            return
        held = self._clock() - turn.began_at
        self._owners[turn.payer].held.discard(turn)
        self._charge(turn.payer, held if turn.cost_s is None else turn.cost_s)
        self._n_free += 1
        self._let_in()

    @asynccontextmanager
    async def taken(self, turn: Turn) -> AsyncIterator[Turn]:
        """Wait for a place and hold it for the block. Raises Busy."""
        with self.ending(turn):
            await self.wait(turn)
            yield turn

    @contextmanager
    def ending(self, turn: Turn) -> Iterator[Turn]:
        """End a turn with the block, wherever in it its place was waited for."""
        try:
            yield turn
        finally:
            self.end(turn)

    @contextmanager
    def taken_in_thread(self, owner: str) -> Iterator[Turn]:
        """Do the same for a block in a worker thread of the event loop. Raises Busy."""
        turn = Turn.of(owner)
        from_thread.run(self.wait, turn)
        try:
            yield turn
        finally:
            from_thread.run_sync(self.end, turn)

    def _refuse_costly(self, *owners: str) -> None:
        """Refuse who has used much lately while somebody else waits. Raises Busy, which says how long it counts."""
        used = min(map(self.used_s, owners))
        own = max(self._owners[each].n_waiting if each in self._owners else 0 for each in owners)
        if used > self._costly_s and self.n_waiting > own:
            raise Busy(
                f"Your last ones took {used:.0f} s of processor time, and others wait; come again later.",
                max(RETRY_AFTER_S, math.ceil(FORGETS_S * math.log(used / self._costly_s))),
            )

    def _queue(self, turn: Turn, owner: str) -> None:
        if len(self._owners) >= MOST_REMEMBERED:
            self._forget()
        known = self._queued[owner] = self._owners.setdefault(owner, _Owner())
        known.n_waiting += 1
        heappush(known.waiting, (turn.priority, turn.number, turn))

    def _stop_waiting(self, turn: Turn) -> None:
        self.n_waiting -= 1
        for owner in turn.owners:
            self._owners[owner].n_waiting -= 1

    def _let_in(self) -> None:
        while self._n_free and (found := self._next()) is not None:
            owner, turn = found
            self._stop_waiting(turn)
            self._n_free -= 1
            turn.payer, turn.began_at = owner, self._clock()
            self._owners[owner].held.add(turn)
            if turn.called is not None:
                turn.called.set_result(None)

    def _next(self) -> tuple[str, Turn] | None:
        """Return whose turn it is, and which."""
        best: tuple[tuple[int, int, float, int], str, Turn] | None = None
        for name, owner in list(self._queued.items()):
            while owner.waiting and not owner.waiting[0][-1].is_waiting:
                heappop(owner.waiting)
            if not owner.waiting:
                del self._queued[name]
            elif len(owner.held) < self._most_each:
                priority, number, turn = owner.waiting[0]
                used = self.used_s(name)
                place = (int(used), priority, used, number)
                best = (place, name, turn) if best is None or place < best[0] else best
        return None if best is None else best[1:]

    def _refuse_one(self) -> None:
        """Refuse the last one of whoever waits with most; what several wait for counts as of the one with fewest."""
        waiting = [turn for owner in self._queued.values() for *_, turn in owner.waiting if turn.is_waiting]
        last = max(waiting, key=lambda turn: (min(self._owners[each].n_waiting for each in turn.owners), turn.number))
        last.is_over = True
        self._stop_waiting(last)
        if last.called is not None:
            last.called.set_exception(Busy(self._busy, RETRY_AFTER_S))

    def _charge(self, name: str, cost_s: float) -> None:
        owner, now = self._owners[name], self._clock()
        owner.used_s = owner.used_s * math.exp((owner.used_at - now) / FORGETS_S) + cost_s
        owner.used_at = now

    def _forget(self) -> None:
        """Forget who used little; if that is nobody, everybody who neither waits nor holds anything."""
        for least_s in (0.1, math.inf):
            idle = [name for name, each in self._owners.items() if not each.n_waiting and not each.held]
            for name in idle:
                if self.used_s(name) < least_s:
                    del self._owners[name]
            if len(self._owners) < MOST_REMEMBERED:
                return
