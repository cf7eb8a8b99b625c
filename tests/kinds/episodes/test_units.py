"""Episodes without seeds: intervals rest on items, and rows need no column for what they have not."""

import json
from pathlib import Path

import numpy as np
import pytest

from app.config import Settings
from app.errors import EvidenceRejected, ManifestRejected
from app.files.uploads import Limits, SentFile
from app.jobs.boards import compute_tables
from app.jobs.replay import offline_evidence
from app.kinds.parse import parse_manifest
from app.kinds.reader import Evidence, read_evidence
from app.values.table import Table

MANIFEST = """\
schema_version: 1
slug: quiz
title: Quiz
evidence: episodes
episodes: {entrant: model, item: [question], condition: null, seed: null, task: subject}
metrics: {acc: {direction: maximize, min: 0, max: 1}}
tasks: [{id: x}, {id: y}]
leaderboards:
  - {name: acc, method: estimate, metrics: [acc], statistic: mean, uncertainty: {n_resamples: 1000}}
"""
SHARES = {"a": 0.7, "b": 0.5}


def tables(folder: Path) -> dict[str, Table]:
    """Return the tables of two models on 100 questions of each of two subjects."""
    chance = np.random.default_rng(3)
    rows = [f"{model},{subject},{question},{int(chance.random() < share)}"
            for model, share in SHARES.items() for subject in "xy" for question in range(100)]  # fmt: skip
    path = folder / "quiz.csv"
    path.write_text("\n".join(["model,subject,question,acc", *rows]) + "\n")
    manifest = parse_manifest(MANIFEST.encode())
    read = read_evidence(manifest, [SentFile(path.name, path)], None, Limits.from_settings(Settings()))
    return {table.name: table for table in compute_tables(offline_evidence(manifest, [read]))}


@pytest.mark.heavy
def test_questions_of_one_seed_have_intervals(tmp_path: Path) -> None:
    """A model that was run once has as many units as questions, and one seed, by the board and by task."""
    found = tables(tmp_path)
    board = found["leaderboard/acc"]
    rows = list(board.records())

    assert {row["n_seeds"] for table in (board, found["breakdown/acc"]) for row in table.records()} == {1}

    assert [row["acc_calibrated_units"] for row in rows] == [200.0, 200.0]
    assert all(row["acc_calibrated_low"] < row["acc"] < row["acc_calibrated_high"] for row in rows)
    assert board.notes.count("Items are treated as independent: no cluster of items is declared.") == 1


def test_the_difference_of_two_models_is_as_wide_as_its_paired_standard_error(tmp_path: Path) -> None:
    """Each question is weighed once: a weight for the question and one for its only row would triple the variance."""
    actual = tables(tmp_path)
    row = next(r for r in actual["pairwise/acc"].records() if (r["entrant_a"], r["entrant_b"]) == ("a", "b"))
    low, high = row["difference_lower"], row["difference_upper"]
    spread = np.sqrt(sum(share * (1 - share) for share in SHARES.values()) / 200)

    assert isinstance(low, float)
    assert isinstance(high, float)
    assert abs((high - low) / (2 * 1.96 * spread) - 1) < 0.15


def clustered(items: str = '["p1/q1", "p1/q2", "p2/q3", "p2/q4"]', seed: str = "null", item: str = "question") -> str:
    """Return the benchmark with one task whose questions are about passages."""
    text = MANIFEST.replace("[{id: x}, {id: y}]", "[{id: x}]").replace("seed: null", f"seed: {seed}")
    text = text.replace("[question]", f"[{item}]")
    return f"{text}items: {{cluster: passage}}\ngrid: {{items: {items}}}\n"


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        (clustered(seed="seed"), "expected episodes.seed: null"),
        (clustered(item="passage"), "is a cluster of its own"),
        (clustered(items="40"), "expected grid.items as a list or `file`"),
        (clustered(items="[q1, q2]"), "names no cluster; expected passage/question"),
        (clustered(items='["p1/q1", "p1/q2"]'), "nothing can be drawn; expected two clusters"),
        (clustered(items='["p1/q1", "p2/q1"]'), "is in two clusters, p1 and p2; expected one"),
    ],
)
def test_clusters_that_cannot_be_drawn_are_refused_with_their_line(manifest: str, said: str) -> None:
    """A steward names each item with its one cluster; nobody who sends rows may say what belongs together."""
    with pytest.raises(ManifestRejected) as refused:
        parse_manifest(manifest.encode())

    assert said in (problem := refused.value.problems[0]).message
    assert problem.row is not None


def test_a_number_of_items_within_its_passage_may_come_again() -> None:
    """Where the cluster is a part of what tells items apart, question 1 of two passages are two items."""
    parse_manifest(clustered('["p1/1", "p2/1"]', item="passage, question").encode())


def read_clustered(folder: Path, rows: list[str], manifest: str) -> Evidence:
    """Return the evidence of rows of model, subject, passage, question and score."""
    path = folder / "quiz.csv"
    path.write_text("\n".join(["model,subject,passage,question,acc", *rows]) + "\n")
    return read_evidence(
        parse_manifest(manifest.encode()), [SentFile(path.name, path)], None, Limits.from_settings(Settings())
    )


def test_a_cluster_that_splits_an_item_is_refused_with_file_and_line(tmp_path: Path) -> None:
    """One question about two passages is an error of the file, whoever's rows they are."""
    with pytest.raises(EvidenceRejected) as refused:
        read_clustered(tmp_path, ["a,x,p1,q1,1", "b,x,p2,q1,0"], clustered())

    problem = refused.value.problems[0]
    assert (problem.file, problem.row, problem.column, problem.value) == ("quiz.csv", 3, "passage", "p2")
    assert problem.message == "the item q1 is in the cluster p1 already: row 2 of quiz.csv; expected one cluster"


def test_copies_of_a_question_in_its_passage_tell_nothing_new(tmp_path: Path) -> None:
    """Four questions with the same answers in each of 30 passages have the interval of one, and the board says so."""
    chance = np.random.default_rng(5)
    right = {model: chance.random(30) < share for model, share in SHARES.items()}
    found = {}
    for n_each in (1, 4):
        at = [(passage, copy) for passage in range(30) for copy in range(n_each)]
        rows = [f"{m},x,p{p},q{p}_{c},{int(right[m][p])}" for m in right for p, c in at]
        text = clustered(json.dumps([f"p{p}/q{p}_{c}" for p, c in at]))
        read = read_clustered(tmp_path, rows, text)
        computed = compute_tables(offline_evidence(parse_manifest(text.encode()), [read]))
        found[n_each] = next(table for table in computed if table.name == "leaderboard/acc")
    once, four = (list(table.records()) for table in found.values())

    for name in ("acc", "rank", "rank_low", "rank_high", "first_p"):
        assert [row[name] for row in once] == [row[name] for row in four], name
    assert [row["acc_calibrated_units"] for row in four] == [30.0, 30.0]
    assert four[0]["acc_calibrated_low"] == pytest.approx(once[0]["acc_calibrated_low"], abs=0.01)
    assert found[4].meta["dependence"]["design_effect"] == pytest.approx(4.0, rel=0.05)
    assert any("120 items are of 30 clusters (passage)" in note for note in found[4].notes)
    assert not any("treated as independent" in note for note in found[4].notes)
