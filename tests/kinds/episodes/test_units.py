"""Episodes without seeds: intervals rest on items, and rows need no column for what they have not."""

from pathlib import Path

import numpy as np
import pytest

from app.config import Settings
from app.files.uploads import Limits, SentFile
from app.jobs.replay import OfflineBenchmark, OfflineSubmission
from app.kinds.parse import parse_manifest
from app.kinds.reader import read_evidence
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
    return {table.name: table for table in OfflineBenchmark(manifest, [OfflineSubmission(1, read.scores)]).tables()}


@pytest.mark.heavy
def test_questions_of_one_seed_have_intervals(tmp_path: Path) -> None:
    """A model that was run once has as many units as questions."""
    rows = list(tables(tmp_path)["leaderboard/acc"].records())

    assert [row["acc_calibrated_units"] for row in rows] == [200.0, 200.0]
    assert all(row["acc_calibrated_low"] < row["acc"] < row["acc_calibrated_high"] for row in rows)


def test_the_difference_of_two_models_is_as_wide_as_its_paired_standard_error(tmp_path: Path) -> None:
    """Each question is weighed once: a weight for the question and one for its only row would triple the variance."""
    actual = tables(tmp_path)
    row = next(r for r in actual["pairwise/acc"].records() if (r["entrant_a"], r["entrant_b"]) == ("a", "b"))
    low, high = row["difference_lower"], row["difference_upper"]
    spread = np.sqrt(sum(share * (1 - share) for share in SHARES.values()) / 200)

    assert isinstance(low, float)
    assert isinstance(high, float)
    assert abs((high - low) / (2 * 1.96 * spread) - 1) < 0.15
