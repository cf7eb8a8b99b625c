"""The tables, as SQLAlchemy sees them; `migrations/` makes them and a test holds the two together.

Rows that record what happened are never updated or deleted. What changes is only where a thing stands:
a submission's status, an entrant's owner, a benchmark's counters.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Boolean,
    CheckConstraint,
    Double,
    ForeignKey,
    Identity,
    Index,
    Integer,
    LargeBinary,
    SmallInteger,
    Text,
    UniqueConstraint,
    func,
)
from sqlalchemy.dialects.postgresql import JSONB, TIMESTAMP
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

STATUSES = ("received", "evaluated", "published", "not_admitted", "withdrawn", "superseded", "set_aside")
ROLES = ("submitter", "steward", "admin")
ENTRY_STATES = ("pending", "current", "superseded", "withdrawn", "not_admitted", "set_aside")


class Base(DeclarativeBase):
    """Base of every table; names constraints so that migrations can refer to them."""

    type_annotation_map = {  # noqa: RUF012 - the name and type are SQLAlchemy's
        datetime: TIMESTAMP(timezone=True),
        str: Text,
        dict[str, Any]: JSONB,
        bytes: LargeBinary,
    }


Base.metadata.naming_convention = {
    "ix": "ix_%(column_0_label)s",
    "uq": "uq_%(table_name)s_%(column_0_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "pk": "pk_%(table_name)s",
}


def _one_of(column: str, values: tuple[str, ...]) -> CheckConstraint:
    quoted = ", ".join(f"'{value}'" for value in values)
    return CheckConstraint(f"{column} IN ({quoted})", name=column)


class Token(Base):
    """A bearer token: only its SHA-256 is kept. It is also the identity that owns entrants.

    No two ever have the same name, so that what is shown of a token names one of them. `benchmarks` are the slugs that
    it is limited to, None for all; `used_at` is its last use to the hour. After a rotation the former text works until
    `former_until`.
    """

    __tablename__ = "token"
    __table_args__ = (_one_of("role", ROLES),)

    id: Mapped[int] = mapped_column(Integer, Identity(always=True), primary_key=True)
    name: Mapped[str]
    role: Mapped[str]
    hash: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    revoked_at: Mapped[datetime | None]
    expires_at: Mapped[datetime | None]
    used_at: Mapped[datetime | None]
    benchmarks: Mapped[list[str] | None] = mapped_column(ARRAY(Text))
    former_hash: Mapped[bytes | None] = mapped_column(LargeBinary, unique=True)
    former_until: Mapped[datetime | None]


Index("uq_token_lower_name", func.lower(Token.name), unique=True)


class Benchmark(Base):
    """A benchmark and its counters.

    `data_version` grows with everything that can change a board; `published_version` is the data_version
    that the current snapshot shows. `change_version` grows with everything that any page shows, `boards_version` with
    what a published table's page shows.
    `publish_tries` counts the publications that failed since the last one that did not, `publish_error` says why the
    latest did, and `publish_retry_at` is when the sweep tries again.
    """

    __tablename__ = "benchmark"

    id: Mapped[int] = mapped_column(Integer, Identity(always=True), primary_key=True)
    slug: Mapped[str] = mapped_column(Text, unique=True)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    created_by: Mapped[int] = mapped_column(ForeignKey("token.id"))
    data_version: Mapped[int] = mapped_column(BigInteger, server_default="0")
    published_version: Mapped[int] = mapped_column(BigInteger, server_default="0")
    change_version: Mapped[int] = mapped_column(BigInteger, server_default="0")
    boards_version: Mapped[int] = mapped_column(BigInteger, server_default="0")
    snapshot_id: Mapped[int | None] = mapped_column(
        ForeignKey("snapshot.id", use_alter=True, name="fk_benchmark_snapshot_id")
    )
    publish_error: Mapped[str | None]
    publish_tries: Mapped[int] = mapped_column(Integer, server_default="0")
    publish_retry_at: Mapped[datetime | None]


class ManifestVersion(Base):
    """One immutable version of a benchmark's manifest, as the bytes that were sent."""

    __tablename__ = "manifest_version"
    __table_args__ = (UniqueConstraint("benchmark_id", "version"),)

    id: Mapped[int] = mapped_column(Integer, Identity(always=True), primary_key=True)
    benchmark_id: Mapped[int] = mapped_column(ForeignKey("benchmark.id"))
    version: Mapped[int]
    yaml: Mapped[bytes]
    sha256: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    created_by: Mapped[int] = mapped_column(ForeignKey("token.id"))


