"""Boards as other sites take them: valid against the schema of Every Eval Ever, and by huggingface_hub's own types."""

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml, parse_eval_result_entries
from huggingface_hub.repocard_data import model_index_to_eval_results

from app.config import Settings
from tests.cases.harnesses import SAMPLES, SUMMARY, read, rows_of
from tests.cases.walkthrough import BASE, GOOD, declare, send
from tests.fixtures import Site, new_database, open_site

TINY = "/benchmarks/tiny"
SERVER = "https://boards.example"
ODD = GOOD.replace(b"Good", b"org/model (x=1)")


@pytest.fixture(scope="module")
def published(postgres_url: str, migrated: str) -> Iterator[Site]:
    """A benchmark with three entrants, one of them with a slash and brackets in its name."""
    settings = Settings(max_stale_s=0, base_url=SERVER)
    with new_database(postgres_url, migrated) as url, open_site(url, settings) as site:
        declare(site)
        for rows in (BASE, GOOD, ODD):
            send(site, rows)
        site.work()
        yield site


def documents(site: Site) -> dict[str, Any]:
    """Return the files of the export by their names."""
    answer = site.http.get(f"{TINY}/every-eval-ever.zip")
    assert answer.status_code == 200, answer.text
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        return {name: json.loads(archive.read(name)) for name in archive.namelist()}


def test_every_document_is_valid_against_the_schema(published: Site) -> None:
    """The schema as Every Eval Ever publishes it, unchanged."""
    schema = json.loads((SAMPLES / "every_eval_ever" / "eval.schema.json").read_text("utf-8"))
    validator = jsonschema.validators.validator_for(schema)(schema)
    actual = documents(published)

    assert len(actual) == 3
    assert [error.message for each in actual.values() for error in validator.iter_errors(each)] == []


def test_an_entrant_has_its_scores_on_every_board_with_intervals(published: Site) -> None:
    """The numbers of the boards, and which way is better."""
    (document,) = [d for d in documents(published).values() if d["model_info"]["id"] == "org/model (x=1)"]
    shown = {row["entrant"]: row for row in published.http.get(f"{TINY}/leaderboards/average.json").json()["rows"]}
    results = {each["evaluation_result_id"]: each for each in document["evaluation_results"]}
    score = results["average/mean_MASE"]

    assert score["score_details"]["score"] == shown["org/model (x=1)"]["mean_MASE"]
    assert score["metric_config"]["lower_is_better"] is True
    assert {name.partition("/")[0] for name in results} == {
        board["name"] for board in published.http.get(f"{TINY}.json").json()["manifest"]["leaderboards"]
    }
    assert (document["model_info"]["developer"], document["retrieved_timestamp"].isdigit()) == ("org", True)


def test_names_are_safe_as_folders(published: Site) -> None:
    """An address within the zip never leaves it."""
    for name in documents(published):
        assert name.startswith("data/tiny/")
        assert ".." not in name
        assert "(" not in name


def test_what_is_exported_is_read_again(published: Site, tmp_path: Path) -> None:
    """An aggregate of ours is a summary of its evaluations."""
    (document,) = [d for d in documents(published).values() if d["model_info"]["id"] == "Good"]
    path = tmp_path / "good.json"
    path.write_text(json.dumps(document))
    rows, run = rows_of([path], tmp_path, "summary")

    assert not run.findings.n_problems
    assert {row.entrant for row in rows} == {"Good"}


def test_scores_for_the_hub_are_read_by_its_own_types(published: Site) -> None:
    """An entry for each score; written again they are the same document."""
    answer = published.http.get(f"{TINY}/eval-results/org/model%20(x=1).yaml?dataset=lab/tiny")
    assert answer.status_code == 200, answer.text
    reported = yaml.safe_load(answer.text)
    entries = parse_eval_result_entries(reported)

    assert all(isinstance(entry, EvalResultEntry) for entry in entries)
    assert {entry.dataset_id for entry in entries} == {"lab/tiny"}
    assert eval_result_entries_to_yaml(entries) == reported
    assert all(str(entry.source_url).startswith(f"{SERVER}{TINY}/leaderboards/") for entry in entries)


def test_the_tasks_of_the_scores_are_those_of_the_benchmark(published: Site) -> None:
    """`eval.yaml` names a task for each board and score."""
    about = yaml.safe_load(published.http.get(f"{TINY}/eval.yaml").text)
    reported = yaml.safe_load(published.http.get(f"{TINY}/eval-results/Good.yaml?dataset=lab/tiny").text)

    assert {each["dataset"]["task_id"] for each in reported} <= {task["id"] for task in about["tasks"]}
    assert about["name"]


def test_a_model_index_is_read_by_the_hubs_own_types(published: Site, tmp_path: Path) -> None:
    """Without a data set on the Hub the answer is what stands in a model card, and it can be submitted again."""
    text = published.http.get(f"{TINY}/eval-results/Good.yaml").text
    name, results = model_index_to_eval_results(yaml.safe_load(text)["model-index"])
    card = tmp_path / "README.md"
    card.write_text(f"---\n{text}---\n")

    assert (name, {result.dataset_type for result in results}) == ("Good", {"tiny"})
    assert read([card], SUMMARY.format(column="mean_MASE")).scores.entrant.words == ("Good",)


@pytest.mark.parametrize(
    ("address", "status"),
    [("eval-results/Nobody.yaml", 404), ("eval-results/Good", 404), ("eval-results/Good.yaml?dataset=../x", 422)],
)
def test_what_is_not_there_is_said(published: Site, address: str, status: int) -> None:
    """Nobody of that name, another ending, a data set that is no repository."""
    assert published.http.get(f"{TINY}/{address}").status_code == status
