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
HTML = {"Accept": "text/html"}


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


def test_the_example_is_taken_and_ranks_the_models_as_scikit_learn_does(roomy_site: Site) -> None:
    """569 labels without a warning, an entrant for each file under the plan that it cites, no check failed; AUC,
    accuracy, log loss and Brier score are those of sklearn.metrics 1.9.1 on the committed files.
    """
    put = begin(roomy_site)
    answers = submit_all(roomy_site)
    roomy_site.work()
    rows = list(csv.DictReader(io.StringIO(roomy_site.http.get(f"/benchmarks/{SLUG}/leaderboards/auc.csv").text)))
    actual = [[float(row[name]) for name in ("auc", "accuracy", "logloss", "brier")] for row in rows]

    assert [(task["task"], task["n_items"]) for task in put["tasks"]] == [("diagnosis", 569)]
    assert put["warnings"] == []
    assert [answer["entrants"][0]["name"] for answer in answers] == MODELS
    assert [answer["files"][0]["n_rows"] for answer in answers] == [569] * 3
    assert [c for answer in answers for c in answer["checks"] if c["outcome"] == "failed"] == []
    assert [row["entrant"] for row in rows] == MODELS
    assert actual == [pytest.approx(reference, rel=1e-12) for reference in REFERENCES]
    assert [(row["rank_low"], row["rank_high"]) for row in rows] == [("1", "1"), ("2", "2"), ("3", "3")]


def load_shipped(site: Site) -> Site:
    """Load the example as `make run` does, and publish it."""
    created = site.http.post("/benchmarks", content=EXAMPLE.manifest.read_bytes(), headers=site.auth("steward") | YAML)
    assert created.status_code == 201, created.text
    assert EXAMPLE.labels is not None
    files = {"file": (EXAMPLE.labels.name, EXAMPLE.labels.read_bytes())}
    site.http.put(f"/benchmarks/{SLUG}/labels", files=files, headers=site.auth("steward"))
    submit_all(site, "steward")
    site.work()
    return site


def test_the_shipped_example_shows_the_public_part_in_steps(roomy_site: Site) -> None:
    """As `make run` loads it: 40 % of the items, no held-back model, and a commitment to the labels."""
    site = load_shipped(roomy_site)
    rows = list(csv.DictReader(io.StringIO(site.http.get(f"/benchmarks/{SLUG}/leaderboards/auc.csv").text)))
    page = site.http.get(f"/benchmarks/{SLUG}", headers={"Accept": "text/html"}).text

    assert [row["entrant"] for row in rows] == MODELS
    assert {row["n_items"] for row in rows} == {"228"}
    assert all(len(row["accuracy"].partition(".")[2]) <= 3 for row in rows)
    assert f'href="/benchmarks/{SLUG}/commitment"' in page
    assert "3 submissions of an owner" in page
    assert {row["accuracy_calibrated_units"] for row in rows} == {"228.0"}


ROUNDED = "Numbers about private labels are rounded: "
SCORES = f"{ROUNDED}scores to steps of at least half a standard error and at most 3 digits, "
OFF = " A sum or a difference of rounded numbers may differ from the one that is shown."


def test_every_table_of_private_labels_says_how_its_numbers_are_rounded(roomy_site: Site) -> None:
    """In the notes of its JSON and on its page: the cells of a confusion matrix of 228 examples sum to 225 or 230."""
    site = load_shipped(roomy_site)
    board = f"/benchmarks/{SLUG}/leaderboards/auc"
    names = ["", "/pairwise", "/comparisons", "/intervals", "/tests", "/confusion", "/roc", "/classes"]
    notes = {name: site.http.get(f"{board}{name}.json").json()["notes"] for name in names}
    told = {name: next(note for note in each if note.startswith(ROUNDED)) for name, each in notes.items()}
    of_two = site.http.get(f"{board}/against.json?a=decision-stump&b=one-feature").json()["notes"]

    assert told[""] == told["/pairwise"] == told["/comparisons"]
    assert told[""].startswith(SCORES)
    assert "p-values up, to 2 digits, those of pairs at least to 0.0001;" in told[""]
    assert told["/intervals"] == f"{SCORES}ends of their intervals outwards.{OFF}"
    assert told["/tests"].startswith(f"{ROUNDED}mean differences, which are of scores that are not rounded, to steps")
    assert told["/confusion"] == f"{ROUNDED}counts to steps of 5.{OFF}"
    assert told["/roc"] == f"{ROUNDED}shares to steps of 0.02, ends of intervals outwards.{OFF}"
    assert (
        told["/classes"] == f"{ROUNDED}shares to steps of 0.02, counts to steps of 5, ends of intervals outwards.{OFF}"
    )
    assert of_two.count(told[""]) == 1
    assert all(told[name] in site.http.get(f"{board}{name}", headers=HTML).text for name in names)


def test_the_first_sentences_say_of_which_part_and_by_what_else(roomy_site: Site) -> None:
    """In the statement, and so in badges and pictures: 60 % of the items decide, and variants are other metrics."""
    site = load_shipped(roomy_site)
    board = f"/benchmarks/{SLUG}/leaderboards/auc"
    said = site.http.get(f"{board}.json").json()["meta"]["statement"]
    badge = site.http.get(f"{board}/badge/{MODELS[0]}.svg")
    picture = site.http.get(f"{board}/embed.svg")

    assert said[:2] == [
        "On the public part (40 % of the items): logistic-regression leads.",
        "It stays first in all 8 variants of this board by other metrics.",
    ]
    assert said[0] in site.http.get(board, headers=HTML).text
    assert (badge.status_code, said[0] in badge.text) == (200, True)
    assert (picture.status_code, said[0] in picture.text) == (200, True)


def test_no_number_about_private_labels_has_a_digit_more_than_its_column(roomy_site: Site) -> None:
    """Log losses in steps of 0.05 were shown with three digits, and differences with four."""
    site = load_shipped(roomy_site)
    board = f"/benchmarks/{SLUG}/leaderboards/auc"
    columns = {
        name: site.http.get(f"{board}{name}.json").json()["columns"] for name in ("", "/comparisons", "/confusion")
    }
    digits = {name: {column["name"]: column["digits"] for column in each} for name, each in columns.items()}

    assert (digits[""]["logloss"], digits[""]["accuracy"]) == (2, 2)
    assert digits["/comparisons"]["difference"] == 3
    assert digits["/confusion"]["weight"] == 0
    assert digits[""]["first_p"] == 3
