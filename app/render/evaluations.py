"""A benchmark's boards as other sites take them: Every Eval Ever, and Hugging Face's evaluation results. A board's
scores are its columns that say which way is better; whoever has no score of a board is left out of it there.
Sources: evaleval/every_eval_ever `eval.schema.json` 0.3.0; huggingface_hub 2.4, `EvalResultEntry` and `EvalResult`.
"""

import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.manifest.model import Manifest
from app.values.table import Cell, Column, Table

SCHEMA_VERSION = "0.3.0"
NAMESPACE = uuid.UUID("7d8c5b0e-3f1e-4c59-9a53-6d3e2c1b7a11")
UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
RANGES: Mapping[str, tuple[float | None, float | None]] = {
    "win_rate": (0.0, 1.0),
    "skill_score": (None, 1.0),
    "mean_rank": (1.0, None),
}
AVERAGES = ("_iqm", "_mean", "_public_part", "_all_items", "_best_threshold", "_ydf")
"""Suffixes of columns that are a metric by another statistic, and stay within its range."""
UNKNOWN = {"deployment_type": "unknown", "model_availability": "unknown"}


@dataclass(frozen=True)
class PublishedBoards:
    """One published state: `boards` by name, and where and by which code it was published."""

    manifest: Manifest
    boards: Mapping[str, Table]
    snapshot: int
    at: datetime
    code_version: str
    home: str

    @property
    def seconds(self) -> str:
        """Return the time of the publication as Unix seconds."""
        return f"{self.at.timestamp():.0f}"

    def address(self, board: str) -> str:
        """Return the permanent address of a board."""
        return f"{self.home}/leaderboards/{board}?snapshot={self.snapshot}"

    def entrants(self) -> list[str]:
        """Return every entrant of the boards, in their order."""
        named = [str(row["entrant"]) for table in self.boards.values() if "entrant" in table.column_names()
                 for row in table.records()]  # fmt: skip
        return list(dict.fromkeys(named))


@dataclass(frozen=True)
class Scored:
    """One score of an entrant on a board, with its interval."""

    board: str
    table: Table
    column: Column
    score: float
    interval: tuple[float, float] | None
    row: Mapping[str, Cell]

    @property
    def name(self) -> str:
        """Return the name of the score within its benchmark."""
        return f"{self.board}/{self.column.name}"


def scores_of(source: PublishedBoards, entrant: str) -> Iterator[Scored]:
    """Yield every score of an entrant, board by board."""
    for board, table in source.boards.items():
        own = next((row for row in table.records() if row.get("entrant") == entrant), None)
        for column in score_columns(table) if own is not None else ():
            value = own[column.name] if own is not None else None
            if own is not None and isinstance(value, (int, float)) and not isinstance(value, bool):
                yield Scored(board, table, column, float(value), _interval(column, own), own)


def score_columns(table: Table) -> list[Column]:
    """Return the columns of a board that are scores: numbers of which one way is better, with an interval."""
    scored = [c for c in table.columns if c.kind == "number" and c.direction is not None]
    with_interval = [column for column in scored if column.interval is not None]
    return with_interval or scored[:1]


def _interval(column: Column, row: Mapping[str, Cell]) -> tuple[float, float] | None:
    low, high = (row.get(name) for name in column.interval or ("", ""))
    return (float(low), float(high)) if isinstance(low, (int, float)) and isinstance(high, (int, float)) else None


