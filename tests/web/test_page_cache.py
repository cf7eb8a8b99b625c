"""The cache of published pages: one render however many wait, old pages marked, and nothing of the client's in them."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import psycopg
import pytest
from starlette.types import Message, Receive, Scope, Send

from app.config import Settings
from app.web.page_cache import (
    ANYTHING,
    BOARDS,
    EVERY_BENCHMARK,
    MOST_AHEAD,
    NEVER,
    Freshness,
    PublishedPages,
    part_of,
    watch,
    worth_making_ahead,
)
from app.web.renderer import MOST_WAITING
from tests.cases.walkthrough import declare
from tests.fixtures import Site, open_site

BODY = b"x" * 900
HOME, BOARD = "/benchmarks/a", "/benchmarks/a/leaderboards/b"


class Counting:
    """An app that counts how often it is asked for each address; a gate holds its answers back."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.status = 200
        self.headers: list[tuple[bytes, bytes]] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with the number of the answer."""
        self.asked.append(f"{scope['path']}?{scope['query_string'].decode()}")
        number = len(self.asked)
        await self.gate.wait()
        await send({"type": "http.response.start", "status": self.status, "headers": self.headers})
        await send({"type": "http.response.body", "body": BODY + b"%d" % number})


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now


def heard(clock: Clock | None = None) -> Freshness:
    """Return what is known of changes just after the database was asked: of a and of b nothing has changed."""
    freshness = Freshness(clock or Clock())
    freshness.hear()
    for slug in ("a", "b"):
        freshness.note(slug, 1, 1)
    return freshness


def scope_of(
    path: str, query: str = "", headers: tuple[tuple[bytes, bytes], ...] = (), address: str = "192.0.2.1"
) -> dict[str, Any]:
    """Return a request for a page."""
    return {
        "type": "http",
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": list(headers),
        "client": (address, 1),
    }


async def receive() -> Message:
    """Give an empty body."""
    return {"type": "http.request", "body": b"", "more_body": False}


async def read(
    pages: PublishedPages, path: str, query: str = "", address: str = "192.0.2.1", **headers: str
) -> tuple[int, bytes, bytes]:
    """Ask for a page and return status, the number of its render, and how it is marked."""
    messages: list[Message] = []

    async def send(message: Message) -> None:
        messages.append(message)

    sent = tuple((name.replace("_", "-").encode(), value.encode()) for name, value in headers.items())
    await pages(scope_of(path, query, sent, address), receive, send)
    mark = dict(messages[0]["headers"]).get(b"cache-status", b"")
    return messages[0]["status"], messages[1]["body"].removeprefix(BODY), mark


def fetch(pages: PublishedPages, path: str, query: str = "") -> None:
    """Ask for a page, once."""
    asyncio.run(read(pages, path, query))


@pytest.mark.parametrize("query", ["utm_after=1", "fbclid=x&utm_source=y", "%75tm_a=1", "gclid"])
def test_what_no_page_reads_makes_no_page_of_its_own(query: str) -> None:
    """Parameters that other sites put behind a link lead to the kept page: nobody passes the cache by them."""
    app = Counting()
    pages = PublishedPages(app, 100_000, heard())
    fetch(pages, BOARD)
    fetch(pages, BOARD, query)
    fetch(pages, BOARD, f"sort=x&{query}")
    fetch(pages, BOARD, f"{query}&sort=x")

    assert app.asked == [f"{BOARD}?", f"{BOARD}?sort=x"]


def test_readers_who_come_together_wait_for_one_render() -> None:
    """However many ask for a page that is not there, it is rendered once, and all of them get it."""

    async def ask() -> tuple[list[str], set[bytes]]:
        app = Counting()
        app.gate.clear()
        pages = PublishedPages(app, 100_000, heard())
        async with asyncio.TaskGroup() as group:
            readers = [group.create_task(read(pages, BOARD)) for _ in range(50)]
            await asyncio.sleep(0)
            app.gate.set()
        return app.asked, {reader.result()[1] for reader in readers}

    assert asyncio.run(ask()) == ([f"{BOARD}?"], {b"1"})


def test_a_reader_who_goes_away_takes_no_render_along() -> None:
    """Those who wait for the same page get it all the same."""

    async def ask() -> tuple[list[str], bytes]:
        app = Counting()
        app.gate.clear()
        pages = PublishedPages(app, 100_000, heard())
        first, second = (asyncio.create_task(read(pages, BOARD)) for _ in range(2))
        while not app.asked:
            await asyncio.sleep(0)
        first.cancel()
        app.gate.set()
        return app.asked, (await second)[1]

    assert asyncio.run(ask()) == ([f"{BOARD}?"], b"1")


async def _while_stale(work: Callable[[PublishedPages, Counting, Freshness, Clock], Awaitable[Any]]) -> Any:
    """Do something with a board that was kept and has changed two seconds ago; its new render is held back."""
    app, clock = Counting(), Clock()
    freshness = heard(clock)
    pages = PublishedPages(app, 100_000, freshness, max_stale_s=10)
    await read(pages, BOARD)
    freshness.note("a", 2, 2)
    clock.now += 2
    freshness.hear()
    app.gate.clear()
    try:
        return await work(pages, app, freshness, clock)
    finally:
        app.gate.set()
        await pages.stop()


def test_the_old_page_is_served_and_marked_until_the_new_one_is_there() -> None:
    """Nobody waits for a render; the mark says how old the page is, in the terms of RFC 9211."""

    async def ask(pages: PublishedPages, app: Counting, _freshness: Freshness, _clock: Clock) -> Any:
        old = await read(pages, BOARD)
        while len(app.asked) < 2:
            await asyncio.sleep(0)
        app.gate.set()
        new = await read(pages, BOARD, cache_control="no-cache")
        return old, new, await read(pages, BOARD)

    old, new, after = asyncio.run(_while_stale(ask))

    assert old == (200, b"1", b"plumbline; hit; ttl=-2; detail=stale")
    assert new == after == (200, b"2", b"")


def test_a_page_that_is_too_old_is_waited_for() -> None:
    """Nothing that was withdrawn is shown for longer than the setting."""

    async def ask(pages: PublishedPages, app: Counting, freshness: Freshness, clock: Clock) -> Any:
        clock.now += 10
        freshness.hear()
        app.gate.set()
        return await read(pages, BOARD)

    assert asyncio.run(_while_stale(ask))[1] == b"2"


def test_however_many_insist_a_page_is_rendered_once() -> None:
    """Not at all where what is kept shows what there is: nobody gains work of the server by asking for it."""

    async def ask(pages: PublishedPages, app: Counting, _freshness: Freshness, _clock: Clock) -> Any:
        app.gate.set()
        many = [asyncio.create_task(read(pages, BOARD, cache_control="no-cache")) for _ in range(50)]
        bodies = {(await each)[1] for each in many}
        first = len(app.asked)
        for _ in range(50):
            await read(pages, BOARD, cache_control="no-cache")
        return bodies, first, len(app.asked)

    assert asyncio.run(_while_stale(ask)) == ({b"2"}, 2, 2)


def test_credentials_that_see_nothing_more_are_answered_with_the_kept_list() -> None:
    """However often, and whoever sees more is answered by the app."""
    app, asked = Counting(), []

    async def sees_more(scope: Scope) -> bool:
        asked.append(scope["path"])
        return dict(scope["headers"])[b"authorization"] == b"Bearer member"

    async def ask() -> list[int]:
        pages = PublishedPages(app, 100_000, heard(), sees_more=sees_more)
        counts = []
        for text in ("wrong", "wrong", "another", "member", "member"):
            await read(pages, "/benchmarks.json", authorization=f"Bearer {text}")
            counts.append(len(app.asked))
        return counts

    assert asyncio.run(ask()) == [1, 1, 1, 2, 3]
    assert asked == ["/benchmarks.json"] * 5


AN_HOUR_S = 3600


@pytest.mark.parametrize("directive", ["max-age=100", "no-cache"])
def test_as_long_as_the_database_is_away_a_page_is_served_that_has_just_changed(directive: str) -> None:
    """Marked, however long that takes and however much its reader insists; then the new one is."""

    async def ask(pages: PublishedPages, app: Counting, freshness: Freshness, clock: Clock) -> Any:
        app.gate.set()
        app.status = 503
        freshness.miss()
        clock.now += AN_HOUR_S
        served = await read(pages, BOARD, cache_control=directive)
        app.status = 200
        freshness.hear()
        clock.now += 1
        return served, await read(pages, BOARD)

    served, after = asyncio.run(_while_stale(ask))

    assert served == (200, b"1", b"plumbline; hit; ttl=-3602; detail=stale")
    assert after[2] == b""
    assert after[1] > b"1"


def test_a_page_that_is_not_known_to_be_old_outlasts_a_database_that_is_away() -> None:
    """Marked as old since there was last word of it; nobody need say that the database is away."""

    async def ask() -> Any:
        app, clock = Counting(), Clock()
        pages = PublishedPages(app, 100_000, heard(clock), max_stale_s=10)
        await read(pages, BOARD)
        app.status = 503
        clock.now += AN_HOUR_S
        served = await read(pages, BOARD)
        await pages.stop()
        return served

    assert asyncio.run(ask()) == (200, b"1", b"plumbline; hit; ttl=-3600; detail=stale")


def test_a_page_that_the_database_cannot_give_is_served_although_the_counters_are_read() -> None:
    """A table that somebody holds: the render is refused for the database's sake, and the old page stands in."""

    async def ask(pages: PublishedPages, app: Counting, freshness: Freshness, clock: Clock) -> Any:
        app.gate.set()
        app.status, app.headers = 503, [(b"plumbline-cause", b"database")]
        clock.now += 100
        freshness.hear()
        first = await read(pages, BOARD)
        clock.now += 1
        freshness.hear()
        return first, await read(pages, BOARD)

    first, again = asyncio.run(_while_stale(ask))

    assert [first[:2], again[:2]] == [(200, b"1")] * 2
    assert b"detail=stale" in first[2]


