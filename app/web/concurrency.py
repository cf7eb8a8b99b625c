"""A limited number of places, in turns by client, none of whom can have all. Used by `app.web.beginning`."""

import asyncio
from collections import Counter, OrderedDict, deque


class Places:
    """A number of places, of which one client (`key`) has at most `most_each`; for a single event loop.

    Who waits is let in by turns of the keys, so that one who asks a thousand times does not go before the others.
    """

    def __init__(self, most: int, most_each: int | None = None) -> None:
        self._n_free = most
        self._most_each = most if most_each is None else most_each
        self._held: Counter[str] = Counter()
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    def take_now(self, key: str) -> bool:
        """Take a free place, and say whether there was one for this key."""
        if self._n_free == 0 or self._held[key] >= self._most_each:
            return False
        self._n_free -= 1
        self._held[key] += 1
        return True

    async def take(self, key: str) -> None:
        """Wait for a place; a cancelled wait takes none."""
        if key not in self._waiting and self.take_now(key):
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(key, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.give_back(key)
            raise

    def give_back(self, key: str) -> None:
        """Give a place back, to the first key in turn that may have it."""
        self._n_free += 1
        self._held[key] -= 1
        if self._held[key] == 0:
            del self._held[key]
        self._let_in()

    def _let_in(self) -> None:
        for key in list(self._waiting):
            turns = self._waiting[key]
            while turns and turns[0].cancelled():
                turns.popleft()
            if turns and self.take_now(key):
                turns.popleft().set_result(None)
                self._waiting.move_to_end(key)
            if not turns:
                del self._waiting[key]
            if self._n_free == 0:
                return
