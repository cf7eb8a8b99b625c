"""Which entrants are as a reader wants them, by what their submitters say: organisation, licence, size, date, purpose.

Called by `app.web.explore`; pure. What nobody states of an entrant matches nothing that is asked of it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

WORDS = ("organization", "licence", "purpose")


@dataclass(frozen=True)
class Wish:
    """What is asked: words as they are stated, whatever their case; sizes in parameters, dates in ISO 8601."""

    organization: tuple[str, ...] = ()
    licence: tuple[str, ...] = ()
    purpose: tuple[str, ...] = ()
    open_weights: bool | None = None
    min_parameters: float | None = None
    max_parameters: float | None = None
    released_from: str = ""
    released_to: str = ""

    @property
    def is_made(self) -> bool:
        """Say whether anything is asked."""
        return any(True for _ in self.words())

    def words(self) -> Iterator[str]:
        """Yield what is asked, in words."""
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

    def holds(self, facts: Mapping[str, Any]) -> bool:
        """Say whether everything that is asked is stated of an entrant.

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
        return self._is_sized(facts.get("n_parameters")) and self._is_released(str(facts.get("released", "")))

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


def stated_values(facts: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return the values of each word that somebody says, in the order of the alphabet.

    >>> stated_values({"A": {"licence": "MIT"}, "B": {"licence": "Apache-2.0", "n_parameters": 1.0}})["licence"]
    ['Apache-2.0', 'MIT']
    """
    return {name: sorted({str(own[name]) for own in facts.values() if own.get(name)}) for name in WORDS}