def test_a_page_that_is_late_for_another_reason_is_withheld() -> None:
    """The database answers: who may be shown nothing that old is told so."""

    async def ask(pages: PublishedPages, app: Counting, freshness: Freshness, clock: Clock) -> Any:
        app.gate.set()
        app.status = 503
        clock.now += 100
        freshness.hear()
        return await read(pages, BOARD)

    assert asyncio.run(_while_stale(ask))[0] == 503


def test_with_no_old_pages_at_all_none_is_served_while_the_database_is_away() -> None:
    """A setting of 0 says that nothing old is served."""

    async def ask() -> Any:
        app, clock = Counting(), Clock()
        freshness = heard(clock)
        pages = PublishedPages(app, 100_000, freshness, max_stale_s=0)
        await read(pages, BOARD)
        app.status = 503
        clock.now += 100
        freshness.miss()
        return await read(pages, BOARD)

    assert asyncio.run(ask())[0] == 503


def test_what_is_public_no_longer_is_not_served_while_the_database_is_away() -> None:
    """When the database last answered it was withdrawn, and it is kept no longer."""

    async def ask(pages: PublishedPages, app: Counting, freshness: Freshness, _clock: Clock) -> Any:
        app.gate.set()
        app.status = 503
        freshness.note_others_gone(["b"])
        freshness.miss()
        return await read(pages, BOARD)

    assert asyncio.run(_while_stale(ask))[0] == 503


