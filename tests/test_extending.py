"""What may be added from outside, each walked from POST to page and CSV.

A ranking method, a metric of predictions, and a column on every board; a kind of evidence is in
`test_extending_kind`. Nothing of the app is changed or replaced: each is added to its registry for the time of a test.
The class of the method's boards stands in this module, because readers of uploads load it by its name.
"""

from typing import Literal
from unittest.mock import patch

import numpy as np
import pytest
from numpy.typing import NDArray

from app.boards.calibrated import DrawnSpread
from app.boards.cells import build_cells
from app.boards.columns import COLUMNS, BoardRow, board_table, ends_at
from app.boards.registry import methods
from app.boards.standing import draw_tasks, stand, uncertainty_meta
from app.boards.tables import BoardTables, TableMethod
from app.errors import ManifestRejected
from app.kinds.parse import parse_manifest
from app.kinds.predictions.metrics import METRICS
from app.kinds.predictions.task import PredictionMetric, TaskPredictions, mean_of
from app.manifest.model import Leaderboard, Manifest, MetricName
from app.stats.resample import percentile_interval
from app.values.frame import FrameField, with_interval
from app.values.glossary import GlossaryEntry
from app.values.scores import ScoreTable
from app.values.table import Column
from tests.cases.prediction_boards import BINARY, benchmark_text
from tests.cases.walkthrough import BASE, GOOD, MANIFEST, PREREG, give, rows_of, send
from tests.fixtures import Site


class Worst(Leaderboard):
    """A board of the largest error of any task."""

    method: Literal["worst"]
    metric: MetricName

    def metric_names(self) -> tuple[str, ...]:
        """Return the one metric of the board."""
        return (self.metric,)


def compute_worst(manifest: Manifest, spec: Worst, scores: ScoreTable) -> BoardTables:
    """Rank by the largest error; its interval is drawn over tasks."""
    cells = build_cells(manifest, spec, scores, spec.metric)
    resamples = draw_tasks(spec, len(cells.tasks))
    assert resamples is not None
    points = cells.values.max(axis=0)
    rng = np.random.default_rng(spec.uncertainty.rng_seed)
    drawn = np.stack(
        [cells.values[rng.integers(0, len(cells.tasks), len(cells.tasks))].max(axis=0) for _ in range(200)]
    )
    standing = stand(-points, DrawnSpread.of_units(-drawn, len(cells.tasks)), spec.uncertainty.level)
    column = Column(f"worst_{spec.metric}", "Largest error", direction="minimize", digits=3)
    fields = with_interval(column, ends_at(points, np.stack(percentile_interval(drawn, spec.uncertainty.level))))
    meta = {"method": spec.method, "rank_by": column.name, **uncertainty_meta(spec, len(cells.tasks))}
    return BoardTables(board_table(spec, fields, standing.placed(cells.entrants), (), meta))


def publish(site: Site, board: str) -> None:
    """Declare the benchmark with one more board, send both entrants' rows, and do the work that they call for."""
    declared = site.http.post("/benchmarks", content=MANIFEST + board, headers=site.auth("steward"))
    assert declared.status_code == 201, declared.text
    give(site, "tiny", "Base")
    assert site.http.post("/preregs", content=PREREG, headers=site.auth()).status_code == 201
    for rows in (BASE, GOOD):
        assert send(site, rows)["http"] == 202
    site.work()


def test_a_ranking_method_is_one_entry(site: Site) -> None:
    """Its boards are declared in a manifest, computed, published, and shown like any other's."""
    with patch.dict(methods(), worst=TableMethod(Worst, compute_worst)):
        publish(site, "  - {name: worst, method: worst, metric: MASE}\n")
        rows = rows_of(site, "worst")
        page = site.http.get("/benchmarks/tiny/leaderboards/worst").text

    assert [(row["rank"], row["entrant"], row["worst_MASE"]) for row in rows] == [
        ("1", "Good", "2.0"),
        ("2", "Base", "4.0"),
    ]
    assert [row["rank_high"] for row in rows] == ["2", "2"]
    assert "Largest error" in page


