"""What the tests of admission share: score tables written as rows, and submissions that break no rule."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from app.admission.case import Case, Check, Registered
from app.admission.rules import check_admission
from app.kinds.registry import kind_of
from app.manifest.model import Manifest
from app.prereg.fields import Prereg
from app.prereg.prereg import git_blob_sha1, parse_prereg, sha256_hex
from app.values.facts import BundleFacts, RunFacts
from app.values.scores import NONE, Coded, ScoreTable
from tests.cases.chamber import PREREG, manifest
from tests.cases.evidence_tables import make_manifest

RUN_BEGAN = datetime(2026, 3, 2, 8, tzinfo=UTC)
RECEIVED = datetime(2026, 3, 3, 8, tzinfo=UTC)
REGISTERED = datetime(2026, 3, 1, 8, tzinfo=UTC)
AXIS = b"""axis: AS
condition_pair: {homogeneous_id: left, heterogeneous_id: right}
seeds: [0, 1, 2, 3, 4]
episodes_per_seed: 4
estimator: mean
git_tag: prereg-1
"""
EVALUATION = b"benchmark: small\nmetrics: [MASE]\nentrants: [mover, naive]\ntasks: [place, reach]\n"
Row = tuple[str, str, str | None, int, str]
"""Entrant, task, condition, seed, item."""


def grid(
    seeds: Iterable[int] = range(5),
    conditions: Sequence[str | None] = ("left", "right"),
    n: int = 4,
    entrant: str = "mover",
    task: str = "place",
) -> list[Row]:
    """Return n episodes for each seed in each condition; an item is the same in every condition."""
    return [(entrant, task, word, seed, str(at)) for seed in seeds for word in conditions for at in range(n)]


def table(rows: Sequence[Row], metrics: Sequence[str] = ("success",), value: float = 1.0) -> ScoreTable:
    """Return rows of the first file as a table in which every metric has the same value."""
    numbers = np.arange(len(rows), dtype=np.int64)
    return ScoreTable(
        entrant=_code([row[0] for row in rows]),
        task=_code([row[1] for row in rows]),
        columns=tuple(metrics),
        values=np.full((len(rows), len(metrics)), value),
        leaked=np.zeros(len(rows), dtype=np.bool_),
        file=np.zeros(len(rows), dtype=np.int64),
        row=numbers,
        condition=_code([row[2] for row in rows]) if any(row[2] for row in rows) else None,
        seed=np.array([row[3] for row in rows], dtype=np.int64),
        item=_code([row[4] for row in rows]),
    )


def _code(words: Sequence[str | None]) -> Coded:
    known = list(dict.fromkeys(word for word in words if word is not None))
    codes = [NONE if word is None else known.index(word) for word in words]
    return Coded(tuple(known), np.array(codes, dtype=np.int64))


def registered(prereg: bytes = PREREG, **changed: Any) -> Registered:
    """Return a registration made a day before the run; `changed` are values that its bytes do not declare."""
    declared: Prereg = replace(parse_prereg(prereg), **changed)
    slugs = (manifest().slug,)
    return Registered(sha256_hex(prereg), git_blob_sha1(prereg), declared, REGISTERED, attested=False, benchmarks=slugs)


def facts(name: str = "run", **stated: Any) -> BundleFacts:
    """Return what an honest bundle of the first file says of itself; what is stated overrides it."""
    honest: dict[str, Any] = {
        "entrant": "mover",
        "task": "place",
        "schema_version": 3,
        "dirty": False,
        "git_tag": "prereg-1",
        "prereg_sha256": sha256_hex(PREREG),
        "prereg_blob_sha1": git_blob_sha1(PREREG),
        "cited_blob_sha1": git_blob_sha1(PREREG),
        "seeds": (0, 1, 2, 3, 4),
        "episodes_per_seed": 8,
        "summary": {"success_ci_low": 0.2, "success_ci_high": 0.4, "n_resamples": 2000, "bootstrap_root_seed": 0},
        "files": (0,),
    }
    return BundleFacts(name, **(honest | stated))


def case(*bundles: BundleFacts, rows: Sequence[Row] | None = None, **changed: Any) -> Case:
    """Return a submission of the small benchmark that breaks no rule, with what is changed in it.

    The benchmark permits best_effort where the registration says so.
    """
    given: dict[str, Any] = {
        "manifest": manifest(),
        "scores": table(grid() if rows is None else rows, ("success", "violation")),
        "registered": registered(),
        "received_at": RECEIVED,
        "facts": RunFacts(bundles),
        "started_at": RUN_BEGAN,
        "dirty": False,
    }
    created = Case(**(given | changed))
    if created.registered is None or created.registered.prereg.failure_policy == "strict":
        return created
    return replace(created, manifest=permitting(created.manifest, "best_effort"))


def summary(
    prereg: bytes = EVALUATION,
    tasks: tuple[str, ...] = ("place", "reach"),
    entrant: str = "mover",
    rows: Sequence[Row] = (),
) -> Case:
    """Return a submission of evaluation summaries, one row for each task, or the rows that are given."""
    rows = rows or [(entrant, task, None, 0, "") for task in tasks]
    scores = replace(table(rows, ["MASE"]), seed=None, item=None)
    return case(manifest=make_manifest(), scores=scores, registered=registered(prereg))


def permitting(declared: Manifest, policy: str) -> Manifest:
    """Return a benchmark whose manifest has this failure policy."""
    return declared.model_copy(update={"admission": declared.admission.model_copy(update={"failure_policy": policy})})


def demanding(**rules_of_admission: Any) -> Manifest:
    """Return the small benchmark with these rules of admission."""
    declared = manifest()
    return declared.model_copy(update={"admission": declared.admission.model_copy(update=rules_of_admission)})


def applied(submission: Case) -> list[Check]:
    """Return the checks of every rule, those of the kind of evidence too."""
    return check_admission(submission, kind_of(submission.manifest).rules)


def check(submission: Case, rule: str) -> Check:
    """Return what one rule says; there must be exactly one check of it."""
    (result,) = [each for each in applied(submission) if each.rule == rule]
    return result


def rules(submission: Case) -> list[str]:
    """Return the rules that were applied, in their order."""
    return [each.rule for each in applied(submission)]


def failed(submission: Case) -> dict[str, str]:
    """Return the reasons of the rules that keep a submission out."""
    return {each.rule: each.reason for each in applied(submission) if each.outcome == "failed"}
