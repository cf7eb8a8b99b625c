"""Few readings at once, the others in a short queue, shared between owners. Used by `app.reading.readers`."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from app.errors import Busy

RETRY_AFTER_S = 5


class Turns:
    """Whose turn it is."""

    def __init__(self, at_once: int, most_waiting: int, wait_s: float) -> None:
        self._free = asyncio.Semaphore(at_once)
        self.n_running = 0
        self._most_waiting = most_waiting
        self._wait_s = wait_s
        self._waiting: Counter[int] = Counter()

    @property
    def n_waiting(self) -> int:
        """Return how many wait for a turn."""
        return self._waiting.total()

    def refuse_if_full(self, owner: int) -> None:
        """Raise Busy when there is no room in the queue for another one of this owner."""
        if self._free.locked() and self._is_full(owner):
            raise Busy("Too many uploads are in hand; send this one again a little later.", RETRY_AFTER_S)

    def _is_full(self, owner: int) -> bool:
        own = (self._most_waiting + 1) // 2
        return self._waiting.total() >= self._most_waiting or self._waiting[owner] >= own

    @asynccontextmanager
    async def taken(self, owner: int) -> AsyncIterator[None]:
        """Wait for a turn and keep it for the block. Raises Busy."""
        self.refuse_if_full(owner)
        self._waiting[owner] += 1
        try:
            async with asyncio.timeout(self._wait_s):
                await self._free.acquire()
        except TimeoutError:
            raise Busy(
                f"The upload waited {self._wait_s:g} s for its turn; send it again later.", RETRY_AFTER_S
            ) from None
        finally:
            self._waiting -= Counter([owner])
        self.n_running += 1
        try:
            yield
        finally:
            self.n_running -= 1
            self._free.release()