def test_what_is_said_to_be_shown_is_waited_for() -> None:
    """Once a process has said that it shows a publication, nobody gets the page before it."""

    async def ask(pages: PublishedPages, app: Counting, freshness: Freshness, _clock: Clock) -> Any:
        before = await read(pages, BOARD)
        freshness.require(("a", BOARDS), freshness.count(("a", BOARDS)))
        reading = asyncio.create_task(read(pages, BOARD))
        while len(app.asked) < 2:
            await asyncio.sleep(0)
        waits = not reading.done()
        app.gate.set()
        return before, waits, await reading

    before, waits, after = asyncio.run(_while_stale(ask))

    assert before == (200, b"1", b"plumbline; hit; ttl=-2; detail=stale")
    assert waits
    assert after == (200, b"2", b"")


def test_pages_in_use_are_made_anew_before_a_publication_is_said_to_be_shown() -> None:
    """So that their readers need not wait; one that nobody reads is made when somebody does."""

    async def ask() -> list[str]:
        app, clock = Counting(), Clock()
        freshness = heard(clock)
        pages = PublishedPages(app, 100_000, freshness, max_stale_s=10)
        await read(pages, f"{BOARD}.csv")
        clock.now += 60
        freshness.hear()
        for path in (BOARD, f"{HOME}.json", "/benchmarks.json"):
            await read(pages, path)
        clock.now += 2
        freshness.hear()
        freshness.note("a", 2, 2)
        before = len(app.asked)
        await pages.renew("a")
        renewed = sorted(app.asked[before:])
        assert freshness.is_refused(("a", BOARDS), 0)
        await pages.stop()
        return renewed

    assert asyncio.run(ask()) == ["/benchmarks.json?", f"{HOME}.json?", f"{BOARD}?"]


