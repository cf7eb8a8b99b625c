"""What is kept about a person is handed to them, and their name is taken out without touching what is on record."""

from sqlalchemy import select

from app.db.models import Benchmark
from tests.cases.walkthrough import BASE, MANIFEST, board, send
from tests.fixtures import Site


def numbers(site: Site) -> list[dict[str, object]]:
    """Return the rows of a board without who owns them."""
    return [{name: cell for name, cell in row.items() if name != "owner"} for row in board(site)["rows"]]


def test_a_name_is_erased_and_records_stay(tiny: Site) -> None:
    """The name is nowhere; rows, digests and ranks are what they were."""
    metadata = '{"organisation": "Alice Ltd", "url": "https://alice.example", "notes": "by Alice", "version": "1"}'
    assert send(tiny, BASE, metadata=metadata)["http"] == 202
    tiny.work()
    before = (numbers(tiny), tiny.http.get("/submissions/1/scores.csv").content)
    erased = tiny.http.post("/tokens/1/erase", json={"reason": "asked for it"}, headers=tiny.auth()).json()
    tiny.work()
    pages = ["/submissions/1.json", "/benchmarks/tiny/registrations.json", "/benchmarks/tiny/submitters.json"]
    pages += ["/benchmarks/tiny/entrants/Base.json", "/benchmarks/tiny.json", "/benchmarks/tiny/leaderboards/skill.csv"]
    pages += ["/benchmarks/tiny/leaderboards/skill.json?snapshot=1", "/benchmarks/tiny/leaderboards/skill"]
    reported = " ".join(tiny.http.get(page).text for page in pages)

    assert erased["name"].startswith("erased-")
    assert "alice" not in reported.lower()
    assert tiny.http.get("/submissions/1.json").json()["metadata"] == {"version": "1"}
    assert (numbers(tiny), tiny.http.get("/submissions/1/scores.csv").content) == before
    assert tiny.http.get("/whoami", headers=tiny.auth()).json()["name"] == erased["name"]


def test_everybody_is_handed_what_is_kept_about_them(tiny: Site) -> None:
    """And nothing of others; what they sent also as a list, which a benchmark narrows."""
    send(tiny, BASE)
    own = tiny.http.get("/whoami/data", headers=tiny.auth()).json()
    other = tiny.http.get("/whoami/data", headers=tiny.auth("bob")).json()
    listed, narrowed, of_bob = (
        tiny.http.get(f"/whoami/submissions{query}", headers=tiny.auth(who)).json()
        for query, who in (("", "alice"), ("?benchmark=other", "alice"), ("", "bob"))
    )

    assert [each["id"] for each in own["submissions"]] == [1]
    assert [event["action"] for event in own["events"]] == ["POST /benchmarks/{slug}/submissions", "POST /preregs"]
    assert len(own["registrations"]) == 1
    assert [other[name] for name in ("submissions", "events", "registrations", "entrants")] == [[], [], [], []]
    assert [(each["benchmark"], each["entrants"], each["n_rows"]) for each in listed] == [("tiny", ["Base"], 3)]
    assert (narrowed, of_bob) == ([], [])


def versions(site: Site) -> dict[str, int]:
    """Return how often the boards of each benchmark were marked as changed."""
    with site.sessions() as session:
        return {each.slug: each.boards_version for each in session.scalars(select(Benchmark))}


def test_erasing_makes_only_the_pages_stale_that_may_have_the_name_and_only_once(tiny: Site) -> None:
    """Else anybody could have every page of the server rendered anew, as often as they like."""
    other = MANIFEST.replace("slug: tiny", "slug: other")
    tiny.http.post("/benchmarks", content=other, headers=tiny.auth("steward")).raise_for_status()
    assert send(tiny, BASE)["http"] == 202
    tiny.work()
    before = versions(tiny)
    first = tiny.http.post("/tokens/1/erase", json={"reason": "x"}, headers=tiny.auth()).json()["name"]
    once = versions(tiny)
    again = tiny.http.post("/tokens/1/erase", json={"reason": "x"}, headers=tiny.auth()).json()["name"]

    assert {slug for slug in before if once[slug] != before[slug]} == {"tiny"}
    assert again == first
    assert versions(tiny) == once
