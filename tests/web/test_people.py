"""What is kept about a person is handed to them, and their name is taken out without touching what is on record."""

from tests.cases.walkthrough import BASE, board, declare, send
from tests.fixtures import Site


def numbers(site: Site) -> list[dict[str, object]]:
    """Return the rows of a board without who owns them."""
    return [{name: cell for name, cell in row.items() if name != "owner"} for row in board(site)["rows"]]


def test_a_name_is_erased_and_records_stay(site: Site) -> None:
    """The name is nowhere; rows, digests and ranks are what they were."""
    declare(site)
    metadata = '{"organization": "Alice Ltd", "url": "https://alice.example", "notes": "by Alice", "version": "1"}'
    assert send(site, BASE, metadata=metadata)["http"] == 202
    site.work()
    before = (numbers(site), site.http.get("/submissions/1/scores.csv").content)
    erased = site.http.post("/tokens/1/erase", json={"reason": "asked for it"}, headers=site.auth()).json()
    site.work()
    pages = ["/submissions/1.json", "/benchmarks/tiny/registrations.json", "/benchmarks/tiny/submitters.json"]
    pages += ["/benchmarks/tiny/entrants/Base.json", "/benchmarks/tiny.json", "/benchmarks/tiny/leaderboards/skill.csv"]
    pages += ["/benchmarks/tiny/leaderboards/skill.json?snapshot=1", "/benchmarks/tiny/leaderboards/skill"]
    reported = " ".join(site.http.get(page).text for page in pages)

    assert erased["name"].startswith("erased-")
    assert "alice" not in reported.lower()
    assert site.http.get("/submissions/1.json").json()["metadata"] == {"version": "1"}
    assert (numbers(site), site.http.get("/submissions/1/scores.csv").content) == before
    assert site.http.get("/whoami", headers=site.auth()).json()["name"] == erased["name"]


def test_everybody_is_handed_what_is_kept_about_them(site: Site) -> None:
    """And nothing of others."""
    declare(site)
    send(site, BASE)
    own = site.http.get("/whoami/data", headers=site.auth()).json()
    other = site.http.get("/whoami/data", headers=site.auth("bob")).json()

    assert [each["id"] for each in own["submissions"]] == [1]
    assert [event["action"] for event in own["events"]] == ["POST /benchmarks/{slug}/submissions", "POST /preregs"]
    assert len(own["registrations"]) == 1
    assert [other[name] for name in ("submissions", "events", "registrations", "entrants")] == [[], [], [], []]
