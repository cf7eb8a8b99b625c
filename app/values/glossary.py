"""The entries of the glossary: in `app.render.glossary`, and in the folders of the kinds."""

import re
from dataclasses import dataclass


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
