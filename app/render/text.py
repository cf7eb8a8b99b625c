"""Values and addresses as people read them: fixed digits, times in UTC, Markdown without anything that runs."""

import re
from datetime import UTC, datetime
from urllib.parse import quote

import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup

from app.names import count
from app.values.table import Cell, Column

MINUS, DASH = "−", "–"

DIGITS = 3

# Of these no one is zero: what would be shown as zero is given as below the last digit.
P_VALUES = ("p_value", "p_holm", "first_p")

# Of these no one is certain: they are shares of resamples, and those are some of many.
PROBABILITIES = ("p_a_beats_b",)

# Beyond this nobody counts the digits, and one such number would push every column off the screen.
LARGEST_IN_FULL = 1e7

SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def format_cell(column: Column, cell: Cell) -> str:
    """Return a cell as text: a dash for null, true minus signs, as many digits as its column has."""
    if cell is None:
        return DASH
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        digits = DIGITS if column.digits is None else column.digits
        if column.name in PROBABILITIES:
            return format_probability(cell, digits)
        least = 10.0**-digits
        if column.name not in P_VALUES or cell <= 0.0:
            return format_number(cell, digits)
        return f"< {format_number(least, digits)}" if cell < least else format_p_value(cell, digits)
    if isinstance(cell, int):
        return format_number(cell, 0)
    return in_seconds(datetime.fromisoformat(cell)) if column.kind == "time" else cell


def format_probability(share: float, digits: int) -> str:
    """Return a probability that was estimated from resamples: near 0 and 1 it is given as beyond the last digit."""
    least = 10.0**-digits
    if share < least:
        return f"< {format_number(least, digits)}"
    return f"> {format_number(1.0 - least, digits)}" if share > 1.0 - least else format_number(share, digits)


def format_p_value(p_value: float, digits: int) -> str:
    """Return a p-value that is not below the last digit: the smallest with one more, so that two of it are shown.

    >>> format_p_value(0.00016, 4), format_p_value(0.0012, 4), format_p_value(0.0001, 4)
    ('0.00016', '0.0012', '0.0001')
    """
    return format_number(p_value, digits + (10.0**-digits < p_value < 10.0 ** (1 - digits)))


def format_number(number: float, digits: int) -> str:
    """Return a number with thousands separators; what rounds to zero has no sign, what is huge is a power of ten."""
    if digits and abs(number) >= LARGEST_IN_FULL:
        factor, _, exponent = f"{number:.{digits}e}".partition("e+")
        return f"{factor} × 10{str(int(exponent)).translate(SUPERSCRIPTS)}".replace("-", MINUS)
    shown = f"{number:,.{digits}f}"
    return shown.lstrip("-") if not shown.strip("-0.,") else shown.replace("-", MINUS)


def compact(number: float, digits: int = 15) -> str:
    """Return a number as it is read quickly, with so many digits at most.

    >>> compact(7_000_000_000), compact(0.25), compact(306_941_184, 4)
    ('7 B', '0.25', '306.9 M')
    """
    for size, word in ((1e12, " T"), (1e9, " B"), (1e6, " M"), (1e3, " k")):
        if abs(number) >= size:
            return f"{number / size:.{digits}g}{word}"
    return f"{number:.{digits}g}"


def decimals_of(value: float) -> int:
    """Return how many decimals a round value has, at most six."""
    return next((digits for digits in range(6) if abs(value - round(value, digits)) < 1e-9 * max(1.0, abs(value))), 6)


def two_digits(number: float) -> str:
    """Return a number with two digits, as one writes it.

    >>> two_digits(317.3), two_digits(0.0512)
    ('320', '0.051')
    """
    return f"{float(f'{number:.2g}'):,g}"


def moment(at: datetime | str) -> Markup:
    """Return a time, or its ISO 8601 text, as the UTC time that both a person and a machine can read."""
    known = datetime.fromisoformat(at) if isinstance(at, str) else at
    machine = known.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return Markup('<time datetime="{}">{}</time>').format(machine, in_seconds(known))


def in_seconds(at: datetime) -> str:
    """Return a time as text: UTC, to the second."""
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def plain_words(term: str) -> str:
    """Return a stored term such as `not_admitted` as words."""
    return term.replace("_", " ")