def test_a_process_that_was_stopped_looks_before_it_shows_anything_as_new() -> None:
    """Others did not wait for it, and may have said what it has not heard of."""

    async def ask() -> Any:
        app, clock = Counting(), Clock()
        freshness = heard(clock)
        pages = PublishedPages(app, 100_000, freshness, max_stale_s=10)
        await read(pages, BOARD)
        clock.now += 60
        reading = asyncio.create_task(read(pages, BOARD))
        for _ in range(10):
            await asyncio.sleep(0)
        waits = not reading.done()
        freshness.note("a", 2, 2)
        freshness.require_all()
        freshness.hear()
        return waits, await reading

    waits, shown = asyncio.run(ask())

    assert waits
    assert shown == (200, b"2", b"")


def test_another_benchmark_leaves_the_pages_alone() -> None:
    """Neither its submissions nor its boards make a page of this one old."""
    app, freshness = Counting(), heard()
    pages = PublishedPages(app, 100_000, freshness)
    fetch(pages, BOARD)
    freshness.note("b", 2, 2)
    fetch(pages, BOARD)

    assert app.asked == [f"{BOARD}?"]


def test_a_submission_leaves_the_boards_alone() -> None:
    """It changes the page that lists it, and a board only when it is published."""
    app, freshness = Counting(), heard()
    pages = PublishedPages(app, 100_000, freshness)
    for _ in range(2):
        fetch(pages, BOARD)
        fetch(pages, HOME)
        freshness.note("a", 2, 1)

    assert app.asked == [f"{BOARD}?", f"{HOME}?", f"{HOME}?"]


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("/", EVERY_BENCHMARK),
        ("/benchmarks.json", EVERY_BENCHMARK),
        ("/glossary", NEVER),
        ("/benchmarks/a", ("a", ANYTHING)),
        ("/benchmarks/a.json", ("a", ANYTHING)),
        ("/benchmarks/a/entrants/e.csv", ("a", ANYTHING)),
        ("/benchmarks/a/leaderboards/b/pairwise.csv", ("a", BOARDS)),
        ("/benchmarks/a/claims.csv", ("a", BOARDS)),
        ("/benchmarks/a/tables.zip", None),
        ("/benchmarks/a/labels", None),
        ("/benchmarks/a/submissions", None),
        ("/submissions/1", None),
        ("/healthz", None),
    ],
)
def test_an_address_says_what_its_page_depends_on(path: str, part: tuple[str, str] | None) -> None:
    """What is private, a download, or somebody's own is not kept."""
    assert part_of(path) == part


def test_at_publication_the_pages_that_are_read_are_made() -> None:
    """Boards that nobody has asked for yet, and those that are kept: no reader waits for either."""

    async def ask() -> tuple[list[str], list[tuple[int, bytes, bytes]]]:
        app, freshness = Counting(), heard()
        pages = PublishedPages(app, 100_000, freshness, max_stale_s=10)
        await read(pages, f"{HOME}/claims")
        freshness.note("a", 2, 2)
        freshness.clock.now += 1  # type: ignore[attr-defined]
        pages.publish("a", ["b"])
        await asyncio.gather(*(rendering.task for rendering in pages._renderings.values() if rendering.task))
        return sorted(app.asked), [await read(pages, path) for path in (f"{HOME}/claims", HOME, BOARD)]

    asked, served = asyncio.run(ask())

    assert asked == sorted([f"{HOME}/claims?", f"{HOME}/claims?", f"{HOME}?", f"{BOARD}?"])
    assert {mark for _, _, mark in served} == {b""}


def test_a_lost_notification_is_noticed(database_url: str) -> None:
    """The counters are read each second whether anything was heard or not."""
    reported: list[str] = []

    async def look() -> None:
        freshness = Freshness()
        seen = asyncio.Event()

        def published(slug: str, _boards: list[str]) -> None:
            reported.append(slug)
            seen.set()

        async def shown(_slug: str, _boards: int) -> None:
            pass

        watching = asyncio.create_task(watch(database_url, freshness, published, shown))
        async with asyncio.timeout(20):
            await seen.wait()
            seen.clear()
            async with await psycopg.AsyncConnection.connect(database_url, autocommit=True) as connection:
                await connection.execute("UPDATE benchmark SET boards_version = boards_version + 1")
            await seen.wait()
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)

    with open_site(database_url, Settings(max_stale_s=0)) as site:
        declare(site)
        asyncio.run(look())

    assert reported == ["tiny", "tiny"]


