"""Tables read straight from rows: tasks, one task, one entrant. No statistics, only what was submitted."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import any_, func, select
from sqlalchemy.orm import Session

from app.db.models import Entrant, Score, Snapshot, SnapshotEntry, Submission, Task
from app.errors import NotFound
from app.kinds.known import kind_of
from app.manifest.manifest import Manifest
from app.manifest.tasks import OpenTasks
from app.values.counts import count
from app.values.table import Cell, Column, Table


def explain_absence(manifest: Manifest, snapshot: Snapshot | None, name: str) -> Table:
    """Return an empty table that says why there is none yet. Raises NotFound for an unknown board or kind of table."""
    kind, _, board = name.partition("/")
    try:
        spec = manifest.leaderboard(board)
    except KeyError:
        raise NotFound(f"{manifest.slug} has no leaderboard {board}.") from None
    if kind not in ("leaderboard", "pairwise"):
        raise NotFound(f"The board {board} has no table {kind}.")
    why = "Nothing is published yet."
    if snapshot is not None:
        why = (
            f"Snapshot {snapshot.number} has no such table."
            if kind == "leaderboard"
            else "There is nothing to compare."
        )
    return Table(name, spec.title or spec.name, (), (), (why,), {"unavailable": why})


def tasks_table(session: Session, manifest: Manifest, benchmark_id: int, snapshot: Snapshot | None) -> Table:
    """Return each task with the number of entrants that have a row for it in the snapshot."""
    query = (
        select(Task.name, func.count(func.distinct(Score.entrant_id)))
        .join(Score, Score.task_id == Task.id)
        .join(SnapshotEntry, _is_current())
        .where(Task.benchmark_id == benchmark_id, SnapshotEntry.snapshot_id == _id(snapshot))
        .group_by(Task.name)
    )
    counts = dict(session.execute(query).all())
    names = list(counts) if isinstance(manifest.tasks, OpenTasks) else [task.id for task in manifest.tasks]
    columns = (Column("task", "Task", "text"), Column("n_entrants", "Entrants with a result", "integer"))
    rows = tuple((name, int(counts.get(name, 0))) for name in sorted(names))
    return Table("tasks", f"Tasks of {manifest.title}", columns, rows)


def task_table(session: Session, manifest: Manifest, benchmark_id: int, snapshot: Snapshot | None, task: str) -> Table:
    """Return every entrant's scores on one task, best first by the first metric. Raises NotFound."""
    known = session.scalar(select(Task.id).where(Task.benchmark_id == benchmark_id, Task.name == task))
    declared = manifest.task_ids()
    if known is None and (declared is None or task not in declared):
        raise NotFound(f"{manifest.slug} has no task {task}.")
    rows = _score_rows(session, manifest, snapshot, Entrant.name, Score.task_id == known)
    first = next(iter(manifest.metrics))
    sign = 1.0 if manifest.metrics[first].direction == "minimize" else -1.0
    at = 1 + len(_item_columns(manifest))
    ordered = sorted(rows, key=lambda row: (row[at] is None, sign * float(row[at] or 0.0), *row[:at]))
    return Table(
        f"task/{task}",
        task,
        _columns(manifest, "entrant", "Entrant"),
        tuple(ordered),
        _missing(snapshot, rows, session),
    )


def _missing(snapshot: Snapshot | None, rows: Sequence[tuple[Cell, ...]], session: Session) -> tuple[str, ...]:
    query = select(Entrant.name).join(SnapshotEntry, SnapshotEntry.entrant_id == Entrant.id)
    everyone = session.scalars(query.where(SnapshotEntry.snapshot_id == _id(snapshot))).all()
    absent = sorted(set(everyone) - {str(row[0]) for row in rows})
    return (f"No result: {', '.join(absent)}.",) if absent else ()


def entrant_table(
    session: Session, manifest: Manifest, benchmark_id: int, snapshot: Snapshot | None, name: str
) -> Table:
    """Return one entrant's scores on every task. Raises NotFound."""
    query = select(Entrant.id).where(Entrant.benchmark_id == benchmark_id, Entrant.name == name)
    known = session.scalar(query)
    if known is None:
        raise NotFound(f"{manifest.slug} has no entrant {name}.")
    rows = _score_rows(session, manifest, snapshot, Task.name, Score.entrant_id == known)
    absent = sorted(set(manifest.task_ids() or ()) - {str(row[0]) for row in rows})
    notes = (f"No result on {count(len(absent), 'task')}: {', '.join(absent[:20])}.",) if absent else ()
    return Table(f"entrant/{name}", name, _columns(manifest, "task", "Task"), tuple(sorted(rows)), notes)


