"""Suites of series made on the spot: what every estimator measured on every record, which tests then change."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from app.boards.registry import compute_board
from app.kinds.parse import parse_manifest
from app.manifest.model import Manifest
from app.values.scores import Coded, ScoreTable

METRICS = ("mae", "bias", "runtime", "validity_rate", "coverage@0.95")
Values = dict[str, float | None]
Suite = dict[str, dict[str, Values]]
"""What each estimator has of each record, by metric; None is a null, a metric that is not there was not reported."""

RECORDS = tuple(f"r{at:02}" for at in range(12))


def stratum_of(record: str) -> str:
    """Return the stratum of a record: two take turns."""
    return f"s{int(record[-1]) % 2}" if record.startswith("r") else "own"


COVERAGES = (0.9, 0.8, 1.0, 0.6)


def suite(seed: int) -> Suite:
    """Return errors around the difficulty of each record, the better estimators first; the third covers every truth."""
    rng = np.random.default_rng(seed)
    difficulty = rng.gamma(2.0, 0.3, len(RECORDS))
    return {
        f"E{at}": {
            record: _measured(rng, hard * (0.6 + 0.2 * at), coverage)
            for record, hard in zip(RECORDS, difficulty.tolist(), strict=True)
        }
        for at, coverage in enumerate(COVERAGES)
    }


def _measured(rng: np.random.Generator, scale: float, coverage: float) -> Values:
    error = scale + 0.1 * float(rng.normal())
    return {
        "mae": round(abs(error), 2),
        "bias": round(error, 3),
        "runtime": round(float(rng.random()), 3),
        "validity_rate": 1.0,
        "coverage@0.95": float(rng.random() < coverage),
    }


def declared(weights: Mapping[str, float], grid: str = "", more: str = "") -> Manifest:
    """Return a benchmark with one board of these weights."""
    each = ", ".join(f"{name}: {weight}" for name, weight in weights.items())
    return parse_manifest(
        f"""
schema_version: 1
slug: suite
title: Suite
evidence: series_metrics
mode: ground_truth
metrics: {{catalog: lrdbench, use: [{", ".join(METRICS)}, coverage_error@0.95]}}
tasks: {{open: true}}
{grid}
leaderboards:
  - {{name: board, method: weighted_rank, weights: {{{each}}}{more}, uncertainty: {{n_resamples: 100, rng_seed: 3}}}}
""".encode()
    )


def grid(absent: str = "unranked") -> str:
    """Return a grid that names every record."""
    return f"grid: {{items: [{', '.join(RECORDS)}], absent: {absent}}}"


def ranked(manifest: Manifest, given: Suite, order_seed: int | None = None) -> dict[str, dict[str, Any]]:
    """Return the rows of the board by estimator; the rows of the evidence come in an order of their own, if wanted."""
    rows = [(name, record, values) for name, by_record in given.items() for record, values in by_record.items()]
    if order_seed is not None:
        rows = [rows[at] for at in np.random.default_rng(order_seed).permutation(len(rows)).tolist()]
    table = compute_board(manifest, manifest.leaderboards[0], _scores(rows)).leaderboard
    return {str(row["entrant"]): dict(row) for row in table.records()}


def _scores(rows: list[tuple[str, str, Values]]) -> ScoreTable:
    reported = [" ".join(metric for metric in METRICS if metric in values) for *_, values in rows]
    cells = [[np.nan if (value := values.get(metric)) is None else value for metric in METRICS] for *_, values in rows]
    nothing = np.zeros(len(rows), dtype=np.int64)
    return ScoreTable(
        entrant=_coded(name for name, *_ in rows),
        task=_coded(stratum_of(record) for _, record, _ in rows),
        columns=METRICS,
        values=np.array(cells, dtype=np.float64),
        leaked=nothing.astype(np.bool_),
        file=nothing,
        row=np.arange(len(rows)),
        item=_coded(record for _, record, _ in rows),
        recorded={"metrics": _coded(reported)},
    )


def _coded(words: Iterable[str]) -> Coded:
    listed = list(words)
    known = tuple(dict.fromkeys(listed))
    return Coded(known, np.array([known.index(word) for word in listed], dtype=np.int64))
