"""Registries of named things, to which more can be added, and the entries of the glossary.

Ranking methods, columns, metrics and kinds are such things. A registry is filled where its sort is defined, in the
order in which its things are shown.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


class Registry(Mapping[str, T]):
    """Things by name, in order of registration. `what` names their sort in messages."""

    def __init__(self, what: str, known: Mapping[str, T]) -> None:
        self._what = what
        self._known = dict(known)

    def add(self, name: str, thing: T) -> None:
        """Register a thing after the others.

        Raises ValueError for a name that is taken.
        """
        if name in self._known:
            raise ValueError(f"there is a {self._what} {name} already")
        self._known[name] = thing

    @contextmanager
    def also(self, name: str, thing: T) -> Iterator[None]:
        """Register one more thing for the duration of a `with` block."""
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


# One explained term of the glossary. The entries are in `app.render.glossary` and in the folders of the kinds.


@dataclass(frozen=True)
class GlossaryEntry:
    """One explained term; `text` is Markdown, and its first sentence, plain, can be read alone, as `brief`."""

    anchor: str
    term: str
    text: str
    formula: str | None = None
    source: str | None = None

    @property
    def brief(self) -> str:
        """Return the first sentence."""
        return re.split(r"\.\s", self.text, maxsplit=1)[0].removesuffix(".") + "."