def every_eval_ever(source: PublishedBoards) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a file for each entrant that has a score: its place under `data/`, and the document."""
    for entrant in source.entrants():
        results = [_result(source, scored) for scored in scores_of(source, entrant)]
        if results:
            number = uuid.uuid5(NAMESPACE, f"{source.home}\n{source.snapshot}\n{entrant}")
            developer, _, model = entrant.rpartition("/")
            folder = f"{_safe(developer) or 'unknown'}/{_safe(model) or 'unnamed'}"
            yield f"data/{source.manifest.slug}/{folder}/{number}.json", _document(source, entrant, results)


def _safe(text: str) -> str:
    """Return a name as a folder; two that become the same one have files of different numbers in it."""
    return UNSAFE.sub("_", text).strip("._")[:100]


def _document(source: PublishedBoards, entrant: str, results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    developer = {"developer": entrant.rpartition("/")[0]} if "/" in entrant else {}
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": f"{source.manifest.slug}/{entrant}/{source.seconds}",
        "retrieved_timestamp": source.seconds,
        "source_metadata": {
            "source_name": source.manifest.title,
            "source_type": "evaluation_run",
            "source_organization_name": "plumbline",
            "source_organization_url": source.home,
            # It is not known here whether the submitter is the model's developer or somebody else.
            "evaluator_relationship": "other",
            "additional_details": {"snapshot": str(source.snapshot)},
        },
        "eval_library": {"name": "plumbline", "version": source.code_version},
        "model_info": {"name": entrant, "id": entrant, **developer, "additional_details": UNKNOWN},
        "evaluation_results": list(results),
    }


def _result(source: PublishedBoards, scored: Scored) -> dict[str, Any]:
    return {
        "evaluation_result_id": scored.name,
        "evaluation_name": f"{source.manifest.title}: {scored.table.title}",
        "source_data": {
            "dataset_name": source.manifest.title,
            "source_type": "url",
            "url": [source.address(scored.board)],
        },
        "metric_config": _metric(source.manifest, scored.column),
        "score_details": {"score": scored.score, "details": _standing(scored.row), **_uncertainty(scored)},
    }


def _metric(manifest: Manifest, column: Column) -> dict[str, Any]:
    low, high = _range(manifest, column.name)
    return {
        "metric_id": column.name,
        "metric_name": column.title,
        **({"metric_unit": column.unit} if column.unit else {}),
        "lower_is_better": column.direction == "minimize",
        "score_type": "continuous",
        "min_score": "-Infinity" if low is None else low,
        "max_score": "Infinity" if high is None else high,
    }


def _range(manifest: Manifest, name: str) -> tuple[float | None, float | None]:
    """Return the range of a column of scores: that of its metric, where it is an average of it."""
    if name in RANGES:
        return RANGES[name]
    averaged = name.removeprefix("group_").removeprefix("mean_").removeprefix("metric__")
    stems = (name, averaged, *(name.removesuffix(end) for end in AVERAGES if name.endswith(end)))
    declared = next((manifest.metrics[stem] for stem in stems if stem in manifest.metrics), None)
    return (None, None) if declared is None else (declared.min, declared.max)


def _standing(row: Mapping[str, Cell]) -> dict[str, str]:
    stated = {name: row.get(name) for name in ("rank", "rank_low", "rank_high", "covered", "unranked_because")}
    return {name: str(value) for name, value in stated.items() if value is not None}


def _uncertainty(scored: Scored) -> dict[str, Any]:
    if scored.interval is None:
        return {}
    level, n_resamples = scored.table.meta.get("level"), scored.table.meta.get("n_resamples")
    document: dict[str, Any] = {"lower": scored.interval[0], "upper": scored.interval[1], "method": "bootstrap"}
    if isinstance(level, float):
        document["confidence_level"] = level
    drawn = {"num_bootstrap_samples": n_resamples} if isinstance(n_resamples, int) and n_resamples else {}
    return {"uncertainty": {"confidence_interval": document, **drawn}}


def hub_results(source: PublishedBoards, entrant: str, dataset: str) -> list[dict[str, Any]]:
    """Return an entrant's scores as `.eval_results/*.yaml` of its model: an entry for each board and score.

    `dataset` is the benchmark's own repository on the Hub; its `eval.yaml` has the tasks, see `hub_benchmark`.
    """
    return [
        {
            "dataset": {"id": dataset, "task_id": task_id(scored)},
            "value": scored.score,
            "date": source.at.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "source": {"url": source.address(scored.board), "name": source.manifest.title},
            "notes": "; ".join(f"{name} {value}" for name, value in _standing(scored.row).items()),
        }
        for scored in scores_of(source, entrant)
    ]


def task_id(scored: Scored) -> str:
    """Return the task of a score in the benchmark's `eval.yaml`."""
    return _safe(scored.name)


def hub_benchmark(source: PublishedBoards) -> dict[str, Any]:
    """Return `eval.yaml` of the benchmark's repository on the Hub: a task for each board and score."""
    tasks = [
        {"id": _safe(f"{board}/{column.name}"), "config": board, "split": "test"}
        for board, table in source.boards.items()
        for column in score_columns(table)
    ]
    described = source.manifest.description or source.manifest.title
    return {
        "name": source.manifest.title,
        "description": described,
        "evaluation_framework": "plumbline",
        "tasks": tasks,
    }


def model_index(source: PublishedBoards, entrant: str) -> dict[str, Any]:
    """Return an entrant's scores as `model-index` of its model card.

    It has no place for a remark, so a score of a part of what is asked, which has no rank, is not in it.
    """
    results = [
        {
            "task": {"type": "other", "name": scored.table.title},
            "dataset": {"name": source.manifest.title, "type": source.manifest.slug, "config": scored.board},
            "metrics": [{"type": scored.column.name, "name": scored.column.title, "value": scored.score}],
            "source": {"name": source.manifest.title, "url": source.address(scored.board)},
        }
        for scored in scores_of(source, entrant)
        if scored.row.get("unranked_because") is None
    ]
    return {"model-index": [{"name": entrant, "results": results}]}
