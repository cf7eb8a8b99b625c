"""Item by item over HTTP: where one entrant is better than another; of private labels nothing, whoever asks."""

import csv
import io

from tests.cases import secret_labels
from tests.cases.lrdbench_http import make_benchmark, part_of, per_series, submit
from tests.cases.walkthrough import BASE, GOOD, declare, send
from tests.fixtures import Site

CANONICAL = "public_small_canonical_ground_truth"


def test_where_one_wins_is_what_their_rows_say(roomy_site: Site) -> None:
    """Of real records: both sides and the ties are all of them, largest first, and turned round they are turned."""
    slug = make_benchmark(roomy_site, CANONICAL)
    submit(roomy_site, slug, part_of(CANONICAL, ["RS", "DFA"]))
    roomy_site.work()
    address = f"/benchmarks/{slug}/leaderboards/canonical-accuracy/items"

    def rows(query: str) -> list[dict[str, str]]:
        answer = roomy_site.http.get(f"{address}.csv?{query}")
        assert answer.status_code == 200, answer.text
        return list(csv.DictReader(io.StringIO(answer.text)))

    every = rows("a=RS&b=DFA")
    parts = [rows(f"a=RS&b=DFA&better={side}") for side in ("a", "b", "tie")]
    turned = rows("a=DFA&b=RS")
    effects = [float(row["effect"]) for row in every]
    named = {row["record_id"] for row in per_series(CANONICAL)}
    of_task = rows(f"a=RS&b=DFA&task={every[0]['task']}")
    page = roomy_site.http.get(f"{address}?a=RS&b=DFA", headers={"accept": "text/html"}).text

    assert {row["item"] for row in every} == named
    assert sum(map(len, parts)) == len(every)
    assert all(float(row["effect"]) > 0 for row in parts[0])
    assert all(float(row["effect"]) < 0 for row in parts[1])
    assert effects == sorted(effects, key=lambda effect: -abs(effect))
    assert [-float(row["effect"]) for row in turned] == effects
    assert {row["task"] for row in of_task} == {every[0]["task"]}
    assert "RS is better on" in page
    assert roomy_site.http.get(f"{address}.csv?a=RS&b=RS").status_code == 422
    assert roomy_site.http.get(f"{address}.csv?a=RS&b=nobody").status_code == 404
    assert roomy_site.http.get(f"{address}.csv?task=none").status_code == 422


def test_of_private_labels_no_item_is_shown(site: Site) -> None:
    """Not to a stranger, a submitter or a steward, not before the close, and not as a count either."""
    labels = secret_labels.truth(40)
    secret_labels.begin(site, secret_labels.manifest("ladder: false"), secret_labels.words(labels))
    for seed, (name, who) in enumerate((("A", "alice"), ("B", "bob"))):
        sent = secret_labels.send(site, secret_labels.knowing(labels, 0.7, seed), name, who)
        assert sent.status_code == 202, sent.text
    site.work()
    address = f"/benchmarks/{secret_labels.SLUG}/leaderboards/board/items"

    for headers in ({}, site.auth("alice"), site.auth("steward")):
        for query in ("", "?a=A&b=B", "?a=A&b=B&better=a", "?task=t"):
            document = site.http.get(f"{address}.json{query}", headers=headers).json()
            text = site.http.get(f"{address}{query}", headers={**headers, "accept": "text/html"}).text
            assert (document["rows"], set(document["meta"])) == ([], {"unavailable"})
            assert "i0001" not in text
            assert "is better on" not in text


def test_where_rows_name_no_items_the_page_says_so(site: Site) -> None:
    """Summaries have a row for each task."""
    declare(site)
    send(site, BASE)
    send(site, GOOD)
    site.work()
    document = site.http.get("/benchmarks/tiny/leaderboards/average/items.json").json()

    assert (document["rows"], document["notes"]) == ([], ["This benchmark has no results for single items."])
