"""One explained term of the glossary. The entries are in `app.render.glossary` and in the folders of the kinds."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """One explained term; the first sentence of `text` can be read alone, as `brief`."""

    anchor: str
    term: str
    text: str
    formula: str | None = None
    source: str | None = None

    @property
    def brief(self) -> str:
        """Return the first sentence."""
        return self.text.partition(". ")[0].removesuffix(".") + "."
