"""After the close stewards see the final board without rounding, over HTTP."""

import csv
import io

import numpy as np
import pytest

from tests.cases.secret_labels import SLUG, begin, board, knowing, manifest, send, truth, words
from tests.fixtures import Site, SiteAfter

N_ITEMS = 120
EXACT = f"/benchmarks/{SLUG}/exact"
METRICS = ("accuracy", "brier")


def close(site: Site) -> None:
    """Have the steward close the benchmark, and publish."""
    closed = site.http.post(f"/benchmarks/{SLUG}/close", json={"reason": "over"}, headers=site.auth("steward"))
    assert closed.status_code == 200, closed.text
    site.work()


def compete(site: Site) -> tuple[list[bool], dict[str, list[float]]]:
    """Publish a benchmark of two students who differ in one item, and the steward; return labels and predictions."""
    labels = truth(N_ITEMS)
    begin(site, manifest("public_share: 0.25, ladder: false, digits: 1", METRICS), words(labels))
    first = knowing(labels, 0.92)
    second = [1.0 - p if at == 7 else p for at, p in enumerate(first)]
    predictions = {"A": first, "B": second, "Own": knowing(labels, 0.99)}
    for name, who in (("A", "alice"), ("B", "bob"), ("Own", "steward")):
        assert send(site, predictions[name], name, who).status_code == 202
    site.work()
    return list(labels), predictions


def rows_for(site: Site, who: str = "steward") -> dict[str, dict[str, str]]:
    """Return the rows of the exact board by entrant."""
    answer = site.http.get(f"{EXACT}.csv", headers=site.auth(who))
    assert answer.status_code == 200, answer.text
    return {row["entrant"]: row for row in csv.DictReader(io.StringIO(answer.text))}


def accuracy(labels: list[bool], predicted: list[float]) -> float:
    """Return the share that is right."""
    return float(np.mean((np.array(predicted) >= 0.5) == np.array(labels)))


@pytest.fixture
def competing(site_after: SiteAfter) -> Site:
    """Two students and a steward who compete, published once for all of these."""
    return site_after(compete)


def test_the_exact_board_has_unrounded_scores_on_all_items(site: Site) -> None:
    """Of both parts and of all items; the private part decides, and shares of the parts make that of all."""
    labels, predictions = compete(site)
    close(site)
    rounded, exact = board(site), rows_for(site)

    for name in ("A", "B", "Own"):
        private, public = (float(exact[name][column]) for column in ("accuracy", "accuracy_public_part"))
        assert float(exact[name]["accuracy_all_items"]) == accuracy(labels, predictions[name])
        assert (private * 90 + public * 30) / 120 == pytest.approx(accuracy(labels, predictions[name]), abs=1e-12)
        assert private * 90 == pytest.approx(round(private * 90), abs=1e-9)
    assert rounded["A"]["accuracy"] == rounded["B"]["accuracy"]
    assert exact["A"]["accuracy"] != exact["B"]["accuracy"]
    assert exact["A"]["brier"] != rounded["A"]["brier"]
    assert {exact["A"]["rank"], exact["B"]["rank"]} == {"1", "2"}
    assert (exact["Own"]["rank"], exact["Own"]["unranked_because"]) == ("", "label holder")
    assert "label_holder" in exact["Own"]["flags"]
    assert exact["A"]["owner"] == "alice"


def test_it_is_a_page_and_json_of_one_address(competing: Site) -> None:
    """Nothing keeps them, and the page shows a score in full."""
    close(competing)
    page = competing.http.get(EXACT, headers={**competing.auth("steward"), "Accept": "text/html"})
    answer = competing.http.get(f"{EXACT}.json", headers=competing.auth("admin"))
    exact = {row["entrant"]: row for row in answer.json()["rows"]}

    assert (page.status_code, answer.status_code) == (200, 200)
    assert page.headers["cache-control"] == answer.headers["cache-control"] == "no-store"
    assert str(exact["A"]["brier"])[:10] in page.text
    assert answer.json()["notes"][0].startswith("Exact: nothing here is rounded")


def test_the_published_board_stays_rounded(competing: Site) -> None:
    """What was measured exactly is not taken for what is published."""
    close(competing)
    before = board(competing)
    rows_for(competing)
    withdrawn = competing.http.post("/submissions/2/withdraw", json={"reason": "wrong"}, headers=competing.auth("bob"))
    assert withdrawn.status_code == 200, withdrawn.text
    competing.work()

    assert "B" not in board(competing)
    assert {name: board(competing)["A"][name] for name in METRICS} == {name: before["A"][name] for name in METRICS}
    assert "accuracy_all_items" not in board(competing)["A"]


@pytest.mark.parametrize(("who", "status"), [(None, 401), ("alice", 403), ("steward", 200), ("admin", 200)])
def test_only_its_stewards_see_it(competing: Site, who: str | None, status: int) -> None:
    """Whoever competes reads the published board."""
    close(competing)
    headers = {} if who is None else competing.auth(who)

    for ending in ("", ".csv", ".json"):
        assert competing.http.get(f"{EXACT}{ending}", headers=headers).status_code == status


def test_before_the_close_it_says_that_it_must_be_closed(competing: Site) -> None:
    """409 to a steward, and no number."""
    answer = competing.http.get(f"{EXACT}.json", headers=competing.auth("steward"))

    assert (answer.status_code, "must be closed first" in answer.json()["detail"]) == (409, True)


def test_there_is_none_without_private_labels(site: Site) -> None:
    """Other boards are exact as they are."""
    labels = truth(N_ITEMS)
    begin(site, manifest().replace("labels: private", "labels: public"), words(labels))

    assert site.http.get(EXACT, headers=site.auth("steward")).status_code == 404


def test_an_unknown_board_is_not_found(competing: Site) -> None:
    """404, and a known one by its name."""
    close(competing)
    statuses = {name: competing.http.get(f"{EXACT}.csv?board={name}", headers=competing.auth("steward")).status_code
                for name in ("board", "none")}  # fmt: skip

    assert statuses == {"board": 200, "none": 404}


def test_the_stewards_pages_lead_to_it_after_the_close(competing: Site) -> None:
    """From what was disclosed, and from the desk; before it they do not."""
    headers = {**competing.auth("steward"), "Accept": "text/html"}
    addresses = (f"/benchmarks/{SLUG}/disclosed", f"/desk/{SLUG}")
    before = [EXACT in competing.http.get(address, headers=headers).text for address in addresses]
    close(competing)
    after = [EXACT in competing.http.get(address, headers=headers).text for address in addresses]

    assert (before, after) == ([False, False], [True, True])


def test_a_benchmark_without_submissions_has_an_empty_one(site: Site) -> None:
    """It says why, as the published board does."""
    begin(site, manifest(), words(truth(N_ITEMS)))
    close(site)
    answer = site.http.get(f"{EXACT}.json", headers=site.auth("steward"))

    assert answer.status_code == 200, answer.text
    assert "No submission has been admitted yet." in answer.json()["notes"]