class StewardGrant(Base):
    """A token became steward of a benchmark, or ceased to be; the newest of the two is what holds."""

    __tablename__ = "steward_grant"
    __table_args__ = (Index("ix_steward_grant_benchmark_id", "benchmark_id", "token_id"),)

    id: Mapped[int] = mapped_column(Integer, Identity(always=True), primary_key=True)
    benchmark_id: Mapped[int] = mapped_column(ForeignKey("benchmark.id"))
    token_id: Mapped[int] = mapped_column(ForeignKey("token.id"))
    granted: Mapped[bool]
    by_id: Mapped[int] = mapped_column(ForeignKey("token.id"))
    at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())


class Prereg(Base):
    """A preregistration, addressed by the SHA-256 of its bytes."""

    __tablename__ = "prereg"

    sha256: Mapped[str] = mapped_column(Text, primary_key=True)
    git_blob_sha1: Mapped[str]
    yaml: Mapped[bytes]
    form: Mapped[str]
    run_purpose: Mapped[str]
    registered_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    registered_by: Mapped[int] = mapped_column(ForeignKey("token.id"))


class PreregBinding(Base):
    """A prereg was registered for a benchmark, which may be made later; it may be for several."""

    __tablename__ = "prereg_binding"

    prereg_sha256: Mapped[str] = mapped_column(ForeignKey("prereg.sha256"), primary_key=True)
    benchmark: Mapped[str] = mapped_column(Text, primary_key=True, index=True)
    bound_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    bound_by: Mapped[int] = mapped_column(ForeignKey("token.id"))


class PreregAttestation(Base):
    """A steward's word that a prereg existed before the server saw it, with the evidence for it.

    It counts for one benchmark; null: for all of them, as an admin's word does.
    """

    __tablename__ = "prereg_attestation"

    id: Mapped[int] = mapped_column(Integer, Identity(always=True), primary_key=True)
    prereg_sha256: Mapped[str] = mapped_column(ForeignKey("prereg.sha256"), index=True)
    registered_at: Mapped[datetime]
    evidence: Mapped[str]
    attested_at: Mapped[datetime] = mapped_column(server_default=func.now())
    attested_by: Mapped[int] = mapped_column(ForeignKey("token.id"))
    benchmark: Mapped[str | None]


class Entrant(Base):
    """What is compared. Its first admitted submitter owns the name; names of one key are one name, see `name_key`."""

    __tablename__ = "entrant"

    id: Mapped[int] = mapped_column(Integer, Identity(always=True), primary_key=True)
    benchmark_id: Mapped[int] = mapped_column(ForeignKey("benchmark.id"))
    name: Mapped[str]
    name_key: Mapped[str]
    owner_id: Mapped[int | None] = mapped_column(ForeignKey("token.id"))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


Index("uq_entrant_benchmark_id_name_key", Entrant.benchmark_id, Entrant.name_key, unique=True)


class EntrantTransfer(Base):
    """A steward moved an entrant to another owner, and why."""

    __tablename__ = "entrant_transfer"

    id: Mapped[int] = mapped_column(Integer, Identity(always=True), primary_key=True)
    entrant_id: Mapped[int] = mapped_column(ForeignKey("entrant.id"), index=True)
    from_id: Mapped[int | None] = mapped_column(ForeignKey("token.id"))
    to_id: Mapped[int] = mapped_column(ForeignKey("token.id"))
    by_id: Mapped[int] = mapped_column(ForeignKey("token.id"))
    reason: Mapped[str]
    at: Mapped[datetime] = mapped_column(server_default=func.now())


