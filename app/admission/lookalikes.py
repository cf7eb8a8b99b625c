"""Names that look like another entrant's because of letters from another alphabet. Called by `app.admission.rules`.

`GPT-4` with one Cyrillic letter is a different name that looks the same. Unicode's table of confusables
(https://www.unicode.org/reports/tr39/#Confusable_Detection), from the library confusable-homoglyphs, decides what looks
alike. ASCII letters look only like themselves: `model-l` and `model-1` count as different.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from confusable_homoglyphs.confusables import confusables_data

from app.names import name_key
from app.values.forensics import Finding

FLAG = "lookalikes"


def lookalike_findings(names: Iterable[str], others: Sequence[str]) -> Iterator[Finding]:
    """Yield each name that looks like another one of `others`, or of the submission itself."""
    named = list(names)
    known: dict[str, str] = {}
    for name in (*others, *named):
        known.setdefault(skeleton(name), name)
    pairs = [(name, known[skeleton(name)]) for name in named]
    for name, other in pairs:
        if name_key(name) != name_key(other):
            yield Finding(FLAG, name, _sentence(name, other))


@lru_cache(maxsize=100_000)
def skeleton(name: str) -> str:
    """Return what a name looks like: names with one skeleton are indistinguishable by eye.

    >>> skeleton("GP\N{CYRILLIC CAPITAL LETTER TE}-4") == skeleton("gpt-4")
    True
    """
    if name.isascii():
        return name_key(name)
    return name_key("".join(map(_lookalike, unicodedata.normalize("NFKD", name))))


def _lookalike(character: str) -> str:
    """Return the ASCII text that a character looks like, or else the first character that looks like it."""
    if character.isascii():
        return character
    alike = [str(each["c"]) for each in confusables_data.get(character, ())]
    return min((text for text in alike if text.isascii()), default=min(alike, default=character))


def _sentence(name: str, other: str) -> str:
    letters = [c for c in f"{name}{other}" if not c.isascii() and _lookalike(c) != c]
    shown = ", ".join(f"{c} is U+{ord(c):04X} {unicodedata.name(c, '')}" for c in dict.fromkeys(letters[:5]))
    return f"{name} looks like {other}, another entrant of this benchmark ({shown})"
