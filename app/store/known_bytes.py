"""A cache of values unpacked from stored bytes, by digest: bytes with a known digest are not read again.

Called by `app.store.measured`. It is kept in memory only, and what is not known is read.
"""

from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock
from typing import Generic, TypeVar

V = TypeVar("V")


class KnownBytes(Generic[V]):
    """Values by the digest of their bytes; the least recently used are dropped first."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._n_bytes = 0
        self._values: OrderedDict[bytes, tuple[V, int]] = OrderedDict()
        # A worker computes several boards at a time.
        self._lock = Lock()

    def held(self) -> Mapping[bytes, V]:
        """Return everything cached now."""
        with self._lock:
            return {digest: value for digest, (value, _) in self._values.items()}

    def get(self, digest: bytes) -> V | None:
        """Return the value cached under a digest, or None."""
        with self._lock:
            if digest not in self._values:
                return None
            self._values.move_to_end(digest)
            return self._values[digest][0]

    def keep(self, digest: bytes, value: V, n_bytes: int) -> None:
        """Cache a value of `n_bytes` bytes, or mark a cached one as used."""
        with self._lock:
            if n_bytes > self._most_bytes:
                return
            if digest not in self._values:
                self._values[digest] = (value, n_bytes)
                self._n_bytes += n_bytes
            self._values.move_to_end(digest)
            while self._n_bytes > self._most_bytes:
                self._n_bytes -= self._values.popitem(last=False)[1][1]
