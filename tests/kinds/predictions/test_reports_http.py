"""Reports of predictions: a page per task, overlays narrowed by the address, and the same rows as CSV and JSON."""

import re

import numpy as np
import pytest

from tests.cases.ydf_http import begin, manifest, records, submit, table
from tests.fixtures import Site

METRICS = ("auc", "accuracy", "logloss")
BOARD = "/benchmarks/guess/leaderboards/board"
PART = "kind: classification, classes: ['no', 'yes']"


def publish(site: Site) -> int:
    """Publish two entrants of clearly different quality on two tasks; return the first submission's number."""
    rng = np.random.default_rng(3)
    document = manifest(PART, METRICS).replace("[{id: t}]", "[{id: t}, {id: deep/u}]")
    items = [f"i{at:02}" for at in range(60)]
    truth = rng.integers(0, 2, len(items))
    tasks = ("t", "deep/u")
    labels = [(task, item, ("no", "yes")[label]) for task in tasks for item, label in zip(items, truth, strict=True)]
    begin(site, document, table(["task", "item", "label"], labels))
    numbers = []
    for name, noise in (("Sharp", 0.3), ("Dull", 0.9)):
        scores = np.clip(0.5 + 0.3 * (2 * truth - 1) + noise * rng.normal(size=len(items)), 0.01, 0.99)
        rows = [(task, item, float(score)) for task in tasks for item, score in zip(items, scores, strict=True)]
        numbers.append(submit(site, name, table(["task", "item", "prediction"], rows)))
    site.work()
    return numbers[0]


@pytest.fixture(scope="module")
def number(shared_site: Site) -> int:
    """The first of two submissions that are published on the shared site, only to be read."""
    return publish(shared_site)


def test_each_task_has_its_report(shared_site: Site, number: int) -> None:
    """The submission leads to one page per task; each holds that task's tables with plots, numbers and CSV."""
    submission = shared_site.http.get(f"/submissions/{number}").text
    report = shared_site.http.get(f"/submissions/{number}/reports/deep/u")

    assert f'href="/submissions/{number}/reports/t"' in submission
    assert f'href="/submissions/{number}/reports/deep/u"' in submission
    assert report.status_code == 200
    headings = ["intervals", "classes", "roc", "pr", "operating", "thresholds", "confusion", "reliability"]
    places = [report.text.find(f'<section class="report" id="{name}">') for name in headings]
    assert places == sorted(places)
    assert -1 not in places
    assert f'href="/submissions/{number}/tables/roc.csv?task=deep%2Fu"' in report.text
    assert report.text.count('<figure class="plot') == 5
    assert "<h1>Sharp on deep/u</h1>" in report.text
    assert "the benchmark's labels, which are public" in report.text


def test_a_submissions_table_is_narrowed_and_an_unknown_task_has_no_report(shared_site: Site, number: int) -> None:
    """?task= leaves the rows of that task in the CSV; 404 as for a submission that is not there."""
    everything = records(shared_site, f"/submissions/{number}/tables/roc.csv")
    some = records(shared_site, f"/submissions/{number}/tables/roc.csv?task=t")

    assert some == [row for row in everything if row["task"] == "t"]
    assert 0 < len(some) < len(everything)
    assert shared_site.http.get(f"/submissions/{number}/reports/v").status_code == 404
    assert shared_site.http.get("/submissions/99/reports/t").status_code == 404


