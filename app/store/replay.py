"""All inputs of a snapshot, as members of a zip: what `plumbline replay` recomputes it of.

Called by `app.web.replay`. Rows are packed as the server keeps them, so that they take the same way again; nothing is
in it that the pages do not show.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.boards.provenance import FRAME
from app.db.models import Benchmark, Entrant, Snapshot, SnapshotEntry, Submission, Task
from app.errors import Conflict
from app.kinds.known import kind_of
from app.manifest.asked import Asked, GridFacts
from app.store import benchmarks, grids, snapshots
from app.store.evidence import read_evidence, unowned_pairs
from app.store.row_blocks import pack_block

FORMAT = 1
FACTS, MANIFEST = "snapshot.json", "manifest.yaml"
Member = tuple[str, bytes]


def replay_members(session: Session, benchmark: Benchmark, snapshot: Snapshot) -> Iterator[Member]:
    """Yield the members of the export of a snapshot. Raises Conflict where its labels cannot be handed out."""
    declared = benchmarks.load_declared(session, benchmark, snapshot.manifest_version_id)
    if kind_of(declared.manifest).rows.form == "packed":
        raise Conflict(
            f"{benchmark.slug} is scored against labels, which are not published, so that nobody else can recompute it."
        )
    stood = snapshots.load_standings(session, snapshot.id)
    owners = _owners(session, benchmark.id)
    filled = replace(declared, manifest=grids.with_grids(session, declared, stood, owners))
    names = list(snapshots.table_names(session, snapshot.id))
    facts = {
        "format": FORMAT,
        "benchmark": benchmark.slug,
        "snapshot": snapshot.number,
        "code_version": snapshot.code_version,
        "title": declared.manifest.title,
        "tables": names,
        # Counts of the server, not of the rows: what no rows say cannot be recomputed of them.
        "counted_by_the_server": [column.name for column in FRAME.columns],
        "tasks": _tasks(session, benchmark.id),
        "asked": _asked(filled.manifest.asked.facts),
        "described": _described(session, snapshot),
    }
    yield FACTS, _json(facts)
    yield MANIFEST, declared.version.yaml
    for name in names:
        table = snapshots.load_table(session, snapshot.id, name)
        if table is not None:
            yield f"tables/{name}.json", _json(table.to_json())
    yield from _rows(session, snapshot.id)


def _owners(session: Session, benchmark_id: int) -> dict[str, str]:
    query = select(Entrant.name, Entrant.owner_id).where(Entrant.owner_id.is_not(None))
    return {name: str(owner) for name, owner in session.execute(query.where(Entrant.benchmark_id == benchmark_id))}


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def _tasks(session: Session, benchmark_id: int) -> dict[str, list[Any]]:
    query = select(Task.id, Task.name, Task.stratum).where(Task.benchmark_id == benchmark_id).order_by(Task.id)
    return {str(number): [name, stratum] for number, name, stratum in session.execute(query)}


def _asked(facts: GridFacts) -> dict[str, Any]:
    items = None if facts.items is None else {task: list(items) for task, items in facts.items.items()}
    return {
        "items": items,
        "digest": facts.digest,
        "chosen": {name: {axis: list(values) for axis, values in of.items()} for name, of in facts.chosen.items()},
        "earlier": {name: [_earlier(asked) for asked in grids] for name, grids in facts.earlier.items()},
        "owners": dict(facts.owners),
    }


def _earlier(asked: Asked) -> dict[str, Any]:
    return {
        "grid": asked.grid.model_dump(mode="json"),
        "tasks": asked.tasks,
        "metrics": asked.metrics,
        "asked": _asked(asked.facts),
    }


def _described(session: Session, snapshot: Snapshot) -> Mapping[str, Any]:
    """Return what the submissions of a snapshot say of their entrants."""
    stood = {name: numbers[-1] for name, numbers in snapshots.load_standings(session, snapshot.id).items()}
    query = select(Submission.id, Submission.facts["described"])
    own = select(SnapshotEntry.submission_id).where(SnapshotEntry.snapshot_id == snapshot.id)
    by_submission = {number: about for number, about in session.execute(query.where(Submission.id.in_(own))) if about}
    return {
        name: by_submission[number][name] for name, number in stood.items() if name in by_submission.get(number, {})
    }


def _rows(session: Session, snapshot_id: int) -> Iterator[Member]:
    pieces = snapshots.load_pieces(session, snapshot_id)
    counted = {stood.piece.pair: stood.piece.task_ids for stood in pieces}
    submissions = {submission for submission, _ in counted}
    # What a run measured between its estimators belongs to nobody, and counts where it is the only run.
    between = unowned_pairs(session, submissions.pop()) if len(submissions) == 1 else []
    tasks_of = {**dict.fromkeys(between), **counted}
    for at, stored in enumerate(read_evidence(session, list(tasks_of), tasks_of)):
        about = {"submission": stored.submission, "entrant_id": stored.entrant_id, "entrant": stored.entrant,
                 "between": (stored.submission, stored.entrant_id) not in counted}  # fmt: skip
        yield f"rows/{at:06}.json", _json(about)
        yield f"rows/{at:06}.block", pack_block(stored.block)
