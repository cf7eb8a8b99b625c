"""An exported snapshot recomputed on one's own machine, and the first cell in which it differs from what was
published. An export is untrusted: malformed members are refused.
"""

import json
import struct
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from app.boards.claims import AskedClaim, ClaimedContrast, decide_claims, held_together
from app.boards.evidence import BoardEvidence
from app.errors import EvidenceRejected, ManifestRejected, Problem, TableRejected
from app.jobs.boards import LAST_GOOD, compute_tables
from app.jobs.claims_after import keep_after
from app.jobs.evidence import RowsInMemory
from app.kinds.parse import parse_manifest
from app.kinds.reader import Evidence
from app.kinds.registry import delivered_of
from app.manifest.model import Grid, GridFacts, Manifest, RequiredGrid
from app.store.preregs import CURRENT
from app.store.publication import FACTS, FORMAT, MANIFEST
from app.store.row_blocks import RowBlock, unpack_block
from app.store.rows import STRATUM, EntrantBlock, blocks_of
from app.values.scores import Coded, ScoreTable
from app.values.table import Cell, Table

MAX_BYTES = 4 * 1024**3

MALFORMED = (KeyError, TypeError, ValueError, struct.error, AttributeError, IndexError, OverflowError, TableRejected)


@dataclass(frozen=True)
class Export:
    """What the export of a snapshot holds: the published tables, and what they were computed from."""

    facts: Mapping[str, Any]
    published: Sequence[Table]
    rows: RowsInMemory


@dataclass(frozen=True)
class Difference:
    """The first place where a recomputed table differs from the published one; None where whole tables differ."""

    table: str
    what: str
    row: int | None = None
    column: str | None = None
    published: Cell = None
    recomputed: Cell = None


