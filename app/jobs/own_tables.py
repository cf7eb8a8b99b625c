"""Submissions by themselves: their own tables, and the checks of their claims, several at a time.

Called by `app.jobs.evaluate`. What several need is read once for all of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy.orm import Session

from app.admission.check import Check
from app.db.models import Submission
from app.jobs.claims import own_claims
from app.jobs.disclosing import answer
from app.jobs.measuring import Measuring
from app.kinds.contract import Evaluation
from app.kinds.known import kind_of
from app.prereg.prereg import Prereg
from app.store import benchmark_rows, benchmarks, grids, preregs, submissions
from app.store.benchmarks import Declared
from app.store.measured import Piece
from app.store.rows import read_each, read_records
from app.values.facts import RunFacts
from app.values.scores import ScoreTable
from app.values.table import Table

Pieces = Mapping[str, Sequence[Piece]]
"""The evidence of each entrant of a submission."""


@dataclass(frozen=True)
class _Own:
    """One submission with all inputs of its tables."""

    declared: Declared
    submission: Submission
    prereg: Prereg | None
    entrants: Pieces
    scores: ScoreTable


def compute_own_tables(
    session: Session, waiting: Sequence[Submission], *, is_ranked: bool
) -> dict[int, Sequence[Check]]:
    """Store the tables of submissions under one version of a manifest, and return the checks of their claims."""
    own_tables = {own.submission.id: _summarise(session, own, is_ranked=is_ranked) for own in _read(session, waiting)}
    submissions.write_tables(
        session, [(number, table) for number, (tables, _) in own_tables.items() for table in tables]
    )
    return {number: checks for number, (_, checks) in own_tables.items()}


def _read(session: Session, waiting: Sequence[Submission]) -> list[_Own]:
    numbers = [submission.id for submission in waiting]
    entrants: dict[int, dict[str, list[Piece]]] = {number: {} for number in numbers}
    for entrant, entry in submissions.list_entries_of(session, numbers):
        entrants[entry.submission_id][entrant.name] = [Piece.of_entry(entry)]
    declared = _declared(session, waiting[0], entrants)
    known = preregs.load_parsed(session, (s.prereg_sha256 for s in waiting if s.prereg_sha256 is not None))
    metrics = list(declared.manifest.metrics)
    scores = read_each(session, {number: (_pairs(entrants[number]), metrics) for number in numbers})
    return [
        _Own(declared, s, None if s.prereg_sha256 is None else known[s.prereg_sha256], entrants[s.id], scores[s.id])
        for s in waiting
    ]


def _declared(session: Session, first: Submission, entrants: Mapping[int, Pieces]) -> Declared:
    benchmark = benchmark_rows.get_benchmark(session, first.benchmark_id)
    declared = benchmarks.load_declared(session, benchmark, first.manifest_version_id)
    stood = {name: [number] for number, own in entrants.items() for name in own}
    return replace(declared, manifest=grids.with_grids(session, declared, stood))


def _pairs(entrants: Pieces) -> list[tuple[int, int]]:
    return [piece.pair for pieces in entrants.values() for piece in pieces]


def _summarise(session: Session, own: _Own, *, is_ranked: bool) -> tuple[list[Table], Sequence[Check]]:
    """Return the tables and checks of one submission; its entrants' measurements are stored for the boards."""
    manifest, measuring = own.declared.manifest, Measuring(session, own.declared, own.entrants, is_asked=True)
    answered = answer(session, own.submission, manifest, measuring)
    if is_ranked:
        measuring.measure_every_board()
        measuring.keep(session)
    kind = kind_of(manifest)
    summary = kind.summarise(
        Evaluation(
            manifest=manifest,
            rows=read_records(session, _pairs(own.entrants)) if kind.rows.form == "records" else own.scores,
            facts=RunFacts.from_dict(own.submission.facts),
            claims=own.submission.claims,
            bootstrap_method="cluster" if own.prereg is None else own.prereg.bootstrap_method,
            measure=lambda board: [m for m in measuring.measure(board) if m.entrant not in answered.held_back],
        )
    )
    claims = own_claims(manifest, own.submission, own.prereg, own.scores)
    return [*([] if claims is None else [claims]), *summary.tables], [*answered.checks, *summary.checks]
