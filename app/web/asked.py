"""The parts of a request that a published page may depend on. Called by `app.web.cache`."""

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote

from starlette.types import Scope

from app.web.cookies import SESSION
from app.web.kept_pages import Ask, accepts_gzip
from app.web.queries import without_passed_over

COOKIE = f"{SESSION}=".encode()


FRESH = (b"no-cache", b"max-age=0")


@dataclass(frozen=True)
class Asked:
    """What a page may depend on, whether the client accepts gzip, whether a stale page will do, and credentials."""

    ask: Ask
    packs: bool
    insists: bool
    by_somebody: bool


def read_scope(scope: Scope) -> Asked:
    """Return the relevant parts of a request, from its headers and its address."""
    packs = wants_html = insists = by_somebody = False
    for name, value in scope["headers"]:
        if name == b"accept-encoding":
            packs = accepts_gzip(value)
        elif name == b"accept":
            wants_html = b"text/html" in value
        elif name == b"authorization" or (name == b"cookie" and COOKIE in value):
            by_somebody = True
        elif name == b"cache-control":
            insists = any(directive in value.lower() for directive in FRESH)
    query = without_passed_over(scope["query_string"])
    return Asked(Ask(scope["path"], scope["raw_path"], query, wants_html), packs, insists, by_somebody)


def main_addresses(home: str, boards: list[str]) -> Iterator[str]:
    """Yield the addresses of a benchmark that most readers open: its page and those of its boards."""
    yield home
    for board in boards:
        yield f"{home}/leaderboards/{board}"


def plain_ask(path: str) -> Ask:
    """Return the request that a browser makes for an address without a query."""
    return Ask(path, quote(path).encode(), b"", wants_html=True)
