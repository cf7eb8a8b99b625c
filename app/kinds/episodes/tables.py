"""The tables of episodes beside a board of method `estimate`: by task and condition, performance profiles, composite.

The rows were made when each entrant was measured.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from app.boards.measured import Measurement
from app.boards.methods.estimate import EstimateBoard, drawn_meta
from app.boards.standing import BoardStanding
from app.boards.tables import Beside
from app.manifest.model import Manifest
from app.values.table import Cell, Column, Table

VALUE = (
    Column("value", "Value", interval=("value_calibrated_low", "value_calibrated_high"), glossary="estimate", digits=3),
    Column("value_lower", "Value, compatible interval, low", detail=True, glossary="estimate", digits=3),
    Column("value_upper", "Value, compatible interval, high", detail=True, glossary="estimate", digits=3),
    Column("value_calibrated_low", "Value, calibrated, low", detail=True, glossary="calibrated", digits=3),
    Column("value_calibrated_high", "Value, calibrated, high", detail=True, glossary="calibrated", digits=3),
    Column("value_calibrated_how", "Value, calibrated how", "text", detail=True, glossary="calibrated"),
)
BREAKDOWN = (
    Column("entrant", "Entrant", "text"),
    Column("task", "Task", "text"),
    Column("condition", "Condition", "text"),
    Column("metric", "Metric", "text"),
    Column("statistic", "Statistic", "text"),
    *VALUE,
    Column("mean", "Mean", digits=3),
    Column("n_seeds", "Seeds", "integer", glossary="counts"),
    Column("n_episodes", "Episodes", "integer", glossary="counts"),
    Column("note", "Note", "text"),
)
PROFILE = (
    Column("entrant", "Entrant", "text"),
    Column("metric", "Metric", "text"),
    Column("tau", "Threshold", digits=3, glossary="profile"),
    Column("share", "Share above", direction="maximize", interval=("share_calibrated_low", "share_calibrated_high"),
           glossary="profile", digits=3),
    Column("share_lower", "Share above, compatible interval, low", detail=True, glossary="profile", digits=3),
    Column("share_upper", "Share above, compatible interval, high", detail=True, glossary="profile", digits=3),
    Column("share_calibrated_low", "Share above, calibrated, low", detail=True, glossary="calibrated", digits=3),
    Column("share_calibrated_high", "Share above, calibrated, high", detail=True, glossary="calibrated", digits=3),
)  # fmt: skip
COMPONENTS = (
    Column("entrant", "Entrant", "text"),
    Column("task", "Component", "text"),
    *VALUE,
    Column("weight", "Weight", digits=2, glossary="composite"),
    Column("gap", "Gap", direction="minimize", interval=("gap_calibrated_low", "gap_calibrated_high"), glossary="gap",
           digits=3),
    Column("gap_calibrated_low", "Gap, calibrated, low", detail=True, glossary="calibrated", digits=3),
    Column("gap_calibrated_high", "Gap, calibrated, high", detail=True, glossary="calibrated", digits=3),
    Column("gap_calibrated_how", "Gap, calibrated how", "text", detail=True, glossary="calibrated"),
    Column("n_pairs", "Pairs", "integer", glossary="pairs"),
    Column("is_missing", "Missing", "flag", glossary="partial"),
)  # fmt: skip
QUANTILES = (
    Column("entrant", "Entrant", "text"),
    Column("metric", "Metric", "text"),
    Column("quantile", "Quantile", "text", glossary="quantile"),
    Column("value", "Value", interval=("value_calibrated_low", "value_calibrated_high"), glossary="quantile", digits=3),
    Column("value_calibrated_low", "Value, calibrated, low", detail=True, glossary="calibrated", digits=3),
    Column("value_calibrated_high", "Value, calibrated, high", detail=True, glossary="calibrated", digits=3),
    Column("value_calibrated_how", "Value, calibrated how", "text", detail=True, glossary="calibrated"),
    Column("note", "No interval", "text", glossary="quantile"),
    Column("task", "Task", "text"),
    Column("n_seeds", "Seeds", "integer", glossary="counts"),
    Column("n_episodes", "Episodes", "integer", glossary="counts"),
)
NOT_DRAWN = dict.fromkeys(("interval", "n_resamples", "rng_seed", "stream"))
PLOT = {
    "kind": "lines",
    "x": "tau",
    "y": "share",
    "low": "share_calibrated_low",
    "high": "share_calibrated_high",
    "by": "entrant",
    "y_range": [0.0, 1.0],
}


def further_tables(
    manifest: Manifest, spec: EstimateBoard, measurements: Sequence[Measurement], standing: BoardStanding | None
) -> tuple[Beside, ...]:
    """Return the tables, of which those that have rows are shown, each named `<kind>/<board>`."""
    del manifest, standing  # the board and the rows say everything
    title = spec.title or spec.name
    composite = spec.composite.title if spec.composite else "Composite"
    kinds: tuple[tuple[str, str, tuple[Column, ...], Mapping[str, Any]], ...] = (
        ("breakdown", f"{title}, by task and condition", BREAKDOWN, {}),
        ("profiles", f"{title}, performance profiles", PROFILE, {"plot": PLOT}),
        ("components", f"{composite}, its components", COMPONENTS, {}),
        ("quantiles", f"{title}, quantiles", QUANTILES, NOT_DRAWN),
    )
    return tuple(
        Beside(f"{kind}/{spec.name}", partial(_table, kind, of_kind, columns, spec, measurements, meta))
        for kind, of_kind, columns, meta in kinds
    )


def _table(
    kind: str,
    title: str,
    columns: tuple[Column, ...],
    spec: EstimateBoard,
    measurements: Sequence[Measurement],
    meta: Mapping[str, Any],
) -> Table | None:
    rows: list[tuple[Cell, ...]] = [
        (measurement.entrant, *row) for measurement in measurements for row in measurement.rows.get(kind, ())
    ]
    if not rows:
        return None
    return Table(f"{kind}/{spec.name}", title, columns, tuple(rows), (), {**drawn_meta(spec), **meta})
