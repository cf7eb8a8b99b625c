"""One explained term of the glossary; the entries stand in `glossary` and in a file a family of methods."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """One explained term; the first sentence of `text` stands alone, as `brief`."""

    anchor: str
    term: str
    text: str
    formula: str | None = None
    source: str | None = None

    @property
    def brief(self) -> str:
        """Return the first sentence."""
        return self.text.partition(". ")[0].removesuffix(".") + "."
