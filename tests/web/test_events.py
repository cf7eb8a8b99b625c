"""Watching submissions: each step as it happens, for so many and so long, from one reader of the database."""

import asyncio
import json
from collections.abc import Collection
from contextlib import ExitStack

import pytest

from app.errors import Busy, TooManyRequests
from app.web.following import MOST, MOST_OF_ONE, Followers
from tests.cases.walkthrough import BASE, declare, send
from tests.fixtures import Site


class Steps:
    """What is read of submissions, step by step; how often it was asked, and of how many."""

    def __init__(self, *steps: dict[int, str] | Exception) -> None:
        self.steps, self.asked = list(steps), list[int]()

    def __call__(self, numbers: Collection[int]) -> dict[int, str]:
        """Return what there is now."""
        self.asked.append(len(numbers))
        step = self.steps.pop(0) if len(self.steps) > 1 else self.steps[0]
        if isinstance(step, Exception):
            raise step
        return step


def both(status: str) -> dict[int, str]:
    """Return two submissions with one status."""
    return {1: status, 2: status}


async def watch(followers: Followers, number: int = 1, whose: str | None = "here") -> list[str]:
    """Return the events of a submission until they end: their names and statuses, and comments."""
    with followers.follow(number, whose, "received") as watched:
        sent = [each async for each in followers.events(watched)]
    fields = [dict(line.split(": ", 1) for line in each.splitlines() if ": " in line) for each in sent]
    return [f"{each['event']} {json.loads(each['data'])['status']}" if "event" in each else each[""] for each in fields]


@pytest.mark.heavy
def test_every_step_is_told_until_nothing_is_waited_for() -> None:
    """Also of two who watch, with one question to the database at a time."""
    steps = Steps(both("received"), OSError("away"), both("evaluated"), both("published"))

    async def two() -> list[list[str]]:
        followers = Followers(steps)
        events = asyncio.gather(watch(followers), watch(followers, 2))
        while not events.done():
            followers.wake()
            await asyncio.sleep(0)
        return await events

    expected = ["status received", "status evaluated", "status published", "end published"]
    assert asyncio.run(two()) == [expected, expected]
    assert steps.asked == [2, 2, 2, 2]


def test_who_watches_for_long_hears_that_the_server_is_there_and_is_asked_to_come_back() -> None:
    """Comments in between, and no end that would be taken for the submission's."""
    events = asyncio.run(watch(Followers(Steps({1: "received"}), heartbeat_s=0.01, longest_s=0.05)))

    assert events[0] == "status received"
    assert set(events[1:]) == {"still waiting"}


def test_a_server_that_stops_ends_every_stream() -> None:
    """Else it would wait for them."""

    async def stopped() -> list[str]:
        followers = Followers(Steps({1: "received"}))
        events = asyncio.create_task(watch(followers))
        while not followers.n_watched:
            await asyncio.sleep(0)
        followers.end()
        return await events

    assert not any(each.startswith("end") for each in asyncio.run(stopped()))


def test_there_is_an_end_to_how_many_watch() -> None:
    """Of one address and in all; who leaves makes room, and where addresses are not told apart nobody is refused."""
    followers = Followers(Steps({}))
    with ExitStack() as own:
        for _ in range(MOST_OF_ONE):
            own.enter_context(followers.follow(1, "here", "received"))
        with pytest.raises(TooManyRequests), followers.follow(1, "here", "received"):
            pass
        for _ in range(MOST - MOST_OF_ONE):
            own.enter_context(followers.follow(1, None, "received"))
        with pytest.raises(Busy), followers.follow(1, "there", "received"):
            pass
    with followers.follow(1, "here", "received"):
        assert followers.n_watched == 1


def test_a_submission_that_waits_for_nothing_ends_at_once(site: Site) -> None:
    """An event stream that nobody keeps; what there is not is not found."""
    declare(site)
    send(site, BASE)
    site.work()
    answer = site.http.get("/submissions/1/events")
    data = '{"submission":1,"status":"published","waiting_for":null}'

    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.text == f"retry: 3000\nevent: status\ndata: {data}\n\nevent: end\ndata: {data}\n\n"
    assert site.http.get("/submissions/2/events").status_code == 404
    assert 'data-events="' not in site.http.get("/submissions/1").text
