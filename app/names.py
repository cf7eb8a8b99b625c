"""Which names may enter: the characters that are safe in CSV cells, HTML, URLs and file names.

ASCII on purpose: two names that look alike must be alike. The first character is a letter or a digit, so
no spreadsheet takes a name for a formula.
"""

import re
import unicodedata

MAX_NAME = 100

NAME_RULE = (
    "letters, digits, spaces and . _ + ( ) -, beginning with a letter or digit, at most 100 characters, "
    "not ending in .csv, .json or .yaml"
)
NAME_PATTERN = r"[A-Za-z0-9](?:[A-Za-z0-9._+() -]{0,98}[A-Za-z0-9._+()-])?"

# Tasks are named by their data, whose names have parts (fev: `uk_covid_utla_1D/new`).
TASK_PATTERN = rf"{NAME_PATTERN}(?:/{NAME_PATTERN}){{0,3}}"

SLUG_RULE = "lower-case letters, digits and inner hyphens, at most 63 characters"
SLUG_PATTERN = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"

METRIC_RULE = "letters, digits and _ . @ = -, beginning with a letter, at most 64 characters"
METRIC_PATTERN = r"[A-Za-z][A-Za-z0-9_.@=-]{0,63}"

_NAME = re.compile(NAME_PATTERN)
_TASK = re.compile(TASK_PATTERN)
TEXT_RULE = "text without control characters and without characters that turn the direction of reading"
# Control characters, halves of characters, and separators of lines and paragraphs.
_UNSHOWN = ("Cc", "Cs", "Zl", "Zp")
# The explicit marks of https://www.unicode.org/reports/tr9/#Directional_Formatting_Characters.
_TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
# A page's address plus one of these is its table as data, so no name may end so.
_RESERVED_ENDINGS = (".csv", ".json", ".yaml")


def is_name(text: str) -> bool:
    """Say whether `text` may name an entrant or a condition."""
    return _is_safe(text) and _NAME.fullmatch(text) is not None


def is_task_name(text: str) -> bool:
    """Say whether `text` may name a task: as an entrant's name, or up to four of them joined by a slash."""
    return _is_safe(text) and _TASK.fullmatch(text) is not None


def _is_safe(text: str) -> bool:
    return len(text) <= MAX_NAME and "  " not in text and not text.lower().endswith(_RESERVED_ENDINGS)


def is_plain_text(text: str) -> bool:
    """Say whether every character of a free text is shown in its place: no control character, nothing that turns
    the direction of reading.
    """
    return not any(unicodedata.category(c) in _UNSHOWN or c in _TURNING for c in text)


def clip_for_message(text: str, limit: int = 80) -> str:
    """Return `text` made harmless for an error message: printable and short."""
    printable = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text[: limit + 1])
    return printable if len(printable) <= limit else printable[:limit] + "…"
