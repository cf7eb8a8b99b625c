"""The base of every page of the site. The pages are in `pages`, `table_page` and `prediction_pages`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

Links = Sequence[tuple[str, str]]


@dataclass(frozen=True, kw_only=True)
class Page:
    """What every page has: its title. `template` is the file in `templates/`."""

    template: ClassVar[str]
    title: str

    @property
    def card(self) -> str:
        """Return the absolute address of the picture by which other sites preview the page, or nothing."""
        return ""