def known_anchor(heading: str) -> str:
    """Return the anchor of a heading of what stands behind a board's ranks.

    >>> known_anchor("Missing results")
    'known-missing-results'
    """
    return f"known-{heading.lower().replace(' ', '-')}"


RULES = {
    "prereg": "preregistration", "prereg_form": "form of the preregistration", "min_seeds": "enough seeds",
    "prereg_benchmark": "benchmark of the preregistration", "prereg_unchanged": "preregistration unchanged",
    "registered_by": "who registered it", "run_purpose": "purpose of the run", "dirty": "code committed",
    "git_tag": "tag of the code", "attempt": "which try it is", "forensics": "copies and repeats",
    "ladder": "better than what was shown", "quota": "tries left on the labels",
}  # fmt: skip
"""What pages call an admission rule where its name is not plain words."""


def rule_in_words(rule: str) -> str:
    """Return what pages call an admission rule.

    >>> rule_in_words("dirty"), rule_in_words("registered_before_run")
    ('code committed', 'registered before run')
    """
    return RULES.get(rule) or plain_words(rule)


def markdown(text: str) -> Markup:
    """Return Markdown as HTML without anything that could run or load."""
    html = MarkdownIt("commonmark", {"html": False}).enable("table").render(text)
    tags = nh3.ALLOWED_TAGS - {"img"}
    return Markup(nh3.clean(html, tags=tags, link_rel="nofollow noopener"))  # noqa: S704 - cleaned by nh3


# A name within an address, and back.
#
# Addresses stay readable: a slash in a name is a slash, `EleutherAI/pythia-160m` is found at
# `/entrants/EleutherAI/pythia-160m`. What an address would take for something else is written as `~` and two digits:
# the dot of an ending that asks for a format (`rows.csv` at `rows~2Ecsv`, its table as CSV at `rows~2Ecsv.csv`), the
# dots of steps that browsers and proxies resolve (`..`), slashes that they merge, percent signs, which some decode
# twice, and `~` itself. `~` is one of RFC 3986's unreserved characters, so nothing on the way rewrites it.

FORMATS = ("csv", "json", "yaml", "ndjson", "arrow", "parquet", "svg", "png")

# Of the characters that RFC 3986 allows in a path, these are not encoded, because names of models contain them.
_READABLE = "/()=,:+@!"

_ENDING = re.compile(rf"\.(?=(?:{'|'.join(FORMATS)})$)")

_STEP = re.compile(r"(?<![^/])\.{1,2}(?![^/])")

_MERGED = re.compile(r"^/|(?<=/)/|/$")

_ESCAPE = re.compile(r"~(7E|25|2E|2F)")


def path_of_name(name: str) -> str:
    """Return a name as it is in an address, percent-encoded.

    >>> path_of_name("voyage-3.5 (output_dtype=int8)"), path_of_name("../a/b.csv")
    ('voyage-3.5%20(output_dtype=int8)', '~2E~2E/a/b~2Ecsv')
    """
    text = _ENDING.sub("~2E", name.replace("~", "~7E").replace("%", "~25"))
    text = _STEP.sub(lambda step: "~2E" * len(step.group()), text)
    return quote(_MERGED.sub("~2F", text), safe=_READABLE)


def in_format(address: str, ending: str) -> str:
    """Return the address of the same rows in another format.

    >>> in_format("/benchmarks/mteb/leaderboards/mean?snapshot=3", "csv")
    '/benchmarks/mteb/leaderboards/mean.csv?snapshot=3'
    """
    path, mark, query = address.partition("?")
    return f"{path}.{ending}{mark}{query}"


def name_in_path(tail: str) -> str:
    """Return the name in an address whose percent signs are decoded already.

    >>> name_in_path("~2E~2E/a/b~2Ecsv")
    '../a/b.csv'
    """
    return _ESCAPE.sub(lambda escape: chr(int(escape.group(1), 16)), tail)


# How many there are, in words.


def rows_in_words(n_rows: int) -> str:
    """Return how many rows a table has.

    >>> [rows_in_words(n) for n in (0, 1, 1234)]
    ['No rows', '1 row', '1,234 rows']
    """
    return count(n_rows, "row") if n_rows else "No rows"