class EntrantReservation(Base):
    """A registration named an entrant that nobody owned: nobody else may take it until then, once for each token."""

    __tablename__ = "entrant_reservation"

    id: Mapped[int] = mapped_column(Integer, Identity(always=True), primary_key=True)
    benchmark: Mapped[str]
    name: Mapped[str]
    name_key: Mapped[str]
    token_id: Mapped[int] = mapped_column(ForeignKey("token.id"), index=True)
    prereg_sha256: Mapped[str] = mapped_column(ForeignKey("prereg.sha256"), index=True)
    reserved_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    until: Mapped[datetime]


Index(
    "uq_entrant_reservation_name",
    EntrantReservation.benchmark,
    EntrantReservation.name_key,
    EntrantReservation.token_id,
    unique=True,
)


class EntrantRelease(Base):
    """A steward, or the registrant, gave a reserved name free, and why."""

    __tablename__ = "entrant_release"

    reservation_id: Mapped[int] = mapped_column(ForeignKey("entrant_reservation.id"), primary_key=True)
    by_id: Mapped[int] = mapped_column(ForeignKey("token.id"))
    reason: Mapped[str]
    at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())


class Task(Base):
    """A task's name, stored once; score rows hold its number. `stratum` is what the name stands for in a series."""

    __tablename__ = "task"
    __table_args__ = (UniqueConstraint("benchmark_id", "name_key"),)

    id: Mapped[int] = mapped_column(Integer, Identity(always=True), primary_key=True)
    benchmark_id: Mapped[int] = mapped_column(ForeignKey("benchmark.id"))
    name: Mapped[str]
    name_key: Mapped[str]
    stratum: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))


class Submission(Base):
    """One upload. `digest` is over its files and fields: the same bytes are one, until it is withdrawn or set aside.

    `evaluation_tries` counts the tries that failed, `evaluation_retry_at` is when the next one is due.
    """

    __tablename__ = "submission"
    __table_args__ = (
        _one_of("status", STATUSES),
        Index(
            "uq_submission_digest",
            "benchmark_id",
            "token_id",
            "digest",
            unique=True,
            postgresql_where="status NOT IN ('withdrawn', 'set_aside')",
        ),
        UniqueConstraint("token_id", "idempotency_key", name="uq_submission_idempotency_key"),
        Index("ix_submission_benchmark_id_status", "benchmark_id", "status"),
    )

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    benchmark_id: Mapped[int] = mapped_column(ForeignKey("benchmark.id"))
    manifest_version_id: Mapped[int] = mapped_column(ForeignKey("manifest_version.id"))
    prereg_sha256: Mapped[str | None] = mapped_column(ForeignKey("prereg.sha256"), index=True)
    token_id: Mapped[int] = mapped_column(ForeignKey("token.id"))
    digest: Mapped[str]
    idempotency_key: Mapped[str | None]
    status: Mapped[str]
    run_purpose: Mapped[str]
    columns: Mapped[list[str]] = mapped_column(ARRAY(Text))
    n_rows: Mapped[int]
    description: Mapped[dict[str, Any]] = mapped_column(JSONB)
    claims: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    facts: Mapped[dict[str, Any]] = mapped_column(JSONB, server_default="{}")
    received_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    evaluation_tries: Mapped[int] = mapped_column(Integer, server_default="0")
    evaluation_retry_at: Mapped[datetime | None]


class SubmissionEvent(Base):
    """A submission reached a state, when and why."""

    __tablename__ = "submission_event"

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id"), index=True)
    status: Mapped[str]
    at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    reason: Mapped[str]


class SubmissionFile(Base):
    """A file as it was sent, or a member of a sent archive: its name, size and hash."""

    __tablename__ = "submission_file"

    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id"), primary_key=True)
    position: Mapped[int] = mapped_column(SmallInteger, primary_key=True)
    name: Mapped[str]
    sha256: Mapped[str] = mapped_column(Text, index=True)
    n_bytes: Mapped[int] = mapped_column(BigInteger)
    n_rows: Mapped[int]