@pytest.mark.usefixtures("number")
def test_an_overlay_is_narrowed_alike_in_every_format(shared_site: Site) -> None:
    """HTML, CSV and JSON come from one value; an empty field of the form asks for nothing, and an unknown name leaves
    a table that says so: a link to an entrant that was withdrawn still answers.
    """
    query = "task=deep/u&entrant=Dull"
    rows = records(shared_site, f"{BOARD}/roc.csv?{query}")
    document = shared_site.http.get(f"{BOARD}/roc.json?{query}").json()
    page = shared_site.http.get(f"{BOARD}/roc?{query}").text
    gone = shared_site.http.get(f"{BOARD}/roc.json?entrant=Gone").json()
    whole, empty = (shared_site.http.get(f"{BOARD}/roc.csv{fields}").text for fields in ("", "?task=&entrant="))

    assert {(row["task"], row["entrant"]) for row in rows} == {("deep/u", "Dull")}
    assert (len(document["rows"]), page.count("<tr>")) == (len(rows), len(rows) + 1)
    assert f'href="{BOARD}/roc.csv?task=deep%2Fu&amp;entrant=Dull"' in page
    assert (gone["rows"], gone["notes"][-1]) == ([], "No row has the entrant Gone; there are Sharp, Dull.")
    assert whole == empty


@pytest.mark.usefixtures("number")
def test_entrants_are_laid_over_each_other(shared_site: Site) -> None:
    """The parameter may repeat: one plot per task, with a line for each. The head of a column leads to the same rows in
    another order, and the plot stays as it is.
    """
    chosen = "task=t&entrant=Dull&entrant=Sharp"
    page, turned = (
        shared_site.http.get(f"{BOARD}/roc?{chosen}{more}").text for more in ("", "&sort=recall&order=desc")
    )
    plots = [text.partition("<figure")[2].partition("</figure>")[0] for text in (page, turned)]

    assert page.count('<figure class="plot') == 1
    assert page.count('<path class="lines" d="M1 5h20" />') == 2
    assert re.search(r'<input type="checkbox"[^>]* name="entrant"\s+value="Dull" checked>', page)
    assert re.search("<option[^>]* selected>t</option>", page)
    assert 'href="?task=t&amp;entrant=Dull&amp;entrant=Sharp&amp;sort=recall&amp;order=asc"' in page
    assert plots[0] == plots[1] != ""


@pytest.mark.usefixtures("number")
def test_a_pair_of_predictions_has_its_sentence_metrics_and_tests(shared_site: Site) -> None:
    """Every metric in the order of the question, the tests in both."""
    page = shared_site.http.get(f"{BOARD}/against?a=Dull&b=Sharp").text
    rows = records(shared_site, f"{BOARD}/against.csv?a=Dull&b=Sharp")
    document = shared_site.http.get(f"{BOARD}/against.json?a=Dull&b=Sharp").json()

    assert re.search(r"Sharp’s AUC is higher than Dull’s by 0\.\d+ \(95 % interval: 0\.\d+ to 0\.\d+\)\.", page)
    assert document["meta"]["n_resamples"] == 2000
    assert [(row["entrant_a"], row["metric"]) for row in rows] == [("Dull", metric) for metric in METRICS]
    assert page.count("McNemar, accuracy</td>") == 4


def test_a_pair_of_rankings_is_told_of_in_groups(shared_site: Site) -> None:
    """Groups are what is resampled and tested, so groups are what more of would be needed."""
    rng = np.random.default_rng(5)
    items = [f"i{at:03}" for at in range(120)]
    relevance = rng.integers(0, 3, len(items))
    rows = [(item, int(grade), f"q{at % 30}") for at, (item, grade) in enumerate(zip(items, relevance, strict=True))]
    begin(shared_site, manifest("kind: ranking", ("ndcg",), slug="groups"), table(["item", "label", "group"], rows))
    for name in ("First", "Second"):
        scores = relevance + rng.normal(size=len(items))
        content = table(["item", "prediction"], [*zip(items, scores.tolist(), strict=True)])
        submit(shared_site, name, content, "groups")
    shared_site.work()

    page = shared_site.http.get(f"{BOARD.replace('guess', 'groups')}/against?a=First&b=Second").text

    assert re.search(r"About [0-9,]+ more groups would be needed .*: [0-9,]+ where there are 30\.", page)
    assert ">Groups needed, two-sided</th>" in page.replace(" &darr;", "")
    assert "Right: A only" not in page
    assert 'href="/glossary#paired_t"' in page
    assert 'href="/glossary#mcnemar"' not in page
