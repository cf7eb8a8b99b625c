"""The use case that server and command line share: a run is looked up, checked, and stored once or not at all."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.admission.case import Check, Fields, Registered, TokenHolder
from app.admission.rules import is_admitted
from app.db.engine import make_engine, make_session_factory
from app.db.models import Submission
from app.errors import FieldRejected
from app.kinds.parse import parse_manifest
from app.prereg.prereg import git_blob_sha1, parse_prereg, sha256_hex
from app.receiving.receive import Known, Run, Sent, Stored, check_run, receive, rehearse
from app.store import benchmarks, preregs, submissions, tokens
from tests.cases.evidence_tables import read
from tests.cases.walkthrough import GOOD, MANIFEST, PREREG

ONLY_A_SERVER_KNOWS = {"registered_by", "attempt"}


@dataclass
class Desk:
    """Where runs are handed in, and the numbers of those that are to be evaluated."""

    session: Session
    sent: Sent
    to_evaluate: list[int]

    def with_fields(self, **changed: Any) -> Sent:
        """Return the run with other fields."""
        run = self.sent.run
        return replace(self.sent, run=replace(run, fields=replace(run.fields, **changed)))

    def receive(self, sent: Sent | None = None) -> Stored:
        """Hand a run in."""
        return receive(self.session, sent or self.sent, lambda _, number: self.to_evaluate.append(number))

    def count(self) -> int:
        """Return how many submissions are stored."""
        return self.session.scalars(select(func.count()).select_from(Submission)).one()


@pytest.fixture
def desk(database_url: str, tmp_path: Path) -> Iterator[Desk]:
    """A benchmark, a registration, and a run that cites it."""
    engine = make_engine(database_url)
    manifest = parse_manifest(MANIFEST.encode())
    with make_session_factory(engine).begin() as session:
        token, _ = tokens.create_token(session, "alice", "submitter")
        declared = benchmarks.create_benchmark(session, manifest, MANIFEST.encode(), token.id)
        preregs.register_prereg(session, PREREG, parse_prereg(PREREG), token.id)
        evidence = read(tmp_path, {"results.csv": GOOD}, manifest)
        run = Run(manifest, evidence, Fields(prereg=PREREG, dirty=False), datetime.now(UTC))
        yield Desk(session, Sent(declared, TokenHolder(token.id, token.name), run), [])
    engine.dispose()


def test_a_run_is_stored_with_its_checks_and_evaluated_later(desk: Desk) -> None:
    """Once, with a check for each rule."""
    stored = desk.receive()
    kept = [check.rule for check in submissions.list_checks(desk.session, stored.submission.id)]

    assert stored.is_new
    assert stored.submission.status == "received"
    assert kept == [check.rule for check in rehearse(desk.session, desk.sent)]
    assert desk.to_evaluate == [stored.submission.id]


def test_the_same_run_again_is_the_same_submission(desk: Desk) -> None:
    """It is not stored, nor evaluated, a second time."""
    first = desk.receive()
    second = desk.receive()

    assert (second.is_new, second.submission.id) == (False, first.submission.id)
    assert desk.to_evaluate == [first.submission.id]


@pytest.mark.parametrize(
    "changed", [{"entrant": "Good"}, {"description": {"notes": "again"}}, {"claims": {"Good": {"MASE": 0.6}}}]
)
def test_other_fields_make_another_submission(desk: Desk, changed: dict[str, Any]) -> None:
    """The digest is over every field, not over the files alone."""
    desk.receive()

    assert desk.receive(desk.with_fields(**changed)).is_new


def test_a_run_that_is_not_admitted_is_stored_and_not_evaluated(desk: Desk) -> None:
    """It says why, and nothing is computed of it."""
    stored = desk.receive(desk.with_fields(dirty=True))

    assert stored.submission.status == "not_admitted"
    assert desk.to_evaluate == []


def test_a_rehearsal_stores_nothing(desk: Desk) -> None:
    """Its checks are those of the run itself."""
    assert is_admitted(rehearse(desk.session, desk.sent))
    assert desk.count() == 0


def test_without_a_server_the_same_rules_apply(desk: Desk) -> None:
    """What the command line says differs only in what a server alone can know."""
    run = desk.sent.run
    prereg = parse_prereg(PREREG)
    registered = Registered(sha256_hex(PREREG), git_blob_sha1(PREREG), prereg, run.received_at, attested=False)
    actual = check_run(run, Known(registered))
    expected = [check for check in rehearse(desk.session, desk.sent) if check.rule not in ONLY_A_SERVER_KNOWS]

    assert judged(actual) == judged(expected)


def judged(checks: list[Check]) -> list[tuple[str, str]]:
    """Return the rules and what each came to; the reasons name instants."""
    return [(check.rule, check.outcome) for check in checks]


def test_a_registration_that_is_cited_twice_over_is_refused(desk: Desk) -> None:
    """By bytes, and by the digest of others."""
    with pytest.raises(FieldRejected) as refused:
        desk.receive(desk.with_fields(prereg_sha256="0" * 64))

    assert refused.value.problems[0].column == "prereg_sha256"
    assert desk.count() == 0


def test_a_registration_that_nobody_made_is_refused(desk: Desk) -> None:
    """A digest that the server has never seen."""
    with pytest.raises(FieldRejected, match="unknown"):
        desk.receive(desk.with_fields(prereg=None, prereg_sha256="0" * 64))