@pytest.mark.parametrize(("n_benchmarks", "n_ahead"), [(MOST_AHEAD, MOST_AHEAD), (MOST_AHEAD + 1, 0), (10_000, 0)])
def test_a_start_among_many_benchmarks_makes_no_pages_ahead(n_benchmarks: int, n_ahead: int) -> None:
    """All seem new then: a reader waited half an hour behind the pages of 10,000 that nobody had asked for."""
    assert len(worth_making_ahead([f"b{number}" for number in range(n_benchmarks)])) == n_ahead


EVIL = {"Host": "evil.example"}


@pytest.fixture(scope="module")
def tiny(shared_site: Site) -> Site:
    """A server with a benchmark, only to be read."""
    declare(shared_site)
    return shared_site


def test_no_page_repeats_the_host_of_a_request(tiny: Site) -> None:
    """Whoever asks first, under whatever name, the page is the same; nor does an address to go to repeat it."""
    for path in ("/benchmarks/tiny", "/", "/benchmarks/tiny/leaderboards/skill"):
        evil = tiny.http.get(path, headers=EVIL)
        good = tiny.http.get(path)
        assert evil.content == good.content
        assert b"evil.example" not in evil.content + tiny.http.get(path, headers=EVIL).content
    answers = [tiny.http.get(path, headers=EVIL, follow_redirects=False) for path in ("/benchmarks", "/docs/")]

    assert [answer.headers["location"] for answer in answers] == ["/", "/docs"]


def test_the_host_is_not_part_of_what_a_page_is_kept_under() -> None:
    """Otherwise a thousand names would push out what everybody reads."""

    async def ask() -> list[str]:
        app = Counting()
        pages = PublishedPages(app, 100_000, heard())
        for host in ("a.example", "b.example"):
            await read(pages, BOARD, host=host)
        return app.asked

    assert asyncio.run(ask()) == [f"{BOARD}?"]


def test_a_kept_page_is_answered_304_and_to_head_without_body(tiny: Site) -> None:
    """Each encoding has a tag of its own; the page says on what it varies."""
    plain, packed = (tiny.http.get("/benchmarks/tiny", headers={"Accept-Encoding": e}) for e in ("identity", "gzip"))
    again = tiny.http.get(
        "/benchmarks/tiny", headers={"Accept-Encoding": "gzip", "If-None-Match": packed.headers["etag"]}
    )
    head = tiny.http.head("/benchmarks/tiny", headers={"Accept-Encoding": "identity"})

    assert plain.headers["etag"] != packed.headers["etag"]
    assert (again.status_code, again.content, again.headers["vary"]) == (304, b"", "Accept-Encoding")
    assert (head.content, head.headers["content-length"]) == (b"", plain.headers["content-length"])


@pytest.mark.heavy
def test_queries_without_end_leave_the_plain_pages() -> None:
    """A thousand queries take each other's place and nobody else's."""
    app = Counting()
    pages = PublishedPages(app, 100_000, heard())
    fetch(pages, "/benchmarks/a")
    for number in range(1000):
        fetch(pages, "/benchmarks/a", f"task={number}")
    asked = len(app.asked)
    fetch(pages, "/benchmarks/a")

    assert len(app.asked) == asked


def test_the_length_of_an_address_counts() -> None:
    """Long queries to small pages cannot fill the memory either: only as many are kept as fit with their addresses."""
    app = Counting()
    pages = PublishedPages(app, 100_000, heard())
    for number in range(10):
        fetch(pages, "/benchmarks/a", f"task={number}" + "y" * 20_000)
    fetch(pages, "/benchmarks/a", "task=0" + "y" * 20_000)

    assert len(app.asked) == 11


