"""Real predictions that leave out what is hard end without a rank or last, over HTTP, and so does who registers it.

Labels and predictions are those of the breast cancer example and of YDF's case of three classes, unchanged but for what
each attack leaves out.
"""

import csv
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from sklearn.metrics import precision_score

from app.config import Settings
from tests.cases import grids
from tests.cases.publications import table
from tests.fixtures import Site, new_database, open_site

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples" / "breast-cancer"
SHOWN = ("rank", "rank_low", "rank_high", "first_resamples_share", "may_be_first", "auc", "accuracy")
YDF = json.loads((ROOT / "tests" / "data" / "ydf" / "multiclass.json").read_text())["input"]
CLASSES, TRUTH = YDF["label_classes"], [YDF["label_classes"][at] for at in YDF["labels"]]
THREE = f"""
schema_version: 1
slug: three
title: Three classes
evidence: predictions
predictions: {{kind: classification, classes: {json.dumps(CLASSES)}, labels: public, missing: failure}}
metrics: {{precision_macro: {{direction: maximize, min: 0, max: 1}}}}
tasks: [{{id: t}}]
admission: {{prereg: optional}}
leaderboards:
  - {{name: board, method: estimate, metrics: [precision_macro], uncertainty: {{n_resamples: 100, rng_seed: 1}}}}
"""
TWO = """
schema_version: 1
slug: SLUG
title: Two classes
evidence: predictions
predictions: {kind: classification, classes: [benign, malignant], labels: public, missing: MISSING}
metrics: {auc: {direction: maximize, min: 0, max: 1}, accuracy: {direction: maximize, min: 0, max: 1}}
tasks: [{id: diagnosis}]
admission: {prereg: optional}
leaderboards:
  - {name: board, method: estimate, metrics: [auc, accuracy], uncertainty: {n_resamples: 100, rng_seed: 1}}
"""
MODELS = {"logistic-regression": "alice", "decision-stump": "steward", "one-feature": "steward"}
Rows = Sequence[tuple[str, str]]
WHOLE = [[round(p, 9) for p in each] for each in YDF["predictions"]]


@pytest.fixture(scope="module")
def site(postgres_url: str, migrated: str) -> Iterator[Site]:
    """One site with the example's labels and its three models, whole; each attack is an entrant of its own."""
    with new_database(postgres_url, migrated) as url, open_site(url, Settings(max_stale_s=0)) as opened:
        for slug, missing in (("lenient", "failure"), ("strict", "refuse")):
            manifest = TWO.replace("SLUG", slug).replace("MISSING", missing)
            begin(opened, slug, manifest, (EXAMPLE / "labels.csv").read_text())
        for name, who in MODELS.items():
            send(opened, "lenient", name, (EXAMPLE / "results" / f"{name}.csv").read_text(), who)
        begin(opened, "three", THREE, table(("item", "label"), [(f"i{at:03}", of) for at, of in enumerate(TRUTH)]))
        send(opened, "three", "YDF", calling(WHOLE)[0], "alice")
        yield opened


def begin(site: Site, slug: str, manifest: str, labels: str) -> None:
    """Make a benchmark and put its labels."""
    created = site.http.post("/benchmarks", content=manifest, headers=site.auth("steward") | grids.YAML)
    assert created.status_code == 201, created.text
    files = {"file": ("labels.csv", labels)}
    put = site.http.put(f"/benchmarks/{slug}/labels", files=files, headers=site.auth("steward"))
    assert put.status_code == 201, put.text


def send(site: Site, slug: str, entrant: str, content: str, who: str = "bob", prereg: bytes | None = None) -> Any:
    """Send the predictions of an entrant, with its registration if it has one, and return the answer."""
    files: list[Any] = [("files", (f"{entrant}.csv", content))]
    files += [] if prereg is None else [("prereg", ("prereg.yaml", prereg))]
    answer = site.http.post(
        f"/benchmarks/{slug}/submissions", files=files, data={"entrant": entrant}, headers=site.auth(who)
    )
    assert answer.status_code == 202, answer.text
    return answer.json()


def read(path: Path) -> Rows:
    """Return the two columns of a file of the example."""
    with path.open(newline="") as file:
        return [(row[0], row[1]) for row in list(csv.reader(file))[1:]]


def right_ones(n_kept: int) -> Rows:
    """Return so many predictions of the weakest model, the surest of those that are right."""
    labels = dict(read(EXAMPLE / "labels.csv"))
    rows = read(EXAMPLE / "results" / "one-feature.csv")
    right = [row for row in rows if (float(row[1]) > 0.5) == (labels[row[0]] == "malignant")]
    return sorted(right, key=lambda row: -abs(float(row[1]) - 0.5))[:n_kept]


