"""Which names are accepted: any printable text on one line.

Names are escaped where they leave (a CSV cell, a page, an address), so nothing is refused because of its surroundings.
Only what a reader could not see is refused: control characters, marks that change the direction of reading, invisible
characters, a second spelling of the same text.

Why: docs/adr/015-names.md.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import Literal, TypeVar, get_args

Listed = TypeVar("Listed")

RoleName = Literal["steward", "reviewer", "submitter"]
"""What somebody may be in one benchmark; what each may do there is `app.rights.policy`."""

ROLE_NAMES: tuple[RoleName, ...] = get_args(RoleName)

MAX_NAME = 200

NAME_RULE = (
    f"printable text on one line, at most {MAX_NAME} characters, in composed form (Unicode NFC), with single spaces "
    "inside and none around it, without control characters, invisible ones and marks of the direction of reading"
)

SLUG_RULE = "lower-case letters, digits and inner hyphens, at most 63 characters"

SLUG_PATTERN = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"

METRIC_RULE = "letters, digits and _ . @ = -, beginning with a letter, at most 64 characters"

METRIC_PATTERN = r"[A-Za-z][A-Za-z0-9_.@=-]{0,63}"

# Holders of tokens are named in addresses and headers of the command line, and these names come from nowhere else.
HOLDER_RULE = "letters, digits, spaces and . _ + ( ) -, beginning with a letter or digit, at most 100 characters"

_HOLDER = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._+() -]{0,98}[A-Za-z0-9._+()-])?")

TEXT_RULE = "text without control characters and without characters that turn the direction of reading"

# Control characters, surrogates, and line and paragraph separators.
_UNSHOWN = ("Cc", "Cs", "Zl", "Zp")

# The explicit marks of https://www.unicode.org/reports/tr9/#Directional_Formatting_Characters.
_TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")

# In a name, also characters without a glyph (format characters, other spaces) or without one in every font.
_NO_PART_OF_A_NAME = (*_UNSHOWN, "Cf", "Cn", "Co", "Zs")

# Invisible although they count as letters or marks: Default_Ignorable_Code_Point of
# https://www.unicode.org/Public/UCD/latest/ucd/DerivedCoreProperties.txt beside its Cf, and the empty Braille cell.
_EMPTY = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")

_QUOTE = re.compile('["“”„]')

# Punctuation that ends a clause, a quotation mark, or two lower-case words: names of models hardly have these.
_LIKE_PROSE = re.compile(r"[,;:!?…]\s|[\"“”„]|(?:^|[\s(])[^\W\dA-Z_]+[\s,.](?:.*[\s(])?[^\W\dA-Z_]+(?:$|[\s,.)])")

# More combining marks on one letter than any script needs; they would cover the lines above and below.
_MOST_MARKS = 4


def is_name(text: str) -> bool:
    """Say whether `text` may name an entrant, a task, a condition or an item."""
    return fault_of_name(text) is None


def fault_of_name(text: str) -> str | None:
    """Return why `text` cannot be a name, naming the character; None if it can."""
    if not 0 < len(text) <= MAX_NAME:
        return f"it has {len(text)} characters; from 1 to {MAX_NAME} are allowed"
    if text != text.strip() or "  " in text:
        return "it has spaces around it, or two in a row"
    if text.isascii():
        return None if text.isprintable() else _fault_of_characters(text)
    return _fault_of_characters(text) or _fault_of_spelling(text)


def complain_about_name(text: str | None) -> str:
    """Return the message for a cell without a valid name; `text` is None for an empty cell."""
    if text is None:
        return "the cell is empty"
    return f"not a name that is allowed: {fault_of_name(text) or 'it is not printable'}; a name is {NAME_RULE}"


def name_key(text: str) -> str:
    """Return a key that is equal for two spellings of one name: compatibility forms and case are ignored.

    Unicode's compatibility caseless match (The Unicode Standard, section 3.13, D146): NFKC(fold(NFKC(fold(NFD)))).

    >>> name_key("GPT－4") == name_key("gpt-4")
    True
    """
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", text).casefold())
    return unicodedata.normalize("NFKC", folded.casefold())


LIKENESS = 0.7

MOST_ALIKE = 1_000
"""The most words among which one that was meant is looked for."""


def nearest(word: object, known: Iterable[str]) -> str | None:
    """Return the known word that was probably meant, in whatever case; None if none is close, or it is no text.

    Among more than `MOST_ALIKE` words none is looked for: each takes a twentieth of a millisecond, a long one two.

    >>> nearest("Leaderbords", ["leaderboards", "metrics"])
    'leaderboards'
    """
    if not isinstance(word, str) or len(word) > MAX_NAME:
        return None
    by_key = {name_key(each): each for each in known if len(each) <= MAX_NAME}
    if len(by_key) > MOST_ALIKE:
        return None
    matches = get_close_matches(name_key(word), by_key, n=1, cutoff=LIKENESS)
    return by_key[matches[0]] if matches else None


def in_words(name: str) -> str:
    """Return a name for use in a sentence: in quotation marks where it could be read as part of the sentence.

    Otherwise an entrant called "B; nobody else may be first" would make that claim in the board's own notes.

    >>> in_words("GPT-4o (0-shot)"), in_words("Stat. Ensemble"), in_words("B; nobody else may be first")
    ('GPT-4o (0-shot)', 'Stat. Ensemble', '“B; nobody else may be first”')
    """
    is_prose = _LIKE_PROSE.search(name) is not None
    return "“" + _QUOTE.sub("'", name) + "”" if is_prose else name


def is_holder(text: str) -> bool:
    """Say whether `text` may name the holder of a token."""
    return _HOLDER.fullmatch(text) is not None and "  " not in text


def is_plain_text(text: str) -> bool:
    """Say whether every character of a free text is shown in its place: no control character, nothing that turns
    the direction of reading.
    """
    return not any(unicodedata.category(c) in _UNSHOWN or c in _TURNING for c in text)


def has_plain_lines(text: str) -> bool:
    """Say whether a text of one or more lines, with tabs, has no other character than a plain text has.

    >>> has_plain_lines("one\\n\\ttwo"), has_plain_lines("a\\u202eb")
    (True, False)
    """
    return (text.isascii() and text.isprintable()) or all(map(is_plain_text, _LINE_BREAKS.split(text)))


_LINE_BREAKS = re.compile(r"[\n\r\t]")


def repeated(names: Iterable[str]) -> list[str]:
    """Return the names that are there more than once, each once, in order.

    >>> repeated(["b", "a", "b", "a", "c"])
    ['a', 'b']
    """
    return sorted(name for name, n in Counter(names).items() if n > 1)


def clip_for_message(text: str, limit: int = 80) -> str:
    """Return `text` made safe for an error message: printable and short."""
    printable = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text[: limit + 1])
    return printable if len(printable) <= limit else printable[:limit] + "…"


def first_few(
    each: Sequence[Listed], shown: int = 10, write: Callable[[Listed], str] = str, between: str = ", "
) -> str:
    """Return what a message lists, such as names: the first few, as they are written, and how many more there are.

    >>> first_few(["a", "b", "c"], 2), first_few(["a is b", "c is d", "e is f"], 2, between="; ")
    ('a, b and 1 more', 'a is b; c is d; and 1 more')
    """
    last = " and" if between == ", " else f"{between}and"
    rest = f"{last} {len(each) - shown:,} more" if len(each) > shown else ""
    return between.join(map(write, each[:shown])) + rest


SHOWN = 6
"""Names that the note of a board lists."""


def sentences(texts: Sequence[str]) -> str:
    """Return the first few texts as a list in a sentence, with the number of the rest.

    >>> sentences(["A", "B"]), sentences("ABCDEFGH")
    ('A, B', 'A, B, C, D, E, F and 2 more')
    """
    return first_few(texts, SHOWN)


def names_in_words(names: Sequence[str], last: str = "") -> str:
    """Return names chosen by submitters as a list in a sentence, quoted so that none can read as part of it.

    Where all are listed, `last` is the word before the last one instead of a comma.

    >>> names_in_words(["A", "B; nobody else may be first"]), names_in_words(["A", "B", "C"], "or")
    ('A, “B; nobody else may be first”', 'A, B or C')
    """
    written = [in_words(name) for name in names]
    if last and 1 < len(written) <= SHOWN:
        return f"{', '.join(written[:-1])} {last} {written[-1]}"
    return sentences(written)


def _fault_of_characters(text: str) -> str | None:
    for c in text:
        if (c != " " and unicodedata.category(c) in _NO_PART_OF_A_NAME) or _EMPTY.match(c):
            return f"it has a character that is not shown, or not alike everywhere: {_described(c)}"
    return None


def _fault_of_spelling(text: str) -> str | None:
    if not unicodedata.is_normalized("NFC", text):
        return "it is not in composed form (Unicode NFC)"
    if len(unicodedata.normalize("NFKC", text)) > MAX_NAME:
        return f"written out (Unicode NFKC) it has more than {MAX_NAME} characters"
    if unicodedata.combining(text[0]) or unicodedata.category(text[0]) == "Mn":
        return f"it begins with a mark that belongs to a letter: {_described(text[0])}"
    return f"it has more than {_MOST_MARKS} marks upon one letter" if _has_many_marks(text) else None


def _has_many_marks(text: str) -> bool:
    n_marks = 0
    for c in text:
        n_marks = n_marks + 1 if unicodedata.category(c) in ("Mn", "Me") else 0
        if n_marks > _MOST_MARKS:
            return True
    return False


def _described(character: str) -> str:
    return f"U+{ord(character):04X} {unicodedata.name(character, '')}".rstrip()


def group_in_words(name: str) -> str:
    """Return what a reader calls a group of tasks that is named by its column and its value.

    >>> group_in_words("task_type:Retrieval"), group_in_words("n:128"), group_in_words("STS")
    ('Retrieval', 'n 128', 'STS')
    """
    column, _, value = name.rpartition(":")
    return f"{column} {value}".strip() if value[:1].isdigit() else value


# A number with its noun. Called wherever a message, a note or a page counts something.


def count(n: int, noun: str) -> str:
    """Return a number with its noun, in the plural except for 1.

    >>> count(1, "task"), count(1200, "task")
    ('1 task', '1,200 tasks')
    """
    return f"{n:,} {noun if n == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """Return the plural of a regular noun.

    >>> plural("data set"), plural("entry"), plural("box"), plural("toy")
    ('data sets', 'entries', 'boxes', 'toys')
    """
    if noun.endswith("y") and noun[-2:-1] not in tuple("aeiou"):
        return f"{noun[:-1]}ies"
    return f"{noun}{'es' if noun.endswith(('s', 'x', 'z', 'ch', 'sh')) else 's'}"
