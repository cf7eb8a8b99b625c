"""Boards of predictions measured in this process."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from app.boards.measured import EntrantEvidence, Measurement
from app.boards.methods.estimate import EstimateBoard
from app.kinds.parse import parse_manifest
from app.kinds.predictions.measure import measure_predictions
from app.manifest.model import Manifest
from app.stats.arrays import FloatArray
from app.values.scores import Coded, Labels, PredictionBlock, ScoreTable

BINARY = "kind: classification, classes: ['no', 'yes']"

COLOURS = "kind: classification, classes: [red, green, blue]"

ERRORS = ("logloss", "brier", "rmse", "mae")


def benchmark(part: str, metrics: Sequence[str], tasks: Sequence[str] = ("t",), more: str = "") -> Manifest:
    """Return a benchmark of predictions with one board of the metrics."""
    directions = {m: "minimize" if m in ERRORS else "maximize" for m in metrics}
    return parse_manifest(benchmark_text(part, directions, tasks, more).encode())


def benchmark_text(part: str, directions: Mapping[str, str], tasks: Sequence[str] = ("t",), more: str = "") -> str:
    """Return the manifest of a benchmark of predictions with one board of the metrics."""
    declared = ", ".join(f"'{m}': {{direction: {direction}}}" for m, direction in directions.items())
    return f"""
schema_version: 1
slug: guess
title: Guess
evidence: predictions
metrics: {{{declared}}}
tasks: [{", ".join(f"{{id: {task}}}" for task in tasks)}]
predictions: {{{part}}}
leaderboards: [{{name: board, method: estimate, metrics: [{", ".join(f"'{m}'" for m in directions)}]{more}}}]
"""


def measure(manifest: Manifest, entrant: str, values: FloatArray, labels: Labels, *more: Any) -> Measurement:
    """Measure what one entrant predicted for one task, or for more: values, labels, values, labels, …"""
    pairs = [(values, labels), *zip(more[::2], more[1::2], strict=True)]
    blocks = [PredictionBlock(entrant, truth.task, each.reshape(len(each), -1)) for each, truth in pairs]
    evidence = EntrantEvidence(entrant, empty_scores(), blocks, {truth.task: truth for _, truth in pairs})
    return measure_predictions(manifest, spec(manifest), evidence)


def empty_scores() -> ScoreTable:
    """Return no rows: predictions have no scores of their own."""
    nothing = np.zeros(0, dtype=np.int64)
    coded = Coded((), nothing)
    return ScoreTable(coded, coded, (), np.zeros((0, 0)), nothing.astype(np.bool_), nothing, nothing)


def spec(manifest: Manifest) -> EstimateBoard:
    """Return the board."""
    board = manifest.leaderboards[0]
    assert isinstance(board, EstimateBoard)
    return board


def two_classes(n_items: int = 300, seed: int = 1) -> tuple[Labels, FloatArray]:
    """Return labels and probabilities that know something of them, with ties."""
    rng = np.random.default_rng(seed)
    label = (rng.random(n_items) < 0.4).astype(np.float64)
    scores = np.round(1 / (1 + np.exp(-(rng.normal(size=n_items) + 1.5 * label - 0.7))), 2)
    return Labels("t", (), label), scores
