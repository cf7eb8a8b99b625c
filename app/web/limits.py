"""Writes per minute and token, counted in this process."""

import math
import threading
import time


class RateLimit:
    """A bucket per token that refills evenly; a full one holds a minute's worth."""

    def __init__(self, per_minute: int) -> None:
        self.per_minute = per_minute
        self._level: dict[int, tuple[float, float]] = {}
        self._lock = threading.Lock()

    def take(self, token_id: int) -> int:
        """Count one write and return 0, or return how many seconds to wait."""
        now = time.monotonic()
        with self._lock:
            level, since = self._level.get(token_id, (float(self.per_minute), now))
            level = min(float(self.per_minute), level + (now - since) * self.per_minute / 60)
            if level < 1:
                return math.ceil((1 - level) * 60 / self.per_minute)
            self._level[token_id] = (level - 1, now)
            return 0
