"""The example of predictions over HTTP, as `make run` loads it: labels, three models, their board."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from app.cli.demo import Example
from app.prereg.prereg import sha256_hex
from tests.fixtures import Site

EXAMPLE = Example(Path(__file__).resolve().parents[3] / "examples" / "breast-cancer")
SLUG = "breast-cancer"
MODELS = ["logistic-regression", "decision-stump", "one-feature"]
REFERENCES = [
    [0.994569525923577, 0.9753954305799648, 0.07691841305818937, 0.02029478303895079],
    [0.8796046720575023, 0.8963093145869947, 0.3391231829245141, 0.09352705757333392],
    [0.7181240420696581, 0.6731107205623902, 0.5903830989355321, 0.20380890116683303],
]
YAML = {"Content-Type": "application/yaml"}


def begin(site: Site) -> dict[str, Any]:
    """Make the benchmark with labels that are no secret, put them and register the plan; return the answer to them."""
    created = site.http.post(
        "/benchmarks", content=without_secret(EXAMPLE.manifest.read_text()), headers=site.auth("steward") | YAML
    )
    assert created.status_code == 201, created.text
    assert EXAMPLE.labels is not None
    put = site.http.put(
        f"/benchmarks/{SLUG}/labels",
        files={"file": (EXAMPLE.labels.name, EXAMPLE.labels.read_bytes())},
        headers=site.auth("steward"),
    )
    assert put.status_code == 201, put.text
    answer: dict[str, Any] = put.json()
    return answer


def without_secret(manifest: str) -> str:
    """Return the manifest with every number at once, to compare them with another program."""
    kept = [line for line in manifest.splitlines() if not line.startswith("scoring:")]
    return "\n".join(kept).replace("labels: private, label_holders: ranked", "labels: public")


def submit_all(site: Site, who: str = "alice") -> list[dict[str, Any]]:
    """Submit every model with its registration and return the answers."""
    answers = []
    for submission in EXAMPLE.submissions:
        assert submission.prereg is not None
        assert submission.entrant is not None
        plan = submission.prereg.read_bytes()
        assert site.http.post("/preregs", content=plan, headers=site.auth(who) | YAML).status_code in (200, 201)
        answer = site.http.post(
            f"/benchmarks/{SLUG}/submissions",
            files=[("files", (path.name, path.read_bytes())) for path in submission.files],
            data={"prereg_sha256": sha256_hex(plan), "entrant": submission.entrant},
            headers=site.auth(who),
        )
        assert answer.status_code == 202, answer.text
        answers.append(answer.json())
    return answers


def publish_board(site: Site) -> list[dict[str, str]]:
    """Bring the whole example onto its board and return the board's rows."""
    begin(site)
    submit_all(site)
    site.work()
    table = site.http.get(f"/benchmarks/{SLUG}/leaderboards/auc.csv").text
    return list(csv.DictReader(io.StringIO(table)))


def read(path: Path) -> dict[str, str]:
    """Return the second column of a CSV by the first."""
    with path.open(newline="") as file:
        return dict(list(csv.reader(file))[1:])


def test_the_labels_are_those_of_569_items(roomy_site: Site) -> None:
    """212 of them malignant; nothing is warned about."""
    put = begin(roomy_site)
    labels = list(read(EXAMPLE.folder / "labels.csv").values())

    assert [(task["task"], task["n_items"]) for task in put["tasks"]] == [("diagnosis", 569)]
    assert put["warnings"] == []
    assert labels.count("malignant") == 212


def test_every_model_is_received_and_passes_its_checks(roomy_site: Site) -> None:
    """One entrant each, under the plan that it cites, with no check failed."""
    begin(roomy_site)
    answers = submit_all(roomy_site)

    assert [answer["entrants"][0]["name"] for answer in answers] == MODELS
    assert [answer["files"][0]["n_rows"] for answer in answers] == [569] * 3
    assert [answer["status"] for answer in answers] == ["received"] * 3
    assert [c for answer in answers for c in answer["checks"] if c["outcome"] == "failed"] == []


def test_the_board_ranks_the_models_as_scikit_learn_does(roomy_site: Site) -> None:
    """AUC, accuracy, log loss and Brier score are those of sklearn.metrics 1.9.1 on the committed files."""
    rows = publish_board(roomy_site)
    actual = [[float(row[name]) for name in ("auc", "accuracy", "logloss", "brier")] for row in rows]

    assert [row["entrant"] for row in rows] == MODELS
    assert actual == [pytest.approx(reference, rel=1e-12) for reference in REFERENCES]
    assert [(row["rank_low"], row["rank_high"]) for row in rows] == [("1", "1"), ("2", "2"), ("3", "3")]


@pytest.mark.parametrize(
    ("model", "right"), [("logistic-regression", 555), ("decision-stump", 510), ("one-feature", 383)]
)
def test_the_models_differ_clearly(model: str, right: int) -> None:
    """How many items each gets right where it says malignant from a half on."""
    labels = read(EXAMPLE.folder / "labels.csv")
    predicted = read(EXAMPLE.folder / "results" / f"{model}.csv")

    assert list(predicted) == list(labels)
    assert sum((float(predicted[item]) >= 0.5) == (labels[item] == "malignant") for item in labels) == right


def test_the_shipped_example_shows_the_public_part_in_steps(roomy_site: Site) -> None:
    """As `make run` loads it: 40 % of the items, no held-back model, and a commitment to the labels."""
    site = roomy_site
    created = site.http.post("/benchmarks", content=EXAMPLE.manifest.read_bytes(), headers=site.auth("steward") | YAML)
    assert created.status_code == 201, created.text
    assert EXAMPLE.labels is not None
    files = {"file": (EXAMPLE.labels.name, EXAMPLE.labels.read_bytes())}
    site.http.put(f"/benchmarks/{SLUG}/labels", files=files, headers=site.auth("steward"))
    submit_all(site, "steward")
    site.work()
    rows = list(csv.DictReader(io.StringIO(site.http.get(f"/benchmarks/{SLUG}/leaderboards/auc.csv").text)))
    page = site.http.get(f"/benchmarks/{SLUG}", headers={"Accept": "text/html"}).text

    assert [row["entrant"] for row in rows] == MODELS
    assert {row["n_items"] for row in rows} == {"228"}
    assert all(len(row["accuracy"].partition(".")[2]) <= 3 for row in rows)
    assert f'href="/benchmarks/{SLUG}/commitment"' in page
    assert "3 submissions of an owner" in page
