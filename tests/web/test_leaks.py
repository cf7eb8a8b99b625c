"""Whatever way it is asked for, what is private or a draft is as what is not there; also what was added later."""

from typing import Any

import pytest
from sqlalchemy import Engine, event

from tests.cases.hidden import ABSENT, NAMES, SECRET, STRANGERS, ask, blurred, hiding, make, paths
from tests.fixtures import Site

__all__ = ["hiding"]


def test_a_draft_answers_as_what_does_not_exist(site: Site) -> None:
    """Also to a submitter of it, who reads it from when it is private on."""
    assert make(site, "draft").status_code == 201
    given = {"token": "alice", "role": "submitter"}
    site.http.post(f"/benchmarks/{SECRET}/roles", json=given, headers=site.auth("steward")).raise_for_status()
    site.only_read()
    elsewhere, nowhere = (paths(site, slug, "9", "0" * 64) for slug in (SECRET, ABSENT))
    differing = [
        (who, path)
        for who in ("nobody", "alice")
        for path, other in zip(elsewhere, nowhere, strict=True)
        if who == "nobody" or not path.endswith(".json")
        if blurred(ask(site, path, who), "0" * 64) != blurred(ask(site, other, who), "0" * 64)
    ]

    assert len(elsewhere) > 60
    assert differing == []


NOWHERE = "qqnowhere"
"""In no benchmark, and not in the help."""


def test_a_search_finds_nothing_private(hiding: Site) -> None:
    """Not by its slug, title, entrant or task; a member finds it."""
    message = {
        (who, name): ask(hiding, f"/search?q={name}", who)[2].replace(name.encode(), b"*")
        for who in STRANGERS
        for name in (*NAMES[:3], NAMES[4], NOWHERE)
    }

    assert {message[who, name] == message[who, NOWHERE] for who, name in message} == {True}
    assert b"Qqentrant" in ask(hiding, "/search?q=qqentrant", "alice")[2]


@pytest.mark.parametrize("path", ["/sitemap.xml", "/robots.txt", "/feed.atom", "/favicon.svg", "/login", "/invitation"])
def test_what_crawlers_and_readers_of_feeds_ask_for_names_nothing_private(hiding: Site, path: str) -> None:
    """Whoever asks, but for members."""
    reported = [
        (who, name) for who in STRANGERS for name in NAMES if name.encode() in ask(hiding, path, who)[2].lower()
    ]

    assert reported == []


WAYS: tuple[dict[str, Any], ...] = (
    {"method": "HEAD"},
    {"method": "OPTIONS"},
    {"method": "DELETE"},
    {"headers": {"If-None-Match": "*"}},
    {"headers": {"Accept": "text/html"}},
    {"headers": {"Cache-Control": "no-cache", "Accept-Encoding": "gzip"}},
)


@pytest.mark.parametrize("way", range(len(WAYS)))
def test_no_way_of_asking_tells_of_what_is_private(hiding: Site, way: int) -> None:
    """Neither a head, a tag, another method, another format nor a cache; also after a member read it."""
    tails = ("", ".json", "/leaderboards/qqboard", "/entrants/Qqentrant", "/feed.atom", "/draft", "/people", "/join",
             "/leaderboards/qqboard/explore", "/tables.zip", "/disclosed", "/exact",
             "/badge/qqboard/Qqentrant.svg")  # fmt: skip
    for tail in tails:
        ask(hiding, f"/benchmarks/{SECRET}{tail}", "alice")
    answers = [
        [blurred(ask(hiding, f"/benchmarks/{slug}{tail}", who, **WAYS[way]), "#") for slug in (SECRET, ABSENT)]
        for tail in tails
        for who in ("nobody", "bob")
    ]

    assert [pair for pair in answers if pair[0] != pair[1]] == []


def test_the_database_is_asked_the_same_for_what_is_private_and_for_what_is_not_there(hiding: Site) -> None:
    """Statement for statement, so that how long an answer takes tells nothing either."""
    message: list[str] = []
    of_the_test = hiding.sessions.kw["bind"]

    def note(connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if connection.engine is not of_the_test:
            message.append(statement)

    def statements(path: str, who: str) -> list[str]:
        ask(hiding, path, who)
        message.clear()
        ask(hiding, path, who)
        return list(message)

    tails = ("", "/leaderboards/qqboard", "/entrants/Qqentrant", "/tasks/qqtask", "/registrations", "/people", "/join",
             "/leaderboards/qqboard/explore?q=x", "/feed.atom", "/croissant.json")  # fmt: skip
    event.listen(Engine, "before_cursor_execute", note)
    try:
        asked = {
            (tail, who): [statements(f"/benchmarks/{slug}{tail}", who) for slug in (SECRET, ABSENT)]
            for tail in tails
            for who in ("nobody", "bob")
        }
    finally:
        event.remove(Engine, "before_cursor_execute", note)

    assert len([pair for pair in asked.values() if pair[0]]) > len(tails)
    assert {key: pair for key, pair in asked.items() if pair[0] != pair[1]} == {}
