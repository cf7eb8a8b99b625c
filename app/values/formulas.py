"""The mark that keeps a spreadsheet from running text as a formula: added on export and removed on upload. A text that
begins like a formula gets an apostrophe in front; so does one that begins with apostrophes and then like a formula,
so that taking one apostrophe away gives every text back as it was. JSON and Parquet carry texts as they are.
Source: OWASP, CSV Injection, which lists the characters; `|` begins a call of another program in old spreadsheets.
"""

import re

# The full-width forms begin a formula in some languages of Excel.
STARTS = "=+\\-@|\\t\\r\\n＝＋－＠｜"
_GUARDED = re.compile(f"'*[{STARTS}]")
MARKED_PATTERN = f"^'+[{STARTS}]"
"""The pattern of a marked text, for readers of whole columns."""


def guard_formula(text: str) -> str:
    """Return a text as a CSV cell that no spreadsheet runs.

    A text of digits is guarded too: an entrant `-1` stays that name. Numbers are written as numbers, not as texts.

    >>> guard_formula("=1+1"), guard_formula("'=1+1"), guard_formula("it's"), guard_formula("-1")
    ("'=1+1", "''=1+1", "it's", "'-1")
    """
    return f"'{text}" if _GUARDED.match(text) else text


def read_off_guard(cell: str) -> str:
    """Return the original text of a cell from `guard_formula`.

    >>> [read_off_guard(guard_formula(text)) for text in ("=1+1", "'=1+1", "'quoted'", "-")]
    ['=1+1', "'=1+1", "'quoted'", '-']
    """
    return cell[1:] if cell.startswith("'") and _GUARDED.match(cell) else cell
