"""A name within an address, and back. Called by the web, by the templates and by the command line.

Addresses stay readable: a slash in a name is a slash, `EleutherAI/pythia-160m` is found at
`/entrants/EleutherAI/pythia-160m`. What an address would take for something else is written as `~` and two digits: the
dot of an ending that asks for a format (`rows.csv` at `rows~2Ecsv`, its table as CSV at `rows~2Ecsv.csv`), the dots of
steps that browsers and proxies resolve (`..`), slashes that they merge, percent signs, which some decode twice, and `~`
itself. `~` is one of RFC 3986's unreserved characters, so nothing on the way rewrites it.
"""

import re
from urllib.parse import quote

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


def name_in_path(tail: str) -> str:
    """Return the name in an address whose percent signs are decoded already.

    >>> name_in_path("~2E~2E/a/b~2Ecsv")
    '../a/b.csv'
    """
    return _ESCAPE.sub(lambda escape: chr(int(escape.group(1), 16)), tail)
