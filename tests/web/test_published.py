"""`published` is said once the next read of every web process shows it, whoever serves, hangs or starts meanwhile."""

import asyncio
import ipaddress
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from threading import Thread
from typing import Any

import httpx2
import psycopg
import pytest
from sqlalchemy import text

from app.config import Settings
from app.jobs.notifying import Outgoing
from app.web.page_cache import Freshness, watch
from tests.cases import patient
from tests.cases.listeners import notify_due, web_listener
from tests.cases.offline import plumbline
from tests.cases.processes import admin, send, wait_until_settled
from tests.cases.running_server import RunningServer, fresh_data_dir, running_server
from tests.cases.waiting import eventually
from tests.cases.walkthrough import BASE, MANIFEST, PREREG, declare
from tests.cases.walkthrough import send as send_here
from tests.fixtures import Site, open_site

SHOWN = (
    "/benchmarks/tiny/leaderboards/average",
    "/benchmarks/tiny/leaderboards/average.json",
    "/benchmarks/tiny/leaderboards/average.csv",
    "/benchmarks/tiny/entrants/{}.json",
    "/benchmarks/tiny/snapshots.json",
)


@dataclass(frozen=True)
class Pair:
    """Two whole servers on one database, one of them with a worker, and its address."""

    one: RunningServer
    other: RunningServer
    headers: dict[str, str]
    database_url: str


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    """Two servers, which do not mind that a process of theirs is stopped."""
    settings = {"PLUMBLINE_MAX_REQUESTS_PER_MINUTE": "10000", "PLUMBLINE_WEB_PATIENCE_S": "300"}
    with ExitStack() as stack:
        data_dir = stack.enter_context(fresh_data_dir())
        one = stack.enter_context(running_server(data_dir, **settings))
        headers = admin(one)
        other = stack.enter_context(running_server(data_dir, PLUMBLINE_WORKERS="0", **settings))
        patient.post(f"{one.address}/benchmarks", content=MANIFEST, headers=headers).raise_for_status()
        patient.post(f"{one.address}/preregs", content=PREREG, headers=headers).raise_for_status()
        url = plumbline("db", "url", PLUMBLINE_DATA_DIR=str(data_dir)).stdout.strip()
        yield Pair(one, other, headers, url)


def publish(pair: Pair, entrant: str) -> tuple[int, int]:
    """Submit, and return the number of the submission and of its snapshot once it is said to be published."""
    number: int = send(pair.one, entrant, pair.headers).json()["id"]
    while (said := patient.get(f"{pair.other.address}/submissions/{number}.json").json())["status"] != "published":
        pass
    return number, int(said["reason"].removesuffix(".").rpartition(" ")[2])


def shows(server: RunningServer, path: str, entrant: str) -> bool:
    """Ask for a page and say whether it names an entrant."""
    answer = patient.get(f"{server.address}{path}")
    return answer.status_code == 200 and entrant in answer.text


def snapshot_of(server: RunningServer) -> Any:
    """Return which snapshot the document of the benchmark names."""
    return patient.get(f"{server.address}/benchmarks/tiny.json").json()["snapshot"]


@pytest.mark.alone
def test_what_is_published_is_shown_by_the_next_read_of_every_process(pair: Pair) -> None:
    """Twelve times in a row, with every page kept from before and read by somebody all the time."""
    over = False

    def read_on() -> None:
        while not over:
            for path in SHOWN[:3]:
                patient.get(f"{pair.other.address}{path}")

    publish(pair, "First")
    reader = Thread(target=read_on)
    reader.start()
    late: list[str] = []
    try:
        for n in range(12):
            entrant = f"Model{n}"
            number, snapshot = publish(pair, entrant)
            for server in (pair.one, pair.other):
                late += [f"{number} {path}" for path in SHOWN if not shows(server, path.format(entrant), entrant)]
                late += [] if snapshot_of(server) == snapshot else [f"{number} /benchmarks/tiny.json"]
    finally:
        over = True
        reader.join()

    assert late == []


@pytest.mark.alone
def test_a_process_that_is_stopped_holds_nobody_and_shows_nothing_old_as_new(pair: Pair) -> None:
    """Its heartbeat runs out; when it goes on, it looks before it answers."""
    board = "/benchmarks/tiny/leaderboards/average.json"
    publish(pair, "Before")
    assert "Before" in patient.get(f"{pair.other.address}{board}").text
    web = pair.other.child("web")
    web.suspend()
    try:
        number = send(pair.one, "During", pair.headers).json()["id"]
        settled = wait_until_settled(pair.one, number)
        answers: list[httpx2.Response] = []
        asking = Thread(target=lambda: answers.append(patient.get(f"{pair.other.address}{board}")))
        asking.start()
    finally:
        web.resume()
    asking.join()

    assert settled["status"] == "published"
    assert "During" in answers[0].text or "detail=stale" in answers[0].headers.get("cache-status", "")
    assert eventually(lambda: "During" in patient.get(f"{pair.other.address}{board}").text)


