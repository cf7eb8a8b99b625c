"""Claims of an exported snapshot decided again, from the rows that decided them. Called by `app.jobs.replay`.

Claims about current evidence are decided again; verdicts on withdrawn or superseded evidence, whose rows are in no
snapshot, stay as published.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from app.boards.claim_rows import Asked, Contrast
from app.boards.claims import decide_claims
from app.jobs.in_memory import EvidenceAtHand
from app.kinds.known import delivered_of
from app.store.claims import CURRENT
from app.store.evidence import Stood
from app.values.table import Cell, Table

CLAIMS = "claims"


def decide_again(published: Table, evidence: EvidenceAtHand) -> Table:
    """Return the table of claims with the verdicts that can be recomputed in place of the published ones."""
    at = published.index("entrant")
    rows = []
    for row, claim in zip(published.rows, published.records(), strict=True):
        again = {decided[at]: decided for decided in _decide(claim, evidence)} if claim["status"] == CURRENT else {}
        rows.append(again.get(row[at], row))
    return replace(published, rows=tuple(rows))


def _decide(claim: Mapping[str, Any], evidence: EvidenceAtHand) -> list[tuple[Cell, ...]]:
    rows = _rows(claim, evidence)
    if not rows:
        return []
    names = ("claim", "source", "first", "second", "metric", "threshold", "direction")
    contrast = Contrast(*(claim[name] for name in names))
    asked = Asked(claim["submission"], claim["second_submission"], claim["status"])
    scores = evidence.rows_of(rows, [contrast.metric])
    return decide_claims([contrast], scores, asked, delivered_of(evidence.manifest))


def _rows(claim: Mapping[str, Any], evidence: EvidenceAtHand) -> list[Stood]:
    """Return the deciding rows: of both entrants for a claim between submissions, else of one submission."""
    if claim["second_submission"] is not None:
        return [stood for stood in evidence.stood if stood.entrant in (claim["first"], claim["second"])]
    return [stood for stood in evidence.stood if stood.submission == claim["submission"]]
