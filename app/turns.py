"""Places for a few at once, and who is next: fair by owner, so that one person's thousand do not make everybody wait.

Whatever is waited for here: uploads to be read, pages to be rendered, boards to be computed. An owner is a text: of a
person's tokens as far as the server knows it, whoever shows them (`token 5`, `app.web.caller`), else the network of an
address (`app.web.limits`).

Why: docs/adr/028-fair-turns-and-limits.md.
"""

import asyncio
import itertools
import math
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Protocol

from anyio import from_thread

from app.errors import Busy
from plumbline.retries import RETRY_AFTER_S

FORGETS_S = 60.0
"""After so long, e⁻¹ = 37 % of the processor time that somebody used still counts."""
MOST_REMEMBERED = 10_000
SLICE_S, FAR_MORE = 1.0, 2.0
"""Work that can be stopped goes on at least this long; it makes way for who has used less than 1/FAR_MORE of the rest.

Equals never stop each other, and whoever stopped somebody is not stopped by them until it has used twice as much.
"""
LOOKS_EVERY_S = 0.2
BUSY = "Too many requests are being answered; send this one again a little later."


def owner_of_token(token_id: int) -> str:
    """Return the owner that the holder of a token is, in whatever session and with whichever text of it.

    Where a steward has said that several tokens are one owner, the number is that owner's (`app.web.caller`).
    """
    return f"token {token_id}"


class Work(Protocol):
    """What is done in a turn, where it can be stopped for somebody else."""

    def stop(self) -> None:
        """Stop it where it is."""

    def go_on(self) -> None:
        """Let it go on."""

    def give_up(self) -> None:
        """End it for good; who waits for it is told to come again."""