def test_until_a_process_shows_it_nothing_says_that_it_is_published(database_url: str) -> None:
    """Not its page, not the list of its submitter, no web hook; and all of them do once it does, or has ended."""
    settings = Settings(max_stale_s=0, webhook_networks=("127.0.0.0/8",))
    out = Outgoing("https://boards.example", networks=(ipaddress.ip_network("127.0.0.0/8"),))
    with open_site(database_url, settings) as site, web_listener() as heard:
        declare(site)
        order = {"address": f"http://127.0.0.1:{heard.port}/hook"}
        assert site.http.post("/notifications", json=order, headers=site.auth()).status_code == 201
        enter(site, "other")
        number = send_here(site, BASE)["id"]
        publish_only(site)
        site.http.event_hooks["request"].clear()
        before = said(site, number)
        n_told = [notify_due(site.sessions, out)]
        with site.sessions.begin() as session:
            session.execute(text("DELETE FROM web_process WHERE id = 'other'"))
        assert eventually(lambda: said(site, number)[0] == "published")
        after = said(site, number)
        n_told.append(notify_due(site.sessions, out))

    assert before == ("evaluated", "publication", ["received", "evaluated"], "evaluated")
    assert after == ("published", None, ["received", "evaluated", "published"], "published")
    assert n_told == [0, 1]


def test_a_process_without_a_heartbeat_is_not_waited_for(database_url: str) -> None:
    """It was killed, or hangs."""
    with open_site(database_url, Settings(max_stale_s=0)) as site:
        declare(site)
        enter(site, "other", "-1 minute")
        number = send_here(site, BASE)["id"]
        site.work()
        status = said(site, number)[0]

    assert status == "published"


def test_what_nobody_but_its_readers_sees_waits_for_nobody(database_url: str) -> None:
    """Pages that are not public are kept by no process."""
    hidden = MANIFEST.replace("slug: tiny", "slug: inner").replace("prereg: required", "prereg: optional")
    with open_site(database_url, Settings(max_stale_s=0)) as site:
        headers = site.auth("steward")
        made = site.http.post("/benchmarks?visibility=private", content=hidden, headers=headers)
        enter(site, "other")
        files = {"files": ("r.csv", BASE)}
        number = site.http.post("/benchmarks/inner/submissions", files=files, headers=headers).json()["id"]
        publish_only(site)
        status = site.http.get(f"/submissions/{number}.json", headers=headers).json()["status"]

    assert made.status_code == 201
    assert status == "published"


def enter(site: Site, process: str, seen: str = "1 hour") -> None:
    """Enter a web process that shows nothing, as if it had beaten at a time."""
    with site.sessions.begin() as session:
        row = {"process": process, "seen": seen}
        statement = "INSERT INTO web_process VALUES (:process, clock_timestamp() + CAST(:seen AS interval))"
        session.execute(text(statement), row)


def publish_only(site: Site) -> None:
    """Do the jobs without waiting for what the web processes show."""
    object.__setattr__(site, "_is_unshown", lambda: False)
    site.work()


def said(site: Site, number: int) -> tuple[str, Any, list[str], str]:
    """Return what is said of a submission: its status, what it waits for, its history, and the list's status."""
    document = site.http.get(f"/submissions/{number}.json").json()
    (own,) = site.http.get("/whoami/submissions", headers=site.auth()).json()
    history = [each["status"] for each in document["history"]]
    return document["status"], document["waiting_for"], history, own["status"]


def test_a_process_that_lost_its_place_requires_everything_anew(database_url: str) -> None:
    """Its row was removed while it hung: what it has kept may be older than what was said meanwhile."""

    async def look() -> tuple[bool, bool]:
        freshness, looked = Freshness(), asyncio.Event()

        def published(_slug: str, _boards: list[str]) -> None:
            looked.set()

        async def shown(_slug: str, _boards: int) -> None:
            """Say nothing."""

        watching = asyncio.create_task(watch(database_url, freshness, published, shown))
        part = ("tiny", "boards")
        async with asyncio.timeout(20):
            await looked.wait()
            freshness._required.clear()
            count = freshness.count(part)
            before = freshness.is_refused(part, count - 1)
            async with await psycopg.AsyncConnection.connect(database_url, autocommit=True) as connection:
                await connection.execute("DELETE FROM web_process")
            while not freshness.is_refused(part, count - 1):
                await asyncio.sleep(0.01)
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
        return before, freshness.is_refused(part, count)

    with open_site(database_url, Settings(max_stale_s=0)) as site:
        declare(site)
    assert asyncio.run(look()) == (False, False)
