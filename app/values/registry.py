"""Named things of one sort that the app knows, to which more may be added: ranking methods, columns, metrics, kinds.

Filled where each sort is defined, in the order in which its things are shown. Called by whoever looks one up.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


class Registry(Mapping[str, T]):
    """Things by their names, in the order in which they were added. `what` says in messages what they are."""

    def __init__(self, what: str, known: Mapping[str, T]) -> None:
        self._what = what
        self._known = dict(known)

    def add(self, name: str, thing: T) -> None:
        """Add a thing behind the others. Raises ValueError for a name that is known."""
        if name in self._known:
            raise ValueError(f"there is a {self._what} {name} already")
        self._known[name] = thing

    @contextmanager
    def also(self, name: str, thing: T) -> Iterator[None]:
        """Know one more thing for the time of a `with` block."""
        self.add(name, thing)
        try:
            yield
        finally:
            del self._known[name]

    def __getitem__(self, name: str) -> T:
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)