def test_an_answer_not_to_be_kept_is_passed_on_as_it_comes() -> None:
    """A download is not gathered in memory first: its start is sent before its first block is made."""
    reported: list[str] = []

    async def download(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"cache-control", b"no-store")]})
        for last in (False, True):
            reported.append("made")
            await send({"type": "http.response.body", "body": BODY, "more_body": not last})

    async def send(message: Message) -> None:
        reported.append(message["type"].removeprefix("http.response."))

    pages = PublishedPages(download, 100_000, heard())
    asyncio.run(pages(scope_of("/benchmarks/a/tables.zip"), receive, send))

    assert reported == ["start", "made", "body", "made", "body"]


@pytest.mark.parametrize(
    ("accepted", "encoding"),
    [
        ("br;q=1.0, gzip;q=0.8, *;q=0.1", "gzip"),
        ("*", "gzip"),
        ("gzip;q=0", None),
        ("gzip; q=0.000, *", None),
        ("identity", None),
    ],
)
def test_a_page_is_compressed_for_those_who_take_it(tiny: Site, accepted: str, encoding: str | None) -> None:
    """A quality of zero refuses."""
    answer = tiny.http.get("/benchmarks/tiny", headers={"Accept-Encoding": accepted})

    assert answer.headers.get("content-encoding") == encoding


def test_a_file_of_the_pages_has_one_address(tiny: Site) -> None:
    """The stylesheet is where the pages say; another name is not found and not kept."""
    address = next(part for part in tiny.http.get("/").text.split('"') if part.startswith("/static/"))
    wrong = tiny.http.get("/static/plumbline.css")

    assert tiny.http.get(address).headers["content-type"].startswith("text/css")
    assert (wrong.status_code, wrong.headers["cache-control"]) == (404, "no-store")


def test_a_board_computed_for_one_reader_delays_no_page() -> None:
    """It is made in a lane of its own: while it is under way another page is rendered."""

    async def ask() -> tuple[bytes, bool]:
        app = Counting()
        app.gate.clear()
        pages = PublishedPages(app, 100_000, heard())
        explored = asyncio.create_task(read(pages, f"{BOARD}/explore", "task=t1"))
        while not app.asked:
            await asyncio.sleep(0)
        app.gate, held = asyncio.Event(), app.gate
        app.gate.set()
        page = await read(pages, BOARD)
        is_waiting = not explored.done()
        held.set()
        await explored
        return page[1], is_waiting

    assert asyncio.run(ask()) == (b"2", True)


def test_one_reader_switches_explored_boards_off_for_nobody() -> None:
    """Whoever asks for ever new ones has one computed at a time and is refused the rest; another's is next at once."""

    async def ask() -> tuple[list[str], list[int], int]:
        app = Counting()
        app.gate.clear()
        pages = PublishedPages(app, 100_000, heard())
        flood = []
        for at in range(MOST_WAITING + 5):
            flood.append(asyncio.create_task(read(pages, f"{BOARD}/explore", f"task=t{at}")))
            await asyncio.sleep(0)
        another = asyncio.create_task(read(pages, f"{BOARD}/explore", "task=mine", "192.0.2.2"))
        while len(app.asked) < 2:
            await asyncio.sleep(0)
        computed = list(app.asked)
        app.gate.set()
        return computed, [status for status, *_ in await asyncio.gather(*flood)], (await another)[0]

    computed, flood, another = asyncio.run(ask())
    assert computed == [f"{BOARD}/explore?task=t0", f"{BOARD}/explore?task=mine"]
    assert (flood.count(200), flood.count(503), another) == (MOST_WAITING + 1, 4, 200)


def test_the_network_of_an_address_is_one_reader() -> None:
    """All the addresses of IPv6 that a customer has wait as one; what two readers ask for is computed once for both."""

    async def ask() -> list[str]:
        app = Counting()
        app.gate.clear()
        pages = PublishedPages(app, 100_000, heard())
        flood = []
        for at in range(4):
            asking = read(pages, f"{BOARD}/explore", f"task=t{at}", f"2001:db8::{at + 1}")
            flood.append(asyncio.create_task(asking))
            await asyncio.sleep(0)
        joining = read(pages, f"{BOARD}/explore", "task=t3", "192.0.2.2")
        flood.append(asyncio.create_task(joining))
        while len(app.asked) < 2:
            await asyncio.sleep(0)
        computed = list(app.asked)
        app.gate.set()
        await asyncio.gather(*flood)
        return computed

    assert asyncio.run(ask()) == [f"{BOARD}/explore?task=t0", f"{BOARD}/explore?task=t3"]