def test_a_method_that_nobody_added_is_refused(site: Site) -> None:
    """What was added for a while is gone afterwards."""
    board = "  - {name: worst, method: worst, metric: MASE}\n"
    answer = site.http.post("/benchmarks", content=MANIFEST + board, headers=site.auth("steward"))

    assert answer.status_code == 422
    assert "worst" in answer.text


def never_missed(task: TaskPredictions) -> NDArray[np.bool_]:
    """Say of which examples the true class had at least some probability."""
    return task.probabilities[np.arange(len(task)), task.class_number] > 0.25


CALM = PredictionMetric(
    name="calm",
    tasks=frozenset({"binary"}),
    direction="maximize",
    score=mean_of(never_missed),
    words="calmness",
    entry=GlossaryEntry(
        "calm", "Calmness", "The share of examples whose true class was not ruled out; higher is better."
    ),
)


def test_a_metric_of_predictions_is_one_row(site: Site) -> None:
    """A manifest may name it; it is computed with its interval, shown in boards and reports, and explained."""
    manifest = benchmark_text(f"{BINARY}, labels: public", {"calm": "maximize"}).encode()
    with patch.dict(METRICS, calm=CALM):
        assert site.http.post("/benchmarks", content=manifest, headers=site.auth("steward")).status_code == 201
        truth = b"item,label\n" + b"".join(b"i%d,%s\n" % (at, (b"no", b"yes")[at % 2]) for at in range(20))
        put = site.http.put("/benchmarks/guess/labels", files={"file": ("l.csv", truth)}, headers=site.auth("steward"))
        assert put.status_code == 201, put.text
        guesses = b"entrant,item,prediction\n" + b"".join(b"Ada,i%d,0.7\nBob,i%d,0.8\n" % (at, at) for at in range(20))
        sent = site.http.post(
            "/benchmarks/guess/submissions", files=[("files", ("g.csv", guesses))], headers=site.auth()
        )
        assert sent.status_code == 202, sent.text
        site.work()
        rows = rows_of(site, "board", "guess")
        report = site.http.get("/benchmarks/guess/leaderboards/board/intervals.csv").text
        glossary = site.http.get("/glossary").text

    assert [(row["rank"], row["entrant"], row["calm"]) for row in rows] == [("1", "Ada", "1.0"), ("2", "Bob", "0.5")]
    assert float(rows[1]["calm_lower"]) < 0.5 < float(rows[1]["calm_upper"])
    assert ",calm," in report
    assert "not ruled out" in glossary


def test_a_metric_that_nobody_added_is_refused() -> None:
    """Also where the same manifest was read while it was known."""
    manifest = benchmark_text(BINARY, {"calm": "maximize"}).encode()
    with patch.dict(METRICS, calm=CALM):
        assert "calm" in parse_manifest(manifest).metrics

    with pytest.raises(ManifestRejected) as refused:
        parse_manifest(manifest)
    assert "no metric of classification predictions" in str(refused.value.problems)


def test_a_column_on_every_board_is_one_field(site: Site) -> None:
    """Boards of two methods have it, on the page, in JSON and in CSV, behind the columns that every board has."""
    sure = FrameField(Column("is_sure", "Rank is sure", "flag"), _is_sure)
    with patch.dict(COLUMNS, is_sure=sure):
        publish(site, "")

    for board in ("skill", "average"):
        assert "is_sure" in rows_of(site, board)[0]
        assert [row["is_sure"] for row in rows_of(site, board)] == ["False", "False"]
        assert "Rank is sure" in site.http.get(f"/benchmarks/tiny/leaderboards/{board}").text


def _is_sure(place: BoardRow) -> bool | None:
    return None if place.rank_low is None else place.rank_low == place.rank_high