class SubmissionCheck(Base):
    """One admission rule applied to one submission."""

    __tablename__ = "submission_check"
    __table_args__ = (_one_of("outcome", ("passed", "failed", "warned")),)

    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id"), primary_key=True)
    position: Mapped[int] = mapped_column(SmallInteger, primary_key=True)
    rule: Mapped[str]
    outcome: Mapped[str]
    reason: Mapped[str]


class SubmissionTable(Base):
    """A table computed from one submission alone, by `jobs.evaluate`."""

    __tablename__ = "submission_table"

    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id"), primary_key=True)
    name: Mapped[str] = mapped_column(Text, primary_key=True)
    content: Mapped[dict[str, Any]] = mapped_column(JSONB)


class Entry(Base):
    """One entrant in one submission, and whether it is the evidence that counts now.

    `task_ids` are the tasks that it counts for, where later evidence supersedes task by task; null: all of its tasks.
    """

    __tablename__ = "entry"
    __table_args__ = (
        _one_of("state", ENTRY_STATES),
        Index("ix_entry_current", "entrant_id", postgresql_where="state = 'current'"),
        Index("ix_entry_superseded_by", "superseded_by", postgresql_where="superseded_by IS NOT NULL"),
    )

    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id"), primary_key=True)
    entrant_id: Mapped[int] = mapped_column(ForeignKey("entrant.id"), primary_key=True, index=True)
    n_rows: Mapped[int]
    state: Mapped[str]
    superseded_by: Mapped[int | None] = mapped_column(ForeignKey("submission.id"))
    task_ids: Mapped[list[int] | None] = mapped_column(ARRAY(Integer))


class Fingerprint(Base):
    """What tells one entrant's rows in one submission from others, and the flags that they raised on arrival.

    `places` and `results` are digests over all rows, `sample` holds places and results of some, `contents` hashes of
    what rows say in many digits: see `app.values.fingerprints`.
    """

    __tablename__ = "fingerprint"

    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id"), primary_key=True)
    entrant_id: Mapped[int] = mapped_column(ForeignKey("entrant.id"), primary_key=True, index=True)
    n_rows: Mapped[int]
    places: Mapped[str]
    results: Mapped[str]
    sample: Mapped[bytes]
    contents: Mapped[list[int]] = mapped_column(ARRAY(BigInteger))
    flags: Mapped[list[str]] = mapped_column(ARRAY(Text))


Index("ix_fingerprint_contents", Fingerprint.contents, postgresql_using="gin")


class Score(Base):
    """One evidence row; `values` are in the order of its submission's `columns`, null where it failed."""

    __tablename__ = "score"

    submission_id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    position: Mapped[int] = mapped_column(Integer, primary_key=True)
    file: Mapped[int] = mapped_column(SmallInteger)
    row: Mapped[int]
    entrant_id: Mapped[int]
    task_id: Mapped[int]
    condition: Mapped[str | None]
    seed: Mapped[int | None] = mapped_column(BigInteger)
    item: Mapped[str | None]
    leaked: Mapped[bool] = mapped_column(Boolean)
    values: Mapped[list[float | None]] = mapped_column(ARRAY(Double))
    reason: Mapped[str | None]
    recorded: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))


class Evidence(Base):
    """The score rows of one entrant in one submission, packed: what boards are computed from. Made of the rows."""

    __tablename__ = "evidence"

    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id"), primary_key=True)
    entrant_id: Mapped[int] = mapped_column(ForeignKey("entrant.id"), primary_key=True)
    content: Mapped[bytes]


