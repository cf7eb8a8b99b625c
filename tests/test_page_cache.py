"""The cache of published pages: queries without end do not push out the pages that everybody reads."""

import asyncio
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from app.web.cache import PublishedPages
from tests.conftest import Site
from tests.test_walkthrough import declare

BODY = b"x" * 900


class Counting:
    """An app that counts how often it is asked for each address."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with the same bytes."""
        self.asked.append(f"{scope['path']}?{scope['query_string'].decode()}")
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": BODY})


def scope_of(path: str, query: str = "") -> dict[str, Any]:
    """Return a request for a page."""
    return {
        "type": "http",
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [],
    }


async def receive() -> Message:
    """Give an empty body."""
    return {"type": "http.request", "body": b"", "more_body": False}


def fetch(pages: PublishedPages, path: str, query: str = "") -> None:
    """Ask for a page."""

    async def send(message: Message) -> None:
        """Take what is sent."""

    asyncio.run(pages(scope_of(path, query), receive, send))


def test_a_page_is_rendered_once() -> None:
    """The second reader gets the bytes of the first."""
    app = Counting()
    pages = PublishedPages(app, 100_000)
    fetch(pages, "/benchmarks/a")
    fetch(pages, "/benchmarks/a")

    assert app.asked == ["/benchmarks/a?"]


def test_another_query_is_another_page() -> None:
    """What is narrowed to one task is not what is narrowed to another."""
    app = Counting()
    pages = PublishedPages(app, 100_000)
    for query in ("task=t", "task=u", "task=t"):
        fetch(pages, "/benchmarks/a", query)

    assert app.asked == ["/benchmarks/a?task=t", "/benchmarks/a?task=u"]


def test_queries_without_end_leave_the_plain_pages() -> None:
    """A thousand queries take each other's place and nobody else's."""
    app = Counting()
    pages = PublishedPages(app, 100_000)
    fetch(pages, "/benchmarks/a")
    for number in range(1000):
        fetch(pages, "/benchmarks/a", f"task={number}")
    asked = len(app.asked)
    fetch(pages, "/benchmarks/a")

    assert len(app.asked) == asked


def test_the_length_of_an_address_counts() -> None:
    """Long queries to small pages cannot fill the memory either: only as many are kept as fit with their addresses."""
    app = Counting()
    pages = PublishedPages(app, 100_000)
    for number in range(10):
        fetch(pages, "/benchmarks/a", f"task={number}" + "y" * 20_000)
    fetch(pages, "/benchmarks/a", "task=0" + "y" * 20_000)

    assert len(app.asked) == 11


def test_an_answer_not_to_be_kept_is_passed_on_as_it_comes() -> None:
    """A download is not gathered in memory first: its start is sent before its first block is made."""
    told: list[str] = []

    async def download(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"cache-control", b"no-store")]})
        for last in (False, True):
            told.append("made")
            await send({"type": "http.response.body", "body": BODY, "more_body": not last})

    async def send(message: Message) -> None:
        told.append(message["type"].removeprefix("http.response."))

    asyncio.run(PublishedPages(download, 100_000)(scope_of("/benchmarks/a"), receive, send))

    assert told == ["start", "made", "body", "made", "body"]


@pytest.mark.parametrize(
    ("accepted", "encoding"),
    [
        ("gzip", "gzip"),
        ("br;q=1.0, gzip;q=0.8, *;q=0.1", "gzip"),
        ("*", "gzip"),
        ("gzip;q=0", None),
        ("gzip; q=0.000, *", None),
        ("*;q=0", None),
        ("identity", None),
    ],
)
def test_a_page_is_compressed_for_those_who_take_it(site: Site, accepted: str, encoding: str | None) -> None:
    """A quality of zero refuses."""
    declare(site)
    answer = site.http.get("/benchmarks/tiny", headers={"Accept-Encoding": accepted})

    assert answer.headers.get("content-encoding") == encoding


def test_a_file_of_the_pages_has_one_address(site: Site) -> None:
    """The stylesheet is where the pages say; another name is not found and not kept."""
    address = next(part for part in site.http.get("/").text.split('"') if part.startswith("/static/"))
    wrong = site.http.get("/static/plumbline.css")

    assert site.http.get(address).headers["content-type"].startswith("text/css")
    assert (wrong.status_code, wrong.headers["cache-control"]) == (404, "no-store")
