"""The history of a benchmark: which state is shown, what each came after, and what differs between any two."""

from tests.cases.walkthrough import BASE, BETTER, GOOD, MANIFEST, board, declare, send
from tests.fixtures import Site

OTHER_MANIFEST = MANIFEST.replace("title: Tiny", "title: Tinier")
ADDRESS = "/benchmarks/tiny/snapshots"


def change_manifest(site: Site, manifest: str) -> None:
    """Add a version and publish."""
    assert site.http.put("/benchmarks/tiny", content=manifest, headers=site.auth("steward")).status_code == 200
    site.work()


def test_the_current_snapshot_is_marked_also_where_it_is_not_the_newest(site: Site) -> None:
    """The same inputs make the same snapshot again; list, board and page agree on which one is shown.

    A snapshot names the one it came after, and a change of the manifest is a change.
    """
    declare(site)
    send(site, BASE)
    site.work()
    change_manifest(site, OTHER_MANIFEST)
    change_manifest(site, MANIFEST)
    second, first = site.http.get(f"{ADDRESS}.json").json()
    page, shown = site.http.get(ADDRESS).text, board(site)["snapshot"]
    send(site, GOOD)
    site.work()
    newest, *older = site.http.get(f"{ADDRESS}.json").json()

    assert [(s["number"], s["current"]) for s in (second, first)] == [(2, False), (1, True)]
    assert {"kind": "manifest", "version": 2, "was": 1} in second["changes"]
    assert (first["manifest_version"], second["manifest_version"]) == (1, 2)
    assert shown == 1
    assert "The boards show snapshot 1, which is not the newest" in page
    assert "Manifest: version 2, was 1." in page
    assert page.count("status current") == 1
    assert [s["before"] for s in (newest, *older)] == [1, 1, None]
    assert {change["kind"] for change in newest["changes"]} == {"entered", "rank"}
    assert newest["current"] is True


def test_the_changes_between_any_two_snapshots_are_told(site: Site) -> None:
    """Over several publications, in either direction; without an end it is the current snapshot."""
    declare(site)
    for rows in (BASE, GOOD, BETTER + b"Good,t3,1.0\n"):
        send(site, rows)
        site.work()

    forth = site.http.get(f"{ADDRESS}.json?from=1&to=3").json()
    back = site.http.get(f"{ADDRESS}.json?from=3&to=1").json()

    assert (forth["benchmark"], forth["from"], forth["to"]) == ("tiny", 1, 3)
    assert {"kind": "entered", "entrant": "Good", "submission": 3} in forth["changes"]
    assert {"kind": "left", "entrant": "Good", "was": 3} in back["changes"]
    assert {"kind": "rank", "board": "skill", "entrant": "Base", "from": 1, "to": 2} in forth["changes"]
    assert site.http.get(f"{ADDRESS}.json?from=1").json() == forth
    page = site.http.get(f"{ADDRESS}?from=1&to=3").text
    assert "From snapshot 1 to 3" in page
    assert "Entered: Good" in page


def test_nobody_had_a_rank_on_a_board_that_could_not_be_computed_yet(site: Site) -> None:
    """Where ranks begin is a change of those who were there already, and their history begins then."""
    declare(site)
    for rows in (GOOD, BASE):
        send(site, rows)
        site.work()

    history = site.http.get("/benchmarks/tiny/leaderboards/skill/history.json").json()
    first, second = (site.http.get(f"/benchmarks/tiny/leaderboards/skill.json?snapshot={n}").json() for n in (1, 2))
    newest = site.http.get(f"{ADDRESS}.json").json()[0]
    page = site.http.get(f"{ADDRESS}", headers={"accept": "text/html"}).text

    assert (first["meta"]["unavailable_reason"], len(second["rows"])) == ("baseline_absent", 2)
    assert [row["snapshot"] for row in history["rows"]] == [2, 2]
    assert history["notes"] == ["None of these was ranked in an earlier snapshot: nothing has moved yet."]
    assert {"kind": "rank", "board": "skill", "entrant": "Good", "from": None, "to": 1}.items() <= next(
        change for change in newest["changes"] if change["kind"] == "rank" and change["board"] == "skill"
    ).items()
    assert "Good – → 1" in " ".join(page.split())


def test_snapshots_that_are_not_there_have_no_changes(site: Site) -> None:
    """404 for an unknown number and before the first publication, 422 for an end without a beginning."""
    declare(site)
    early = site.http.get(f"{ADDRESS}.json?from=1")
    send(site, BASE)
    site.work()
    asked = ("from=1&to=9", "to=1", "from=0", "from=x", "from=99999999999&to=1")

    assert early.status_code == 404
    assert [site.http.get(f"{ADDRESS}.json?{query}").status_code for query in asked] == [404, 422, 422, 422, 422]