@pytest.mark.parametrize("is_registered", [False, True])
def test_55_right_answers_are_behind_all_and_change_nobody(site: Site, is_registered: bool) -> None:
    """Of 569 items the 55 surest that are right, also registered as they are run: the others count as wrong."""
    before = grids.by_entrant(grids.board(site, "lenient"))
    name = f"sly-{is_registered}"
    prereg = f"benchmark: lenient\nentrants: [{name}]\nmetrics: [auc]\nnotes: The 55 easy items.\n".encode()
    if is_registered:
        headers = site.auth("bob") | grids.YAML
        created = site.http.post("/preregs?benchmark=lenient", content=prereg, headers=headers)
        assert created.status_code == 201, created.text
    content = table(("item", "prediction"), right_ones(55))
    sent = send(site, "lenient", name, content, prereg=prereg if is_registered else None)
    after = grids.by_entrant(grids.board(site, "lenient"))

    assert sent["admitted"], sent["checks"]
    assert (after[name]["rank"], after[name]["covered"], after[name]["may_be_first"]) == (4, "55 of 569", False)
    assert after[name]["accuracy"] == pytest.approx(55 / 569)
    assert [[after[who][column] for column in SHOWN] for who in MODELS] == [
        [before[who][column] for column in SHOWN] for who in MODELS
    ]


def test_where_the_manifest_refuses_gaps_55_rows_are_no_submission(site: Site) -> None:
    """422 that says how many items lack a prediction."""
    files = [("files", ("sly.csv", table(("item", "prediction"), right_ones(55))))]
    answer = site.http.post(
        "/benchmarks/strict/submissions", files=files, data={"entrant": "sly"}, headers=site.auth("bob")
    )

    assert answer.status_code == 422, answer.text
    assert "514" in answer.text


def calling(probabilities: Sequence[Sequence[float]]) -> tuple[str, float]:
    """Return predictions as a file, and their macro precision as scikit-learn counts classes that are never called."""
    called = [CLASSES[max(range(3), key=list(each).__getitem__)] for each in probabilities]
    rows = [(f"i{at:03}", *each) for at, each in enumerate(probabilities)]
    return table(("item", *(f"p_{name}" for name in CLASSES)), rows), float(
        precision_score(TRUTH, called, average="macro", zero_division=0)
    )


def test_who_never_calls_the_hard_classes_is_behind_with_scikit_learns_value(site: Site) -> None:
    """YDF's predictions, the same with the class of the fewest hits never called, one class alone: in this order."""
    never_a = [[0.0, b + a / 2, c + a / 2] for a, b, c in WHOLE]
    expected = {"YDF": calling(WHOLE)[1]}
    for name, each in {"never-a": never_a, "only-c": [[0.0, 0.0, 1.0]] * len(TRUTH)}.items():
        content, expected[name] = calling(each)
        send(site, "three", name, content)
    shown = grids.by_entrant(grids.board(site, "three"))

    assert [shown[name]["rank"] for name in ("YDF", "never-a", "only-c")] == [1, 2, 3]
    assert {name: shown[name]["precision_macro"] for name in expected} == pytest.approx(expected, abs=1e-9)
    assert expected["only-c"] == pytest.approx(34 / 90 / 3)


def test_only_the_items_of_the_easy_class_have_no_rank_also_registered(site: Site) -> None:
    """Every item that is predicted is right, and two of three are not: shown apart with n of N, and YDF is first."""
    prereg = b"benchmark: three\nentrants: [easy]\nmetrics: [precision_macro]\nnotes: The items of one class.\n"
    site.http.post("/preregs?benchmark=three", content=prereg, headers=site.auth("bob") | grids.YAML).raise_for_status()
    rows = [(f"i{at:03}", *(float(name == label) for name in CLASSES))
            for at, label in enumerate(TRUTH) if label == CLASSES[0]]  # fmt: skip
    content = table(("item", *(f"p_{name}" for name in CLASSES)), rows)
    send(site, "three", "easy", content, prereg=prereg)
    shown = grids.by_entrant(grids.board(site, "three"))

    assert (shown["easy"]["rank"], shown["easy"]["unranked_because"]) == (None, "partial")
    assert shown["easy"]["n_included"] == len(rows) < shown["easy"]["n_attempted"] == len(TRUTH)
    assert shown["YDF"]["rank"] == 1
