"""What a snapshot is computed from: whose evidence, with which digest, and the quota that decides what is scored."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from app.boards.provenance import Provenance
from app.db.models import Benchmark, ManifestVersion
from app.manifest.model import GridFacts
from app.store.benchmarks import Declared
from app.store.disclosed import EXEMPT, Quota
from app.store.publication import CurrentEvidence, Inputs
from tests.cases.evidence_tables import make_manifest

KNOWN = Provenance(1, None, 5, 2, 3, 4)
A1, A2, B = (
    CurrentEvidence(7, "A", 11, "d11", None),
    CurrentEvidence(7, "A", 12, "d12", (4, 2)),
    CurrentEvidence(8, "B", 13, "d13", None),
)


def inputs(**changed: Any) -> Inputs:
    """Return the inputs of a benchmark with two entrants."""
    declared = Declared(Benchmark(id=1, slug="small"), ManifestVersion(id=2, version=1, sha256="m"), make_manifest())
    withdrawals = [{"submission": 3, "entrants": ["C"], "at": "now", "reason": "odd"}]
    return replace(
        Inputs(4, declared, (A1, A2, B), withdrawals, (9,), known={"A": KNOWN, "B": KNOWN}, commitment="c"), **changed
    )


def about(**facts: Any) -> dict[str, Any]:
    """Return the same benchmark, with these facts of its grid."""
    declared = inputs().declared
    return {"declared": replace(declared, manifest=declared.manifest.with_grid_facts(GridFacts(**facts)))}


def test_evidence_is_by_entrant_the_oldest_first() -> None:
    """With what is shown in its place, and without what is left out."""
    every = inputs()
    left = every.without(frozenset({12, 13}))

    assert every.by_entrant() == {"A": [A1, A2], "B": [B]}
    assert every.submissions() == {"A": [11, 12], "B": [13]}
    assert (left.standings, left.left_out, left.superseded) == ((A1,), {12, 13}, (9,))
    assert [(each.ref.pair, each.ref.task_ids) for each in (A2, replace(A2, shown=10))] == [
        ((12, 7), (4, 2)), ((10, 7), (4, 2))
    ]  # fmt: skip


OTHER: dict[str, dict[str, Any]] = {
    "another order": {"standings": (B, A1, A2)},
    "another entrant": {"standings": (A1, A2, replace(B, entrant="C"))},
    "another submission": {"standings": (A1, A2, replace(B, submission_id=14))},
    "other bytes": {"standings": (A1, A2, replace(B, submission_digest="d"))},
    "other tasks": {"standings": (A1, replace(A2, task_ids=(4,)), B)},
    "all tasks": {"standings": (A1, replace(A2, task_ids=None), B)},
    "no tasks": {"standings": (replace(A1, task_ids=()), A2, B)},
    "an older one that is shown": {"standings": (A1, A2, replace(B, shown=10))},
    "nothing that is shown": {"standings": (A1, A2, replace(B, silent=True))},
    "another superseded": {"superseded": (9, 10)},
    "another withdrawn": {"withdrawals": [{"submission": 5}]},
    "another attempt": {"known": {"A": replace(KNOWN, attempt=2), "B": KNOWN}},
    "a flag": {"known": {"A": KNOWN, "B": replace(KNOWN, flags=("same_rows",))}},
    "the other's": {"known": {"A": replace(KNOWN, flags=("same_rows",)), "B": KNOWN}},
    "nobody known": {"known": {}},
    "items": about(digest="i"),
    "other items": about(digest="j"),
    "other labels": {"commitment": "e"},
    "no labels": {"commitment": None},
    "labels of another part": about(part="private"),
}
SAME: dict[str, dict[str, Any]] = {
    "nothing": {},
    "known in another order": {"known": {"B": KNOWN, "A": KNOWN}},
    "another reason": {"withdrawals": [{"submission": 3, "reason": "another"}]},
    "another number of the entrant": {"standings": (A1, A2, replace(B, entrant_id=18))},
    "a later change": {"data_version": 99},
}


def test_whatever_decides_a_board_is_in_the_digest_of_its_inputs() -> None:
    """Each of it makes another one, and what decides nothing the same."""
    digests = {name: inputs(**changed).digest for name, changed in OTHER.items()}

    assert {inputs(**changed).digest for changed in SAME.values()} == {inputs().digest}
    assert len({*digests.values(), inputs().digest}) == len(OTHER) + 1


AT = datetime(2026, 1, 31, 10, tzinfo=UTC)
REFUSAL = (
    "All 5 submissions that are scored in 24 hours are used, over all tokens, registrations and entrants of the owner."
)


@pytest.mark.parametrize(
    ("quota", "outcome", "reason", "is_spent"),
    [
        (Quota(5, 0, False, None), "passed", "Scored submission 1 of 5 that an owner has in any 24 hours.", False),
        (Quota(5, 4, False, None), "passed", "Scored submission 5 of 5 that an owner has in any 24 hours.", False),
        (Quota(5, 5, False, AT), "failed", f"{REFUSAL} The next one is possible at 2026-01-31 10:00:00 UTC.", True),
        (Quota(5, 5, True, AT), "passed", EXEMPT, False),
    ],
)
def test_a_quota_says_which_submission_it_is_or_when_the_next_one_may_come(
    quota: Quota, outcome: str, reason: str, is_spent: bool
) -> None:
    """Of who knows the labels none is counted."""
    assert (quota.check().outcome, quota.check().reason, quota.is_spent) == (outcome, reason, is_spent)
    assert Quota(5, 5, False, None).refusal() == REFUSAL
