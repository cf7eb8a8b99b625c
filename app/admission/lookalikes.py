"""Names that look like another entrant's because of other letters or marks. Called by `app.admission.rules`.

`GPT-4` with one Cyrillic letter is a different name that looks the same. Unicode's table of confusables
(https://www.unicode.org/reports/tr39/#Confusable_Detection), from the library confusable-homoglyphs, decides what looks
alike. It is made for identifiers and keeps apart what a reader of a list takes for the same: the dashes, points in the
middle of a line, small capitals, letters with a stroke or an accent. Of those Unicode's own names and categories say
which plain character they are a form of. ASCII letters look only like themselves: `model-l` and `model-1` count as
different. Small marks at the ends of a name, such as a full stop, are overlooked.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from confusable_homoglyphs.confusables import confusables_data

from app.names import name_key
from app.values.forensics import Finding

FLAG = "lookalikes"
# Small capitals, letters with a stroke or a hook, letters on a square.
_LATIN = re.compile(r"LATIN (?:CAPITAL |SMALL )?LETTER (?:SMALL CAPITAL )?([A-Z])(?: WITH [\w -]+)?$")
_POINT = re.compile(r"\b(?:FULL STOP|MIDDLE DOT)$")
# Accents and other marks upon, below or through a plain letter; of other alphabets they may be vowels.
_MARKED = re.compile("([0-9A-Za-z])[\u0300-\u036f]+")
_SMALL_MARKS = "`'\".,:;_-"


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
    """Return what a name looks like: names with one skeleton are indistinguishable by eye, or nearly so.

    >>> skeleton("GP\N{CYRILLIC CAPITAL LETTER TE}-4") == skeleton("gpt-4")
    True
    >>> skeleton("GPT\N{EM DASH}4\N{MIDDLE DOT}1.") == skeleton("GPT-4.1")
    True
    """
    looks = name if name.isascii() else "".join(map(_lookalike, unicodedata.normalize("NFKD", name)))
    key = name_key(_MARKED.sub(r"\1", looks))
    return key.strip(_SMALL_MARKS) or key


@lru_cache(maxsize=10_000)
def _lookalike(character: str) -> str:
    """Return the ASCII text that a character looks like, or else one of those that look like it, always the same."""
    if character.isascii():
        return character
    alike = _alike(character)
    every = {character, *alike, *(text for each in alike for text in _alike(each))}
    known = [text for text in alike if text.isascii()] or list(filter(None, map(_plain, every)))
    return min(known or every)


def _alike(text: str) -> list[str]:
    return [str(each["c"]) for each in confusables_data.get(text, ())]


def _plain(text: str) -> str:
    """Return the ASCII character that a character is a form of, by what Unicode says of it; "" for any other."""
    if len(text) > 1:
        return ""
    if letter := _LATIN.search(unicodedata.name(text, "")):
        return letter.group(1)
    if unicodedata.category(text) == "Pd":
        return "-"
    if _POINT.search(unicodedata.name(text, "")):
        return "."
    return str(unicodedata.digit(text, "")) if unicodedata.category(text) == "No" else ""


def _sentence(name: str, other: str) -> str:
    odd = [c for c in f"{name}{other}" if not c.isascii() and skeleton(c) != name_key(c)]
    shown = ", ".join(f"{c} is U+{ord(c):04X} {unicodedata.name(c, '')}" for c in list(dict.fromkeys(odd))[:5])
    why = shown or "they differ by a small mark at an end"
    return f"{name} looks like {other}, another entrant of this benchmark ({why})"