def filter_published(table: Table, column: str, name: str) -> Table:
    """Return the rows of a published table that are about one name, without the column that says so."""
    at = table.index(column)
    kept = tuple(row[:at] + row[at + 1 :] for row in table.rows if row[at] == name)
    columns = table.columns[:at] + table.columns[at + 1 :]
    return replace(table, name=f"{column}/{name}", title=name, columns=columns, rows=kept)


def _score_rows(
    session: Session, manifest: Manifest, snapshot: Snapshot | None, label: Any, where: Any
) -> list[tuple[Cell, ...]]:
    further = [Score.item for _ in _item_columns(manifest)]
    query = (
        select(Score.values, Submission.columns, Score.leaked, Score.submission_id, label, *further)
        .join(SnapshotEntry, _is_current())
        .join(Entrant, Entrant.id == Score.entrant_id)
        .join(Task, Task.id == Score.task_id)
        .join(Submission, Submission.id == Score.submission_id)
        .where(SnapshotEntry.snapshot_id == _id(snapshot), where)
        .order_by(label, *further)
    )
    return [
        (*labels, *_values(manifest, values, columns), leaked, submission)
        for values, columns, leaked, submission, *labels in session.execute(query)
    ]


def _item_columns(manifest: Manifest) -> tuple[Column, ...]:
    """Return the column that tells the rows of one entrant on one task apart, where there are several."""
    column = kind_of(manifest).pages.item_column
    return () if column is None else (column,)


def _values(manifest: Manifest, values: Sequence[float | None], columns: Sequence[str]) -> list[Cell]:
    by_name = dict(zip(columns, values, strict=True))
    return [by_name.get(metric) for metric in manifest.metrics]


def _columns(manifest: Manifest, name: str, title: str) -> tuple[Column, ...]:
    metrics = (
        Column(metric, metric, unit=about.unit, direction=about.direction, digits=4)
        for metric, about in manifest.metrics.items()
    )
    return (
        Column(name, title, "text"),
        *_item_columns(manifest),
        *metrics,
        Column("leaked", "Leaked", "flag", glossary="n_leaked"),
        Column("submission", "Submission", "integer"),
    )


def scores_table(session: Session, submission: Submission) -> Table:
    """Return every row of a submission as it was stored, in the order of the upload."""
    seeded = (Score.condition, Score.seed, Score.item)
    query = (
        select(Entrant.name, Task.name, *seeded, Score.values, Score.leaked, Score.file, Score.row, Score.reason)
        .join(Entrant, Entrant.id == Score.entrant_id)
        .join(Task, Task.id == Score.task_id)
        .where(Score.submission_id == submission.id)
        .order_by(Score.position)
    )
    rows = [(*row[:5], *row[5], *row[6:]) for row in session.execute(query)]
    columns = (
        Column("entrant", "Entrant", "text"),
        Column("task", "Task", "text"),
        Column("condition", "Condition", "text"),
        Column("seed", "Seed", "integer"),
        Column("item", "Item", "text"),
        *(Column(name, name) for name in submission.columns),
        Column("leaked", "Leaked", "flag"),
        Column("file", "File", "integer"),
        Column("row", "Row", "integer"),
        Column("reason", "Reason", "text"),
    )
    return _without_empty(Table("scores", f"Rows of submission {submission.id}", columns, tuple(rows)))


def _without_empty(table: Table) -> Table:
    """Return a table without the columns that this kind of evidence does not have."""
    optional = [at for at, column in enumerate(table.columns) if column.name in ("condition", "seed", "item")]
    empty = {at for at in optional if all(row[at] is None for row in table.rows)}
    kept = [at for at in range(len(table.columns)) if at not in empty]
    rows = tuple(tuple(row[at] for at in kept) for row in table.rows)
    return replace(table, columns=tuple(table.columns[at] for at in kept), rows=rows)


def _is_current() -> Any:
    is_evidence = (SnapshotEntry.submission_id == Score.submission_id) & (SnapshotEntry.entrant_id == Score.entrant_id)
    return is_evidence & (SnapshotEntry.task_ids.is_(None) | (Score.task_id == any_(SnapshotEntry.task_ids)))


def _id(snapshot: Snapshot | None) -> int:
    return -1 if snapshot is None else snapshot.id
