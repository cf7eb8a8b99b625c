"""After the close stewards see the final board without rounding, over HTTP."""

import csv
import io

import numpy as np
import pytest

from tests.cases.secret_labels import SLUG, begin, board, items, knowing, manifest, send, truth, words
from tests.cases.ydf_http import table
from tests.fixtures import Site

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


World = tuple[list[bool], dict[str, list[float]], list[bool]]


@pytest.fixture(scope="module")
def closed(shared_site: Site) -> World:
    """Labels and predictions of two students and a steward who competed until the close; and whether the steward's
    pages led to the exact board before it, when it told nothing.
    """
    labels, predictions = compete(shared_site)
    before = led(shared_site)
    answer = shared_site.http.get(f"{EXACT}.json", headers=shared_site.auth("steward"))
    assert (answer.status_code, "must be closed first" in answer.json()["detail"]) == (409, True)
    close(shared_site)
    return labels, predictions, before


def led(site: Site) -> list[bool]:
    """Return whether what was disclosed, and the desk, lead to the exact board."""
    headers = {**site.auth("steward"), "Accept": "text/html"}
    return [EXACT in site.http.get(address, headers=headers).text
            for address in (f"/benchmarks/{SLUG}/disclosed", f"/desk/{SLUG}")]  # fmt: skip


def test_the_exact_board_has_unrounded_scores_on_all_items(shared_site: Site, closed: World) -> None:
    """Of both parts and of all items; the private part decides, and shares of the parts make that of all."""
    labels, predictions, before = closed
    rounded, exact = board(shared_site), rows_for(shared_site)

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
    assert (before, led(shared_site)) == ([False, False], [True, True])


@pytest.mark.usefixtures("closed")
def test_it_is_a_page_and_json_of_one_address_for_its_stewards(shared_site: Site) -> None:
    """Nothing keeps them, and the page shows a score in full; whoever competes reads the published board."""
    page = shared_site.http.get(EXACT, headers={**shared_site.auth("steward"), "Accept": "text/html"})
    answer = shared_site.http.get(f"{EXACT}.json", headers=shared_site.auth("admin"))
    exact = {row["entrant"]: row for row in answer.json()["rows"]}

    assert page.headers["cache-control"] == answer.headers["cache-control"] == "no-store"
    assert str(exact["A"]["brier"])[:10] in page.text
    assert answer.json()["notes"][0].startswith("Exact: nothing here is rounded")
    for headers, status in (({}, 401), (shared_site.auth("alice"), 403), (shared_site.auth("steward"), 200),
                            (shared_site.auth("admin"), 200)):  # fmt: skip
        for ending in ("", ".csv", ".json", ".csv?board=board"):
            assert shared_site.http.get(f"{EXACT}{ending}", headers=headers).status_code == status
    unknown = shared_site.http.get(f"{EXACT}.csv?board=none", headers=shared_site.auth("steward"))
    assert unknown.status_code == 404


@pytest.mark.usefixtures("closed")
def test_the_published_board_stays_rounded(shared_site: Site) -> None:
    """What was measured exactly is not taken for what is published."""
    before, headers = board(shared_site), shared_site.auth("bob")
    rows_for(shared_site)
    withdrawn = shared_site.http.post("/submissions/2/withdraw", json={"reason": "wrong"}, headers=headers)
    assert withdrawn.status_code == 200, withdrawn.text
    shared_site.work()
    after = board(shared_site)

    assert "B" not in after
    assert {name: after["A"][name] for name in METRICS} == {name: before["A"][name] for name in METRICS}
    assert "accuracy_all_items" not in after["A"]


@pytest.mark.parametrize(("slug", "labels_are", "status"), [("open", "public", 404), ("empty", "private", 200)])
def test_there_is_none_without_private_labels_and_an_empty_one_without_submissions(
    shared_site: Site, slug: str, labels_are: str, status: int
) -> None:
    """Other boards are exact as they are; an empty one says why, as the published board does."""
    document = manifest().replace("labels: private", f"labels: {labels_are}").replace(f"slug: {SLUG}", f"slug: {slug}")
    headers = shared_site.auth("steward")
    shared_site.http.post("/benchmarks", content=document, headers=headers).raise_for_status()
    content = table(["item", "label"], list(zip(items(N_ITEMS), words(truth(N_ITEMS)), strict=True)))
    put = {"file": ("labels.csv", content)}
    shared_site.http.put(f"/benchmarks/{slug}/labels", files=put, headers=headers).raise_for_status()
    shared_site.http.post(f"/benchmarks/{slug}/close", json={"reason": "over"}, headers=headers)
    shared_site.work()
    answer = shared_site.http.get(f"/benchmarks/{slug}/exact.json", headers=headers)

    assert answer.status_code == status, answer.text
    assert status == 404 or "No submission has been admitted yet." in answer.json()["notes"]