class LabelSet(Base):
    """The labels of one task of a prediction benchmark: put once by a steward, never served to anyone else.

    `items` is compressed JSON; the others are compressed little-endian float64 and int64 arrays.
    """

    __tablename__ = "label_set"

    benchmark_id: Mapped[int] = mapped_column(ForeignKey("benchmark.id"), primary_key=True)
    task: Mapped[str] = mapped_column(Text, primary_key=True)
    n_items: Mapped[int]
    items: Mapped[bytes]
    label: Mapped[bytes]
    weight: Mapped[bytes | None]
    group: Mapped[bytes | None]
    sha256: Mapped[str]
    put_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    put_by: Mapped[int] = mapped_column(ForeignKey("token.id"))


class ItemSet(Base):
    """The items of a benchmark's grid, as its steward put them under one version of the manifest.

    `task` is empty where they are those of every task; `items` is compressed JSON.
    """

    __tablename__ = "item_set"

    manifest_version_id: Mapped[int] = mapped_column(ForeignKey("manifest_version.id"), primary_key=True)
    task: Mapped[str] = mapped_column(Text, primary_key=True)
    n_items: Mapped[int]
    items: Mapped[bytes]
    sha256: Mapped[str]
    put_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    put_by: Mapped[int] = mapped_column(ForeignKey("token.id"))


class Prediction(Base):
    """What one entrant predicted for one task, packed in the order of the labels' items.

    `values` is a compressed little-endian float64 array [n_items, n_columns]. `labels` holds the submitter's own
    ones, packed, where the benchmark has none.
    """

    __tablename__ = "prediction"

    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id"), primary_key=True)
    entrant_id: Mapped[int] = mapped_column(ForeignKey("entrant.id"), primary_key=True)
    task_id: Mapped[int] = mapped_column(ForeignKey("task.id"), primary_key=True)
    n_items: Mapped[int]
    n_columns: Mapped[int]
    values: Mapped[bytes]
    labels: Mapped[bytes | None]


class Measured(Base):
    """What one entrant's evidence comes to under one board, kept so that publishing need not read its rows again.

    `key` is a digest of everything that decides it: the board's declaration, the metrics, the code.
    """

    __tablename__ = "measured"

    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id"), primary_key=True)
    entrant_id: Mapped[int] = mapped_column(ForeignKey("entrant.id"), primary_key=True)
    key: Mapped[str] = mapped_column(Text, primary_key=True)
    content: Mapped[bytes]


class Snapshot(Base):
    """One immutable published state of a benchmark; `before` is the number of the one that was current until then.

    The same inputs make the same snapshot again, so the one before need not have the number before.
    """

    __tablename__ = "snapshot"
    __table_args__ = (
        UniqueConstraint("benchmark_id", "number", name="uq_snapshot_number"),
        UniqueConstraint("benchmark_id", "input_digest", "manifest_digest", "code_version", name="uq_snapshot_inputs"),
    )

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    benchmark_id: Mapped[int] = mapped_column(ForeignKey("benchmark.id"))
    number: Mapped[int]
    manifest_version_id: Mapped[int] = mapped_column(ForeignKey("manifest_version.id"))
    input_digest: Mapped[str]
    manifest_digest: Mapped[str]
    code_version: Mapped[str]
    rng_seeds: Mapped[dict[str, Any]] = mapped_column(JSONB)
    withdrawals: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    changes: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    before: Mapped[int | None]
    published_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())


class SnapshotEntry(Base):
    """Which submission stood for an entrant in a snapshot; null `task_ids`: for all of its tasks."""

    __tablename__ = "snapshot_entry"

    snapshot_id: Mapped[int] = mapped_column(ForeignKey("snapshot.id"), primary_key=True)
    entrant_id: Mapped[int] = mapped_column(ForeignKey("entrant.id"), primary_key=True)
    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id"), primary_key=True)
    task_ids: Mapped[list[int] | None] = mapped_column(ARRAY(Integer))


class SnapshotTable(Base):
    """A published table: the JSON of `app.values.table.Table`, compressed."""

    __tablename__ = "snapshot_table"

    snapshot_id: Mapped[int] = mapped_column(ForeignKey("snapshot.id"), primary_key=True)
    name: Mapped[str] = mapped_column(Text, primary_key=True)
    content: Mapped[bytes]
