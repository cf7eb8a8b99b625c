"""What is done with an upload that was read: stored with its checks, or only checked, and what is answered.

Called by `app.web.submissions` and `app.web.submit_page`.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy.orm import Session

from app.admission.check import Check
from app.admission.rules import is_admitted
from app.db.engine import LONG_REQUESTS, allow
from app.errors import Busy
from app.receiving.impact import impact_of
from app.receiving.receive import Sent, check_claims, receive, rehearse
from app.store import audit
from app.store.audit import Act, Change
from app.telemetry.logs import event
from app.telemetry.metrics import CHECKS_FAILED
from app.web.state import State
from app.web.submission_views import check_document, describe

logger = logging.getLogger(__name__)


def store_upload(act: Act, state: State, sent: Sent) -> tuple[str, dict[str, Any]]:
    """Store an upload, and return its address and what is answered."""

    def store(session: Session) -> tuple[bool, dict[str, Any]]:
        allow(session, LONG_REQUESTS)
        stored = receive(session, sent, state.jobs.defer_refresh)
        is_new, kept = stored.is_new, stored.submission
        after = {"submission": kept.id, "is_new": is_new, "status": kept.status, "n_rows": kept.n_rows}
        audit.record(session, act, 202, Change(after=after))
        shown = describe(session, stored.submission, stored.parts)
        warnings = {"warnings": _warnings(sent)} if is_new else {}
        return is_new, {**shown, **warnings}

    is_new, document = state.transact(store)
    address: str = document["url"]
    if is_new:
        _count_failed(document["checks"])
    event(logger, "submission stored", benchmark=sent.declared.benchmark.slug, address=address, token=act.token_id)
    return address, document


def _count_failed(checks: Sequence[Mapping[str, str]]) -> None:
    for check in checks:
        if check["outcome"] == "failed":
            CHECKS_FAILED.labels(check["rule"]).inc()


def check_upload(owner: str, state: State, sent: Sent, *, with_impact: bool = True) -> dict[str, Any]:
    """Check an upload and store nothing; return what is answered, with what it would change where that is asked."""
    # Before the transaction: it may draw for a second.
    claimed = check_claims(sent.run, is_request=True)
    checks = [*state.transact(lambda session: _rehearsed(session, sent)), *claimed]
    scores = sent.run.evidence.scores
    return {
        "dry_run": True,
        "admitted": is_admitted(checks),
        "checks": [check_document(check) for check in checks],
        "n_rows": len(scores),
        "entrants": list(scores.entrant.words),
        "warnings": _warnings(sent),
        **({"impact": _impact(owner, state, sent, admitted=is_admitted(checks))} if with_impact else {}),
    }


def _rehearsed(session: Session, sent: Sent) -> list[Check]:
    allow(session, LONG_REQUESTS)
    return rehearse(session, sent)


def _impact(owner: str, state: State, sent: Sent, *, admitted: bool) -> dict[str, Any]:
    if not admitted:
        return {"reason": "It would not be admitted, so no board would change.", "boards": []}
    try:
        with state.computing.taken_in_thread(owner), state.sessions() as session:
            allow(session, LONG_REQUESTS)
            return impact_of(session, sent, state.rows)
    except Busy as error:
        return {"reason": str(error), "boards": []}


def _warnings(sent: Sent) -> list[dict[str, Any]]:
    return [problem.as_dict() for problem in sent.run.evidence.warnings]