def read_export(path: Path) -> Export:
    """Read an export.

    Raises EvidenceRejected for any other file.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(member.file_size for member in archive.infolist()) > MAX_BYTES:
                raise _refused(path, f"unpacked it is larger than {MAX_BYTES // 1024**3} GiB")
            return _read(path, archive)
    except (zipfile.BadZipFile, NotImplementedError, EOFError) as error:
        raise _refused(path, f"not a readable zip: {error}") from None
    except ManifestRejected:
        raise
    except MALFORMED as error:
        raise _refused(path, f"damaged, or written by another version: {type(error).__name__} {error}") from None


def _refused(path: Path, message: str) -> EvidenceRejected:
    text = "Expected the export of a snapshot, as /benchmarks/NAME/replay.zip gives it."
    return EvidenceRejected(text, [Problem(message[:300], file=path.name)])


def _read(path: Path, archive: zipfile.ZipFile) -> Export:
    members = set(archive.namelist())
    if FACTS not in members:
        raise _refused(path, f"there is no {FACTS} in it")
    facts = json.loads(archive.read(FACTS))
    if facts["format"] != FORMAT:
        raise _refused(path, f"{FACTS} is of format {facts['format']}; this version reads {FORMAT}")
    tables = [Table.from_json(json.loads(archive.read(f"tables/{name}.json"))) for name in facts["tables"]]
    manifest = parse_manifest(archive.read(MANIFEST)).model_copy(update={"title": facts["title"]})
    tasks = {int(number): about for number, about in facts["tasks"].items()}
    about = [(name, json.loads(archive.read(name))) for name in sorted(members)
             if name.startswith("rows/") and name.endswith(".json")]  # fmt: skip
    evidence = RowsInMemory(
        manifest.with_grid_facts(_grid_facts(facts["asked"])),
        [_stood(archive, name, stated) for name, stated in about if not stated["between"]],
        {number: str(name) for number, (name, _) in tasks.items()},
        {number: stratum for number, (_, stratum) in tasks.items()},
        facts["described"],
        between=[_stood(archive, name, stated) for name, stated in about if stated["between"]],
    )
    return Export(facts, tables, evidence)


def _stood(archive: zipfile.ZipFile, name: str, about: Mapping[str, Any]) -> EntrantBlock:
    block = unpack_block(archive.read(f"{name.removesuffix('.json')}.block"))
    if not isinstance(block, RowBlock):
        raise TypeError(f"{name} has rows of another format")
    return EntrantBlock(int(about["submission"]), int(about["entrant_id"]), str(about["entrant"]), block)


def _grid_facts(stated: Mapping[str, Any]) -> GridFacts:
    return GridFacts(
        items=stated["items"],
        digest=stated["digest"],
        chosen=stated["chosen"],
        earlier={name: tuple(map(_earlier, grids)) for name, grids in stated["earlier"].items()},
        owners=stated["owners"],
        # Exports of 0.1 have none: their open boards were about what half of all owners have.
        arrivals=stated.get("arrivals", {}),
    )


def _earlier(stated: Mapping[str, Any]) -> RequiredGrid:
    tasks = None if stated["tasks"] is None else tuple(stated["tasks"])
    return RequiredGrid(
        Grid.model_validate(stated["grid"]), tasks, _grid_facts(stated["asked"]), tuple(stated["metrics"])
    )


def recompute(export: Export) -> list[Table]:
    """Recompute every table of an export; of claims only those that current evidence decides."""
    boards = compute_tables(export.rows.evidence())
    claims = [decide_again(table, export.rows) for table in export.published if table.name == CLAIMS]
    return [*boards, *claims]


def differences(export: Export, recomputed: Sequence[Table], *, relative: float = 0.0) -> Iterator[Difference]:
    """Yield, for each table that differs from the published one, the first place where it does.

    `relative` is the tolerance of numbers, relative to the published one.
    """
    again = {table.name: table for table in recomputed}
    counted = set(export.facts["counted_by_the_server"])
    for published in export.published:
        if LAST_GOOD in published.meta:
            again.pop(published.name, None)
            reason = "could not be computed by a fault of the server, and is kept from an earlier snapshot"
            yield Difference(published.name, reason)
            continue
        if published.name not in again:
            yield Difference(published.name, "is published and cannot be recomputed")
            continue
        difference = _first(published, again.pop(published.name), counted, relative)
        if difference is not None:
            yield difference
    yield from (Difference(name, "is recomputed and was not published") for name in again)


def _first(published: Table, again: Table, counted: set[str], relative: float) -> Difference | None:
    names = [name for name in published.column_names() if name in again.column_names() or name not in counted]
    if names != list(again.column_names()):
        reason = f"has the columns {', '.join(again.column_names())} in place of {', '.join(names)}"
        return Difference(published.name, reason)
    if len(published.rows) != len(again.rows):
        return Difference(published.name, f"has {len(again.rows)} rows in place of {len(published.rows)}")
    for row, (before, after) in enumerate(zip(published.records(), again.records(), strict=True), start=1):
        for name in names:
            if not _same(before[name], after[name], relative):
                return Difference(published.name, "differs", row, name, before[name], after[name])
    return None


def _same(before: Cell, after: Cell, relative: float) -> bool:
    if isinstance(before, float) and isinstance(after, float) and relative:
        return abs(before - after) <= relative * abs(before)
    return before == after and isinstance(before, bool) == isinstance(after, bool)


# Claims of an exported snapshot decided again, from the rows that decided them.
#
# Claims about current evidence are decided again; verdicts on withdrawn or superseded evidence, whose rows are in no
# snapshot, stay as published.

CLAIMS = "claims"


def decide_again(published: Table, evidence: RowsInMemory) -> Table:
    """Return the table of claims with the verdicts that can be recomputed in place of the published ones."""
    at, among = published.index("entrant"), published.index("registrations")
    rows = []
    for row, claim in zip(published.rows, published.records(), strict=True):
        again = {decided[at]: decided for decided in _decide(claim, evidence)} if claim["status"] == CURRENT else {}
        # Which registrations there are, and since when, is not in the rows: what was said of them stays.
        new = keep_after(again.get(row[at], row), row)
        rows.append((*new[:among], row[among], *new[among + 1 :]))
    return replace(published, rows=tuple(held_together(rows)))


def _decide(claim: Mapping[str, Any], evidence: RowsInMemory) -> list[tuple[Cell, ...]]:
    rows = _rows(claim, evidence)
    if not rows:
        return []
    names = ("claim", "source", "first", "second", "metric", "threshold", "direction")
    contrast = ClaimedContrast(*(claim[name] for name in names))
    asked = AskedClaim(claim["submission"], claim["second_submission"], claim["status"])
    scores = evidence.rows_of(rows, [contrast.metric])
    contrast = replace(contrast, n_declared=int(claim["n_claims"]))
    return decide_claims(evidence.manifest, [contrast], scores, asked, delivered_of(evidence.manifest))


def _rows(claim: Mapping[str, Any], evidence: RowsInMemory) -> list[EntrantBlock]:
    """Return the deciding rows: of both entrants for a claim between submissions, else of one submission."""
    if claim["second_submission"] is not None:
        return [stood for stood in evidence.stood if stood.entrant in (claim["first"], claim["second"])]
    return [stood for stood in evidence.stood if stood.submission == claim["submission"]]


# The boards of a benchmark computed on one's own machine: evidence in memory in place of a database. Rows go through
# the same blocks that a server stores, so the numbers are identical.


def offline_evidence(manifest: Manifest, uploads: Sequence[Evidence]) -> BoardEvidence:
    """Return what boards are computed of, where each upload is a submission and all of it counts.

    Names have numbers, as in a database: submissions in the order of the uploads, entrants and tasks as they occur.
    """
    tables = [upload.scores for upload in uploads]
    entrants = _numbered(table.entrant for table in tables)
    tasks = _numbered(table.task for table in tables)
    names = list(entrants)
    stood = [
        EntrantBlock(submission, number, names[number - 1], block)
        for submission, scores in enumerate(tables, start=1)
        for number, block in blocks_of(
            _without_strata(scores), _codes(scores.entrant, entrants), _codes(scores.task, tasks)
        )
    ]
    return RowsInMemory(
        manifest,
        stood,
        {number: name for name, number in tasks.items()},
        {tasks[task]: about for table in tables for task, about in _strata(table).items()},
        described={name: about for upload in uploads for name, about in upload.facts.described.items()},
        predictions={submission: upload.predictions for submission, upload in enumerate(uploads, start=1)},
    ).evidence()


def _numbered(columns: Any) -> dict[str, int]:
    words = dict.fromkeys(word for coded in columns for word in coded.words)
    return {word: number for number, word in enumerate(words, start=1)}


def _codes(coded: Coded, numbers: Mapping[str, int]) -> Any:
    return np.array([numbers[word] for word in coded.words], dtype=np.int64)[coded.codes]


def _without_strata(scores: ScoreTable) -> ScoreTable:
    recorded = {name: coded for name, coded in scores.recorded.items() if name != STRATUM}
    return ScoreTable(**{**vars(scores), "recorded": recorded, "traits": None})


def _strata(scores: ScoreTable) -> dict[str, Any]:
    """Return the stratum that rows of series state of each task."""
    stratum = scores.recorded.get(STRATUM)
    if stratum is None:
        return {}
    stratum_of_task = zip(scores.task.to_list(), stratum.to_list(), strict=True)
    return {
        task: json.loads(text) for task, text in dict(stratum_of_task).items() if task is not None and text is not None
    }
