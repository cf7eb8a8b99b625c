"""Filters entrants by the facts their submitters state: organisation, licence, size, date, purpose.

Called by `app.web.explore`; pure. A fact that is not stated matches no condition on it.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

WORDS = ("organization", "licence", "purpose")
ASKED = re.compile(r"([a-z][a-z0-9_]{0,39})(>=|<=|=)(.+)")
"""A field that a manifest declares, how it is compared, and with what: `architecture=decoder`, `context>=8192`."""


@dataclass(frozen=True)
class Wish:
    """The conditions of a filter: words match whatever their case; sizes are in parameters, dates in ISO 8601."""

    organization: tuple[str, ...] = ()
    licence: tuple[str, ...] = ()
    purpose: tuple[str, ...] = ()
    open_weights: bool | None = None
    min_parameters: float | None = None
    max_parameters: float | None = None
    released_from: str = ""
    released_to: str = ""
    fields: tuple[str, ...] = ()

    @property
    def is_made(self) -> bool:
        """Say whether there is any condition."""
        return any(True for _ in self.words())

    def words(self) -> Iterator[str]:
        """Yield the conditions in words."""
        for name in WORDS:
            if values := getattr(self, name):
                yield f"{name} {' or '.join(values)}"
        if self.open_weights is not None:
            yield "open weights" if self.open_weights else "no open weights"
        if self.min_parameters is not None:
            yield f"at least {self.min_parameters:,.0f} parameters"
        if self.max_parameters is not None:
            yield f"at most {self.max_parameters:,.0f} parameters"
        if self.released_from:
            yield f"released from {self.released_from} on"
        if self.released_to:
            yield f"released up to {self.released_to}"
        yield from (each.replace("_", " ") for each in self.fields)

    def holds(self, facts: Mapping[str, Any]) -> bool:
        """Say whether an entrant's stated facts meet every condition.

        >>> Wish(licence=("mit",), max_parameters=8e9).holds({"licence": "MIT", "n_parameters": 7e9})
        True
        >>> Wish(open_weights=True).holds({})
        False
        """
        for name in WORDS:
            values = [value.casefold() for value in getattr(self, name)]
            if values and str(facts.get(name, "")).casefold() not in values:
                return False
        if self.open_weights is not None and facts.get("open_weights") is not self.open_weights:
            return False
        if not self._is_sized(facts.get("n_parameters")) or not self._is_released(str(facts.get("released", ""))):
            return False
        return self._has_fields(facts)

    def _has_fields(self, facts: Mapping[str, Any]) -> bool:
        """Say whether every declared field matches; of several values for one field, any may match."""
        exact: dict[str, list[str]] = {}
        for name, sign, wanted in (ASKED.fullmatch(each).groups() for each in self.fields):  # type: ignore[union-attr]
            if sign == "=":
                exact.setdefault(name, []).append(wanted.casefold())
            elif not _is_within(facts.get(name), sign, wanted):
                return False
        return all(in_words(facts.get(name)).casefold() in wanted for name, wanted in exact.items())

    def _is_sized(self, size: object) -> bool:
        if self.min_parameters is None and self.max_parameters is None:
            return True
        if not isinstance(size, int | float):
            return False
        least, most = self.min_parameters, self.max_parameters
        return (least is None or size >= least) and (most is None or size <= most)

    def _is_released(self, day: str) -> bool:
        if not self.released_from and not self.released_to:
            return True
        return bool(day) and day >= self.released_from and (not self.released_to or day <= self.released_to)


def in_words(value: object) -> str:
    """Return a stated value as it is written in an address: numbers in their shortest form, None as empty text.

    >>> in_words(8192.0), in_words(True), in_words(None)
    ('8192', 'yes', '')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else f"{value:.15g}" if isinstance(value, float) else str(value)


def _is_within(value: object, sign: str, wanted: str) -> bool:
    """Say whether a number or a date satisfies the comparison; what is not stated does not."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            limit = float(wanted)
        except ValueError:
            return False
        return value >= limit if sign == ">=" else value <= limit
    return isinstance(value, str) and bool(value) and (value >= wanted if sign == ">=" else value <= wanted)


def stated_values(facts: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return the stated values of each fact, in alphabetical order.

    >>> stated_values({"A": {"licence": "MIT"}, "B": {"licence": "Apache-2.0", "n_parameters": 1.0}})["licence"]
    ['Apache-2.0', 'MIT']
    """
    return {name: sorted({str(own[name]) for own in facts.values() if own.get(name)}) for name in WORDS}
