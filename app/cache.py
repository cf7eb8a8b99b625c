"""What a process remembers of what it computed or read: a cache in memory only, and the digest its keys are made of."""

import hashlib
from collections.abc import Mapping
from threading import Lock
from typing import Any, Generic, TypeVar

import cachetools

V = TypeVar("V")


class Cache(Generic[V]):
    """Values by key, up to a number of bytes; the least recently used are dropped first. Threads may share it."""

    def __init__(self, most_bytes: int) -> None:
        self._values: cachetools.LRUCache[bytes, tuple[V, int]] = cachetools.LRUCache(most_bytes, lambda each: each[1])
        self._lock = Lock()

    def get(self, key: bytes) -> V | None:
        """Return the value kept under a key, or None."""
        with self._lock:
            value, _ = self._values.get(key, (None, 0))
            return value

    def keep(self, key: bytes, value: V, n_bytes: int) -> None:
        """Keep a value of `n_bytes` bytes under a key, in place of the one before; too large a one is not kept."""
        with self._lock:
            self._values.pop(key, None)
            if n_bytes <= self._values.maxsize:
                self._values[key] = (value, n_bytes)

    def drop(self, key: bytes) -> None:
        """Keep nothing under a key any longer."""
        with self._lock:
            self._values.pop(key, None)

    def clear(self) -> None:
        """Keep nothing any longer."""
        with self._lock:
            self._values.clear()

    def held(self) -> Mapping[bytes, V]:
        """Return everything kept now; none of it counts as used."""
        with self._lock:
            return {key: cachetools.Cache.__getitem__(self._values, key)[0] for key in self._values}


def digest(*parts: bytes | memoryview | str) -> bytes:
    """Return 16 bytes that stand for some parts: other parts, or others in their order, have other bytes.

    >>> digest("ab", "c") == digest("a", "bc")
    False
    """
    hashed = hashlib.blake2b(digest_size=16)
    for part in parts:
        one = part.encode() if isinstance(part, str) else part
        hashed.update(memoryview(one).nbytes.to_bytes(8, "big"))
        hashed.update(one)
    return hashed.digest()


COMPUTED: Cache[Any] = Cache(192 << 20)
"""What this process remembers of the boards and measurements that it computed last."""
