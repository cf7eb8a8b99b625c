"""The use case that server and command line share: an upload is looked up, checked, and stored once or not at all."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.admission.case import Check, Registered, SubmissionFields, TokenHolder
from app.db.engine import make_engine, make_session_factory
from app.db.models import Submission
from app.errors import FieldRejected
from app.files.uploads import FileRecord
from app.kinds.parse import parse_manifest
from app.kinds.reader import Evidence
from app.prereg.prereg import git_blob_sha1, parse_prereg, sha256_hex
from app.receiving.upload import Upload, case_of, check, digest_of, receive
from app.rights import tokens
from app.store import benchmarks, preregs, submissions
from app.store.benchmarks import Sizes
from tests.cases.evidence_tables import read
from tests.cases.walkthrough import GOOD, MANIFEST, PREREG

ONLY_A_SERVER_KNOWS = {"registered_by", "attempt"}


@dataclass
class Desk:
    """Where an upload is handed in, and the numbers of the benchmarks that are to be evaluated."""

    session: Session
    upload: Upload
    evidence: Evidence
    to_evaluate: list[int]

    def receive(self, *, is_dry: bool = False, **fields: Any) -> tuple[Submission, bool]:
        """Hand the upload in, with other fields."""
        upload = replace(self.upload, fields=replace(self.upload.fields, **fields), is_dry=is_dry)

        def later(_: Session, number: int) -> None:
            self.to_evaluate.append(number)

        received = receive(self.session, upload, self.evidence, Sizes(), later)
        return received.submission, received.is_new

    def checks(self, submission: Submission) -> list[tuple[str, str]]:
        """Return the rules that a submission was held against, and what each came to; the reasons name instants."""
        return [(each.rule, each.outcome) for each in submissions.list_checks(self.session, submission.id)]

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
        fields, by = SubmissionFields(prereg=PREREG, dirty=False), TokenHolder(token.id, token.name)
        yield Desk(session, Upload([declared], [], fields, by, False, datetime.now(UTC)), evidence, [])
    engine.dispose()


@pytest.mark.parametrize(
    "changed", [{"entrant": "Good"}, {"description": {"notes": "again"}}, {"claims": {"Good": {"MASE": 0.6}}}]
)
def test_other_fields_make_another_submission(desk: Desk, changed: dict[str, Any]) -> None:
    """The digest is over every field, not over the files alone."""
    desk.receive()
    _, is_new = desk.receive(**changed)

    assert is_new


def test_what_is_admitted_is_evaluated_later_once(desk: Desk) -> None:
    """The same upload again is the same submission; what is not admitted is stored, and nothing is computed of it."""
    first, is_new = desk.receive()
    again, is_another = desk.receive()
    refused, _ = desk.receive(dirty=True, description={"notes": "another"})

    assert (is_new, is_another, again.id) == (True, False, first.id)
    assert ("prereg_form", "passed") in desk.checks(first)
    assert (first.status, refused.status) == ("received", "not_admitted")
    assert desk.to_evaluate == [first.benchmark_id]


def test_without_a_server_the_same_rules_apply(desk: Desk) -> None:
    """What the command line says differs only in what a server alone can know."""
    prereg, (declared,) = parse_prereg(PREREG), desk.upload.versions
    at = desk.upload.received_at
    registered = Registered(sha256_hex(PREREG), git_blob_sha1(PREREG), prereg, at, attested=False)
    actual = check(case_of(declared.manifest, desk.evidence, desk.upload.fields, registered, at))
    submission, _ = desk.receive()

    expected = [each for each in desk.checks(submission) if each[0] not in ONLY_A_SERVER_KNOWS]
    assert judged(actual) == expected


def judged(checks: list[Check]) -> list[tuple[str, str]]:
    """Return the rules and what each came to."""
    return [(check.rule, check.outcome) for check in checks]


def test_a_registration_that_is_cited_twice_over_or_that_nobody_made_is_refused(desk: Desk) -> None:
    """By bytes and by the digest of others, or by a digest that the server has never seen."""
    with pytest.raises(FieldRejected) as refused:
        desk.receive(prereg_sha256="0" * 64)
    with pytest.raises(FieldRejected, match="unknown"):
        desk.receive(prereg=None, prereg_sha256="0" * 64)

    assert refused.value.problems[0].column == "prereg_sha256"
    assert desk.count() == 0


def test_every_part_of_an_upload_is_in_its_digest() -> None:
    """A change of any makes another submission, the order of its files too; that of fields within one does not."""
    at, prereg = datetime.now(UTC), parse_prereg(PREREG)
    cited = Registered(sha256_hex(PREREG), "blob", prereg, at, attested=False)
    files = [FileRecord(name, name * 3, 10, 2) for name in "ab"]
    fields = SubmissionFields(entrant="A", description={"x": 1, "y": 2}, claims={"A": {"m": 1.0}})
    others = [
        ("n", files, fields, cited), ("m", files[:1], fields, cited), ("m", files[::-1], fields, cited),
        ("m", [replace(files[0], name="c"), files[1]], fields, cited),
        ("m", [replace(files[0], sha256="c"), files[1]], fields, cited),
        *(("m", files, replace(fields, **{name: None}), cited) for name in ("entrant", "claims")),
        ("m", files, replace(fields, description={"x": 1}), cited), ("m", files, fields, None),
        ("m", files, fields, replace(cited, sha256="other")),
    ]  # fmt: skip
    same = [
        ("m", files, replace(fields, description={"y": 2, "x": 1}), cited),
        ("m", [replace(each, n_rows=None) for each in files], replace(fields, idempotency_key="k"), cited),
    ]  # fmt: skip
    digest = digest_of("m", files, fields, cited)

    assert {digest_of(*each) for each in same} == {digest}
    assert len({digest, *(digest_of(*each) for each in others)}) == len(others) + 1