@dataclass(eq=False)
class Turn:
    """A wait for a place, then the place: one owner's, or that of several who want the same.

    `cost_s` is the processor time that was used in it; where nobody says, the time counts for which it was held.
    Of that `charged_s` was counted when its work was stopped.
    """

    owners: dict[str, None]
    priority: int = 0
    cost_s: float | None = None
    number: int = 0
    payer: str | None = None
    began_at: float = 0.0
    charged_s: float = 0.0
    work: Work | None = None
    is_over: bool = False
    called: asyncio.Future[None] | None = None

    @classmethod
    def of(cls, owner: str, priority: int = 0) -> "Turn":
        """Return a turn of one owner."""
        return cls({owner: None}, priority)

    @property
    def is_waiting(self) -> bool:
        """Say whether it waits for a place."""
        return self.called is not None and not self.called.done() and not self.is_over


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

    Work that can be stopped makes way: for whoever has used far less lately, that of whoever has used the most waits
    where it is, and goes on in a turn of its own. As many are stopped as there are places; of more, that of whoever has
    used the most is given up.
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
        self._running: list[Turn] = []
        self._stopped: list[Turn] = []
        self._looking: asyncio.TimerHandle | None = None
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
        if self._n_fresh >= self._room and known.n_waiting + 1 >= most:
            raise Busy(self._busy)

    def enter(self, turn: Turn) -> None:
        """Take a free place, or begin to wait for one. Raises Busy."""
        self._refuse_costly(*turn.owners)
        turn.number = next(self._numbers)
        turn.called = asyncio.get_running_loop().create_future()
        self.n_waiting += 1
        for owner in turn.owners:
            self._queue(turn, owner)
        self._let_in()
        if self._n_fresh > self._room:
            self._refuse_one()

    def join(self, turn: Turn, owner: str) -> None:
        """Have another owner wait for the same: it comes as soon as that one's own would."""
        if owner in turn.owners:
            return
        turn.owners[owner] = None
        if turn.is_waiting:
            self._queue(turn, owner)
            self._let_in()

    def may_stop(self, turn: Turn, work: Work | None) -> None:
        """Say what is done in a turn that has come, so that it can make way for others; None for nothing any more."""
        turn.work = work
        self._let_in()

    def look(self) -> None:
        """Have work make way where somebody waits who has used far less; by itself several times a second."""
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
            raise Busy(f"{self._busy} It has waited {self._wait_s:g} s.") from None
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
        if turn in self._stopped:
            self._stopped.remove(turn)
            self._stop_waiting(turn)
        else:
            self._leave_place(turn)
        if turn.cost_s is not None:
            self._charge(turn.payer, turn.cost_s - turn.charged_s)
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

    @property
    def _n_fresh(self) -> int:
        """Return how many wait that have not begun."""
        return self.n_waiting - len(self._stopped)

    def _let_in(self) -> None:
        while (found := self._next()) is not None:
            if not self._n_free and not self._make_way(found[0]):
                break
            self._begin(*found)
        while len(self._stopped) > self._places:
            self._give_up_one()
        self._look_again(is_needed=found is not None)

    def _begin(self, owner: str, turn: Turn) -> None:
        self._stop_waiting(turn)
        self._n_free -= 1
        turn.payer, turn.began_at = owner, self._clock()
        self._owners[owner].held.add(turn)
        self._running.append(turn)
        if turn.called is not None:
            turn.called.set_result(None)
        if turn in self._stopped:
            self._stopped.remove(turn)
            if turn.work is not None:
                turn.work.go_on()

    def _make_way(self, owner: str) -> bool:
        """Stop the work of whoever has used the most, if that is far more than an owner has; say whether it was."""
        found = max(self._stoppable(), key=lambda each: self.used_s(each.payer or ""), default=None)
        if found is None or found.payer is None or found.work is None:
            return False
        if self.used_s(found.payer) < SLICE_S + FAR_MORE * self.used_s(owner):
            return False
        found.work.stop()
        self._leave_place(found)
        found.called = asyncio.get_running_loop().create_future()
        self.n_waiting += 1
        self._stopped.append(found)
        for each in found.owners:
            self._queue(found, each)
        return True

    def _stoppable(self) -> list[Turn]:
        """Return what runs for a whole slice by now and can be stopped."""
        since = self._clock() - SLICE_S
        return [turn for turn in self._running if turn.work is not None and turn.began_at <= since]

    def _leave_place(self, turn: Turn) -> None:
        """Give the place of a turn back, and count the time for which it was held."""
        held_s = self._clock() - turn.began_at
        owner = turn.payer or ""
        self._owners[owner].held.discard(turn)
        self._running.remove(turn)
        self._charge(owner, held_s)
        turn.charged_s += held_s
        self._n_free += 1

    def _give_up_one(self) -> None:
        """End the stopped work of whoever has used the most."""
        most = max(self._stopped, key=lambda turn: (self.used_s(turn.payer or ""), turn.number))
        self._stopped.remove(most)
        self._stop_waiting(most)
        most.is_over = True
        if most.work is not None:
            most.work.give_up()

    def _look_again(self, *, is_needed: bool) -> None:
        """Have the time that passes noticed while somebody waits and something that runs can be stopped."""
        is_needed = is_needed and any(turn.work is not None for turn in self._running)
        if self._looking is not None:
            self._looking.cancel()
        self._looking = asyncio.get_running_loop().call_later(LOOKS_EVERY_S, self.look) if is_needed else None

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
        waiting = [
            turn
            for owner in self._queued.values()
            for *_, turn in owner.waiting
            if turn.is_waiting and turn not in self._stopped
        ]
        last = max(waiting, key=lambda turn: (min(self._owners[each].n_waiting for each in turn.owners), turn.number))
        last.is_over = True
        self._stop_waiting(last)
        if last.called is not None:
            last.called.set_exception(Busy(self._busy))

    def _charge(self, name: str, cost_s: float) -> None:
        owner, now = self._owners[name], self._clock()
        owner.used_s = max(0.0, owner.used_s * math.exp((owner.used_at - now) / FORGETS_S) + cost_s)
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
