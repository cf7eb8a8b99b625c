"""Every table of the database, by subject: people, benchmarks, submissions and evidence, what is published."""

from datetime import datetime
from typing import Any, Literal, get_args

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Boolean,
    CheckConstraint,
    Double,
    FetchedValue,
    ForeignKey,
    ForeignKeyConstraint,
    Identity,
    Index,
    Integer,
    LargeBinary,
    SmallInteger,
    Text,
    UniqueConstraint,
    func,
    or_,
    select,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB, TIMESTAMP
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


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


def one_of(column: str, values: tuple[str, ...]) -> CheckConstraint:
    """A check that a column holds one of these values."""
    quoted = ", ".join(f"'{value}'" for value in values)
    return CheckConstraint(f"{column} IN ({quoted})", name=column)


# Entrants: their owners, and the names that registrations reserve.


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


class StoredEntrantField(Base):
    """A change of what an entrant is said to be, by whom and how: the newest of a field counts, null takes it back."""

    __tablename__ = "entrant_field"
    __table_args__ = (
        one_of("source", ("file", "value", "card")),
        Index("ix_entrant_field_entrant_id", "entrant_id", "field", "id"),
    )

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    entrant_id: Mapped[int] = mapped_column(ForeignKey("entrant.id"))
    field: Mapped[str]
    value: Mapped[Any | None] = mapped_column(JSONB(none_as_null=True))
    source: Mapped[str]
    by_id: Mapped[int] = mapped_column(ForeignKey("token.id"), index=True)
    at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())


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


# Tokens: who may do what.

SCOPES = ("read", "submit", "steward")

ROLES = ("submitter", "steward", "admin")


class Token(Base):
    """A bearer token: only its SHA-256 is kept. It is also the identity that owns entrants.

    No two ever have the same name, so that what is shown of a token names one of them. `benchmarks` are the slugs that
    it is limited to, None for all; so are `scopes` and `entrants`, names that it may submit. `used_at` is its last use
    to the hour. After a rotation the former text works until `former_until`.
    """

    __tablename__ = "token"
    __table_args__ = (
        one_of("role", ROLES),
        CheckConstraint("scopes <@ ARRAY['read', 'submit', 'steward']", name="scopes"),
    )

    id: Mapped[int] = mapped_column(Integer, Identity(always=True), primary_key=True)
    name: Mapped[str]
    role: Mapped[str]
    hash: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    revoked_at: Mapped[datetime | None]
    expires_at: Mapped[datetime | None]
    used_at: Mapped[datetime | None]
    benchmarks: Mapped[list[str] | None] = mapped_column(ARRAY(Text))
    scopes: Mapped[list[str] | None] = mapped_column(ARRAY(Text))
    entrants: Mapped[list[str] | None] = mapped_column(ARRAY(Text))
    former_hash: Mapped[bytes | None] = mapped_column(LargeBinary, unique=True)
    former_until: Mapped[datetime | None]


Index("uq_token_lower_name", func.lower(Token.name), unique=True)


class Invitation(Base):
    """A code that makes one token, once: with which role, in which benchmark, for how many days.

    Only the code's SHA-256 is kept. It works until it is used, revoked or over.
    """

    __tablename__ = "invitation"
    __table_args__ = (one_of("role", ("submitter", "reviewer", "steward")),)

    id: Mapped[int] = mapped_column(Integer, Identity(always=True), primary_key=True)
    hash: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    role: Mapped[str]
    benchmark_id: Mapped[int | None] = mapped_column(ForeignKey("benchmark.id"), index=True)
    token_days: Mapped[int | None]
    made_by: Mapped[int] = mapped_column(ForeignKey("token.id"))
    made_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    expires_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]
    used_at: Mapped[datetime | None]
    token_id: Mapped[int | None] = mapped_column(ForeignKey("token.id"))


class BrowserSession(Base):
    """What represents a token in a browser, until it is over or was ended; only the SHA-256 of its secret is kept.

    `proved_at` is when its holder last showed who they are, which an identity provider may have let them do earlier.
    """

    __tablename__ = "browser_session"

    id: Mapped[int] = mapped_column(Integer, Identity(always=True), primary_key=True)
    hash: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    token_id: Mapped[int] = mapped_column(ForeignKey("token.id"), index=True)
    begun_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    proved_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    used_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]


# Whom an identity provider knows a token's holder as.


class SignInIdentity(Base):
    """Who signs in through a provider: by its address and its own unchanging name for them, never by an e-mail."""

    __tablename__ = "identity"

    issuer: Mapped[str] = mapped_column(Text, primary_key=True)
    subject: Mapped[str] = mapped_column(Text, primary_key=True)
    token_id: Mapped[int] = mapped_column(Integer, ForeignKey("token.id"), unique=True)


# Whom to notify of submissions, and what is still to be sent.


class Notification(Base):
    """An address that is notified of the submissions of a token, to one benchmark or to all; `https:` or `mailto:`.

    `secret` signs what a web address is sent, and confirms an address of mail. Nothing is sent before it is confirmed,
    nor after it has ended.
    """

    __tablename__ = "notification"
    __table_args__ = (CheckConstraint("events <@ ARRAY['published', 'not_admitted', 'superseded']", name="events"),)

    id: Mapped[int] = mapped_column(Integer, Identity(always=True), primary_key=True)
    token_id: Mapped[int] = mapped_column(ForeignKey("token.id"), index=True)
    benchmark_id: Mapped[int | None] = mapped_column(ForeignKey("benchmark.id"), index=True)
    address: Mapped[str]
    secret: Mapped[bytes] = mapped_column(LargeBinary)
    events: Mapped[list[str]] = mapped_column(ARRAY(Text))
    made_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    confirmed_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
    ended_because: Mapped[str | None]


class Delivery(Base):
    """One notification to one address, written by the database with the event itself; `due_at` is null when over.

    Without a submission it asks for the confirmation of an address of mail.
    """

    __tablename__ = "delivery"
    __table_args__ = (Index("ix_delivery_due_at", "due_at", postgresql_where="due_at IS NOT NULL"),)

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    notification_id: Mapped[int] = mapped_column(ForeignKey("notification.id"), index=True)
    submission_id: Mapped[int | None] = mapped_column(ForeignKey("submission.id"), index=True)
    event: Mapped[str]
    reason: Mapped[str]
    made_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    due_at: Mapped[datetime | None] = mapped_column(server_default=func.clock_timestamp())
    tries: Mapped[int] = mapped_column(Integer, server_default="0")
    told_at: Mapped[datetime | None]
    last_error: Mapped[str | None]


# The table of who did what: rows are added with what they are about, and the database refuses to change them.


class AuditEvent(Base):
    """Somebody wrote something, or was refused: by which token, from where, and what it changed.

    `action` is the route or the command, `subject` what the address named. `token_id` is null for whoever is not known
    and for commands on the server's own machine. `before` and `after` name tokens by their numbers alone, so that a
    person's name can be erased elsewhere. `address` is emptied after `address_until`, with
    its salt, and nothing else ever changes. The database itself fills `at`, both salts and the digest of the address.
    """

    __tablename__ = "audit_event"
    __table_args__ = (
        CheckConstraint("address IS NULL OR address_until IS NOT NULL", name="address_until"),
        Index("ix_audit_event_benchmark", "benchmark", "id", postgresql_where="benchmark IS NOT NULL"),
        Index("ix_audit_event_token_id", "token_id", "id", postgresql_where="token_id IS NOT NULL"),
        Index("ix_audit_event_address_until", "address_until", postgresql_where="address IS NOT NULL"),
    )

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    action: Mapped[str]
    subject: Mapped[str]
    benchmark: Mapped[str | None]
    token_id: Mapped[int | None] = mapped_column(ForeignKey("token.id"))
    session_id: Mapped[int | None]
    address: Mapped[str | None]
    address_until: Mapped[datetime | None]
    status: Mapped[int | None] = mapped_column(SmallInteger)
    refusal: Mapped[str | None]
    before: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    after: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    reason: Mapped[str | None]
    salt: Mapped[bytes] = mapped_column(server_default=text("uuid_send(gen_random_uuid())"))
    address_salt: Mapped[bytes | None] = mapped_column(server_default=FetchedValue())
    address_digest: Mapped[bytes | None] = mapped_column(server_default=FetchedValue())


class AuditUnsealed(Base):
    """An event that no seal covers yet; a trigger adds it, a seal removes it."""

    __tablename__ = "audit_unsealed"

    event_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)


class AuditSeal(Base):
    """A batch of events, and the seal before it, under one digest; see `app.store.audit`.

    `leaves` are the digests of `events`, 32 bytes each and in their order. The database takes only the next number, on
    the digest of the last seal, at the present time.
    """

    __tablename__ = "audit_seal"
    __table_args__ = (CheckConstraint("octet_length(leaves) = 32 * cardinality(events)", name="leaves"),)

    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    at: Mapped[datetime]
    events: Mapped[list[int]] = mapped_column(ARRAY(BigInteger))
    leaves: Mapped[bytes]
    previous: Mapped[bytes | None]
    digest: Mapped[bytes]


# What changes of a benchmark beside its manifest: how it is called, and that it takes no more submissions.


class BenchmarkChange(Base):
    """A benchmark was given another title or description under a version of its manifest, or was retired.

    The newest text of the version holds; a later version has its own.
    """

    __tablename__ = "benchmark_change"
    __table_args__ = (CheckConstraint("num_nonnulls(title, description, retired_because) > 0", name="says_something"),)

    id: Mapped[int] = mapped_column(Integer, Identity(always=True), primary_key=True)
    benchmark_id: Mapped[int] = mapped_column(ForeignKey("benchmark.id"), index=True)
    manifest_version_id: Mapped[int] = mapped_column(ForeignKey("manifest_version.id"), index=True)
    by_id: Mapped[int] = mapped_column(ForeignKey("token.id"))
    at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    title: Mapped[str | None]
    description: Mapped[str | None]
    retired_because: Mapped[str | None]


# Benchmarks, the versions of their manifests, who has a role in them, and their tasks.

ROLES_HERE = ("steward", "reviewer", "submitter")


class Benchmark(Base):
    """A benchmark and its counters.

    `data_version` grows with everything that can change a board; `published_version` is the data_version
    that the current snapshot shows. `change_version` grows with everything that any page shows, `boards_version` with
    what a published table's page shows.
    `publish_tries` counts the publications that failed since the last one that did not, `publish_error` says why the
    latest did, and `publish_retry_at` is when the sweep tries again. `visibility` only ever widens: draft, private,
    public; see `app.rights.visibility`.
    """

    __tablename__ = "benchmark"
    __table_args__ = (
        one_of("visibility", ("draft", "private", "public")),
        Index("ix_benchmark_behind", "id", postgresql_where="data_version > published_version"),
        # Every statement of a reader leaves out what is hidden from them.
        Index("ix_benchmark_not_public", "id", postgresql_where="visibility <> 'public'"),
    )

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
    visibility: Mapped[str] = mapped_column(Text, server_default="public")


class ManifestVersion(Base):
    """One immutable version of a benchmark's manifest, as the bytes that were sent.

    `title`, `evidence` and `leaderboards` (the name and title of each) are what a list of benchmarks shows of it.
    """

    __tablename__ = "manifest_version"
    __table_args__ = (UniqueConstraint("benchmark_id", "version"),)

    id: Mapped[int] = mapped_column(Integer, Identity(always=True), primary_key=True)
    benchmark_id: Mapped[int] = mapped_column(ForeignKey("benchmark.id"))
    version: Mapped[int]
    yaml: Mapped[bytes]
    sha256: Mapped[str]
    title: Mapped[str]
    evidence: Mapped[str]
    leaderboards: Mapped[list[dict[str, str]]] = mapped_column(JSONB)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    created_by: Mapped[int] = mapped_column(ForeignKey("token.id"))


class RoleGrant(Base):
    """A token was given a role in a benchmark, or lost it; the newest of the two holds, until its time."""

    __tablename__ = "role_grant"
    __table_args__ = (
        one_of("role", ROLES_HERE),
        Index("ix_role_grant_benchmark_id", "benchmark_id", "token_id", "role"),
        Index("ix_role_grant_token_id", "token_id"),
    )

    id: Mapped[int] = mapped_column(Integer, Identity(always=True), primary_key=True)
    benchmark_id: Mapped[int] = mapped_column(ForeignKey("benchmark.id"))
    token_id: Mapped[int] = mapped_column(ForeignKey("token.id"))
    role: Mapped[str]
    granted: Mapped[bool]
    until: Mapped[datetime | None]
    by_id: Mapped[int] = mapped_column(ForeignKey("token.id"))
    at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())


class StoredTask(Base):
    """A task's name, stored once; score rows hold its number. `stratum` is what the name means in a series."""

    __tablename__ = "task"
    __table_args__ = (UniqueConstraint("benchmark_id", "name_key"),)

    id: Mapped[int] = mapped_column(Integer, Identity(always=True), primary_key=True)
    benchmark_id: Mapped[int] = mapped_column(ForeignKey("benchmark.id"))
    name: Mapped[str]
    name_key: Mapped[str]
    stratum: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))


# Preregistrations, the benchmarks they are registered for, and what stewards attest of them.


class StoredPrereg(Base):
    """A preregistration, addressed by the SHA-256 of its bytes; until `embargo_until` it is shown to few."""

    __tablename__ = "prereg"

    sha256: Mapped[str] = mapped_column(Text, primary_key=True)
    git_blob_sha1: Mapped[str]
    yaml: Mapped[bytes]
    form: Mapped[str]
    run_purpose: Mapped[str]
    registered_at: Mapped[datetime] = mapped_column(server_default=func.transaction_timestamp())
    registered_by: Mapped[int] = mapped_column(ForeignKey("token.id"))
    embargo_until: Mapped[datetime | None]


class PreregBinding(Base):
    """A prereg was registered for a benchmark, which may be made later; it may be for several."""

    __tablename__ = "prereg_binding"

    prereg_sha256: Mapped[str] = mapped_column(ForeignKey("prereg.sha256"), primary_key=True)
    benchmark: Mapped[str] = mapped_column(Text, primary_key=True, index=True)
    bound_at: Mapped[datetime] = mapped_column(server_default=func.transaction_timestamp())
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


# Submissions: what was uploaded, how it was checked, and which of it is current.

Status = Literal["received", "evaluated", "published", "not_admitted", "withdrawn", "superseded", "set_aside"]

STATUSES: tuple[Status, ...] = get_args(Status)

ENTRY_STATES = ("pending", "current", "superseded", "withdrawn", "not_admitted", "set_aside")


class Submission(Base):
    """One upload. `digest` is over its files and fields: the same bytes are one, until it is withdrawn or set aside.

    `evaluation_tries` counts the tries that failed, `evaluation_retry_at` is when the next one is due. `request_id` is
    that of the request that brought it, for the logs.
    """

    __tablename__ = "submission"
    __table_args__ = (
        one_of("status", STATUSES),
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
        Index(
            "ix_submission_waits",
            "benchmark_id",
            "id",
            postgresql_where="status = 'received' OR status = 'not_admitted' AND run_purpose <> 'leaderboard'",
        ),
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
    request_id: Mapped[str | None]


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
    __table_args__ = (one_of("outcome", ("passed", "failed", "warned")),)

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
        one_of("state", ENTRY_STATES),
        Index("ix_entry_current", "entrant_id", postgresql_where="state = 'current'"),
        Index("ix_entry_superseded_by", "superseded_by", postgresql_where="superseded_by IS NOT NULL"),
    )

    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id"), primary_key=True)
    entrant_id: Mapped[int] = mapped_column(ForeignKey("entrant.id"), primary_key=True, index=True)
    n_rows: Mapped[int]
    state: Mapped[str]
    superseded_by: Mapped[int | None] = mapped_column(ForeignKey("submission.id"))
    task_ids: Mapped[list[int] | None] = mapped_column(ARRAY(Integer))


# The rows and predictions of a submission, and what is computed from them.


class StoredFingerprint(Base):
    """What tells one entrant's rows in one submission from others, and the flags that they raised on arrival.

    `places` and `results` are digests over all rows, `sample` holds places and results of some, `contents` hashes of
    what rows say in many digits, the sampled ones values of some rows: see `app.values.fingerprints`.
    """

    __tablename__ = "fingerprint"

    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id"), primary_key=True)
    entrant_id: Mapped[int] = mapped_column(ForeignKey("entrant.id"), primary_key=True, index=True)
    n_rows: Mapped[int]
    places: Mapped[str]
    results: Mapped[str]
    sample: Mapped[bytes]
    contents: Mapped[list[int]] = mapped_column(ARRAY(BigInteger))
    sampled_columns: Mapped[list[str]] = mapped_column(ARRAY(Text))
    sampled_places: Mapped[bytes]
    sampled_values: Mapped[bytes]
    flags: Mapped[list[str]] = mapped_column(ARRAY(Text))


Index("ix_fingerprint_contents", StoredFingerprint.contents, postgresql_using="gin")

Index("ix_fingerprint_results", StoredFingerprint.results)


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


class PackedRows(Base):
    """The score rows of one entrant in one submission, packed: what boards are computed from. Made of the rows."""

    __tablename__ = "evidence"

    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id"), primary_key=True)
    entrant_id: Mapped[int] = mapped_column(ForeignKey("entrant.id"), primary_key=True)
    content: Mapped[bytes]


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


class StoredMeasurement(Base):
    """What one entrant's evidence comes to under one board, kept so that publishing need not read its rows again.

    `key` is a digest of everything that decides it: the board's declaration, the metrics, the code. `apart` is what
    only the best of a board are shown with: curves, and what paired tests need of each item. `digest` is of both.
    """

    __tablename__ = "measured"

    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id"), primary_key=True)
    entrant_id: Mapped[int] = mapped_column(ForeignKey("entrant.id"), primary_key=True)
    key: Mapped[str] = mapped_column(Text, primary_key=True)
    digest: Mapped[bytes]
    content: Mapped[bytes]
    apart: Mapped[bytes | None]


# What a steward puts beside a manifest: labels, and the items of a grid.


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
    row: Mapped[bytes | None]
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


# What is kept of labels that are a secret: what binds their steward, which are public, what was disclosed.


class LabelSecret(Base):
    """What the commitment to a benchmark's labels is made of, shown when it closes; the commitment is shown at once."""

    __tablename__ = "label_secret"

    benchmark_id: Mapped[int] = mapped_column(ForeignKey("benchmark.id"), primary_key=True)
    salt: Mapped[bytes]
    public_share: Mapped[float] = mapped_column(Double)
    labels_sha256: Mapped[str]
    commitment: Mapped[str]
    committed_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())


class LabelPart(Base):
    """Which items of a task are public: one packed bit for each, in the order of the labels."""

    __tablename__ = "label_part"

    benchmark_id: Mapped[int] = mapped_column(ForeignKey("benchmark.id"), primary_key=True)
    task: Mapped[str] = mapped_column(Text, primary_key=True)
    public: Mapped[bytes]


class LabelClose(Base):
    """A benchmark closed: from now on its private part is shown. `by_id` is null where its time had come.

    `labels_match` says whether the stored labels were still those that were committed to.
    """

    __tablename__ = "label_close"

    benchmark_id: Mapped[int] = mapped_column(ForeignKey("benchmark.id"), primary_key=True)
    at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    by_id: Mapped[int | None] = mapped_column(ForeignKey("token.id"))
    reason: Mapped[str]
    labels_match: Mapped[bool] = mapped_column(Boolean)


class LabelAttempt(Base):
    """A submission that is scored against private labels, whatever becomes of it; `exempt`: of one who knows them."""

    __tablename__ = "label_attempt"
    __table_args__ = (Index("ix_label_attempt_benchmark_id", "benchmark_id", "token_id"),)

    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id"), primary_key=True)
    benchmark_id: Mapped[int] = mapped_column(ForeignKey("benchmark.id"))
    token_id: Mapped[int] = mapped_column(ForeignKey("token.id"))
    exempt: Mapped[bool] = mapped_column(Boolean)
    at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())


class LabelAnswer(Base):
    """One scored entrant: whether its scores were shown, its score on each board, and how many numbers were shown."""

    __tablename__ = "label_answer"

    submission_id: Mapped[int] = mapped_column(ForeignKey("label_attempt.submission_id"), primary_key=True)
    entrant_id: Mapped[int] = mapped_column(ForeignKey("entrant.id"), primary_key=True, index=True)
    shown: Mapped[bool] = mapped_column(Boolean)
    board_scores: Mapped[dict[str, Any]] = mapped_column("rungs", JSONB)
    n_numbers: Mapped[int]
    predictions_sha256: Mapped[str]
    at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())


class OwnerLink(Base):
    """A steward says that two tokens are one owner in a benchmark: they share a quota and a best; the newest holds."""

    __tablename__ = "owner_link"
    __table_args__ = (Index("ix_owner_link_benchmark_id", "benchmark_id"),)

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    benchmark_id: Mapped[int] = mapped_column(ForeignKey("benchmark.id"))
    token_id: Mapped[int] = mapped_column(ForeignKey("token.id"))
    owner_id: Mapped[int] = mapped_column(ForeignKey("token.id"))
    by_id: Mapped[int] = mapped_column(ForeignKey("token.id"))
    reason: Mapped[str]
    at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())


# What somebody says is wrong with a submission, and what a steward answered: both for ever.


class Dispute(Base):
    """Somebody says that a submission is wrong. Its stewards read it; everybody does with the answer."""

    __tablename__ = "dispute"

    id: Mapped[int] = mapped_column(Integer, Identity(always=True), primary_key=True)
    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id"), index=True)
    by_id: Mapped[int] = mapped_column(ForeignKey("token.id"), index=True)
    at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    text: Mapped[str]


class DisputeAnswer(Base):
    """What a steward answered to a dispute, once."""

    __tablename__ = "dispute_answer"

    dispute_id: Mapped[int] = mapped_column(ForeignKey("dispute.id"), primary_key=True)
    by_id: Mapped[int] = mapped_column(ForeignKey("token.id"))
    at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    text: Mapped[str]


# Manifests that are no version yet.


class DraftManifest(Base):
    """A manifest that stewards look at before it is the newest version; its YAML as it was sent, one a benchmark."""

    __tablename__ = "draft_manifest"

    benchmark_id: Mapped[int] = mapped_column(Integer, ForeignKey("benchmark.id"), primary_key=True)
    yaml: Mapped[bytes]
    put_by: Mapped[int] = mapped_column(ForeignKey("token.id"))
    put_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())


# What was tried and came to nothing, or was only asked.


class Try(Base):
    """A dry run, or an upload that was refused: what was answered, for its sender and the stewards to read again.

    `document` is the answer as JSON. Only the newest of each token are kept.
    """

    __tablename__ = "try"
    __table_args__ = (
        CheckConstraint("status BETWEEN 200 AND 599", name="status"),
        Index("ix_try_token_id_at", "token_id", "at"),
        Index("ix_try_benchmark_id_at", "benchmark_id", "at"),
    )

    id: Mapped[str] = mapped_column(Text, primary_key=True)
    benchmark_id: Mapped[int] = mapped_column(ForeignKey("benchmark.id", ondelete="CASCADE"))
    token_id: Mapped[int] = mapped_column(ForeignKey("token.id"))
    at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    is_dry: Mapped[bool]
    status: Mapped[int]
    detail: Mapped[str]
    document: Mapped[dict[str, Any]] = mapped_column(JSONB)


# Snapshots: what is published.


class Snapshot(Base):
    """One immutable published state of a benchmark; `before` is the number of the one that was current until then.

    The same inputs make the same snapshot again, so the one before need not have the number before. One that is faulty
    lacks something by a fault of the server, and is never made again.
    """

    __tablename__ = "snapshot"
    __table_args__ = (
        UniqueConstraint("benchmark_id", "number", name="uq_snapshot_number"),
        Index(
            "uq_snapshot_inputs",
            "benchmark_id",
            "input_digest",
            "manifest_digest",
            "code_version",
            unique=True,
            postgresql_where="NOT is_faulty",
        ),
        # What is new of all benchmarks.
        Index("ix_snapshot_published_at", "published_at"),
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
    is_faulty: Mapped[bool] = mapped_column(server_default="false")
    published_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())


class StoredStanding(Base):
    """Which submission stood for an entrant, from the snapshot numbered `since` on and before that numbered `until`.

    Null `task_ids`: for all of its tasks; null `until`: in the newest snapshot too.
    """

    __tablename__ = "standing"
    __table_args__ = (CheckConstraint("until > since", name="until"),)

    benchmark_id: Mapped[int] = mapped_column(ForeignKey("benchmark.id"), primary_key=True)
    entrant_id: Mapped[int] = mapped_column(ForeignKey("entrant.id"), primary_key=True)
    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id"), primary_key=True)
    since: Mapped[int] = mapped_column(primary_key=True)
    until: Mapped[int | None]
    task_ids: Mapped[list[int] | None] = mapped_column(ARRAY(Integer))


class SnapshotEntry(Base):
    """Which submission stood for an entrant in a snapshot: what `standing` says of its number, and no table."""

    __table__ = (
        select(
            Snapshot.id.label("snapshot_id"),
            StoredStanding.entrant_id,
            StoredStanding.submission_id,
            StoredStanding.task_ids,
        )
        .join(StoredStanding, StoredStanding.benchmark_id == Snapshot.benchmark_id)
        .where(
            StoredStanding.since <= Snapshot.number,
            or_(StoredStanding.until.is_(None), Snapshot.number < StoredStanding.until),
        )
        .subquery("snapshot_entry")
    )
    __mapper_args__ = {  # noqa: RUF012 - the name and type are SQLAlchemy's
        "primary_key": [__table__.c.snapshot_id, __table__.c.entrant_id, __table__.c.submission_id]
    }

    snapshot_id: Mapped[int]
    entrant_id: Mapped[int]
    submission_id: Mapped[int]
    task_ids: Mapped[list[int] | None]


class SnapshotTable(Base):
    """A published table as `app.store.packed_tables` packs it: whole, or what differs from that of another snapshot."""

    __tablename__ = "snapshot_table"
    __table_args__ = (
        ForeignKeyConstraint(["base_id", "name"], ["snapshot_table.snapshot_id", "snapshot_table.name"],
                             name="fk_snapshot_table_base_id"),
        Index("ix_snapshot_table_base_id", "base_id", "name", postgresql_where="base_id IS NOT NULL"),
    )  # fmt: skip

    snapshot_id: Mapped[int] = mapped_column(ForeignKey("snapshot.id"), primary_key=True)
    name: Mapped[str] = mapped_column(Text, primary_key=True)
    base_id: Mapped[int | None] = mapped_column(BigInteger)
    content: Mapped[bytes]


class SnapshotEnd(Base):
    """A snapshot whose tables are no longer kept: since when, and why."""

    __tablename__ = "snapshot_end"

    snapshot_id: Mapped[int] = mapped_column(ForeignKey("snapshot.id"), primary_key=True)
    at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    reason: Mapped[str]


class SnapshotPin(Base):
    """A snapshot that is kept for ever, and because of what."""

    __tablename__ = "snapshot_pin"

    snapshot_id: Mapped[int] = mapped_column(ForeignKey("snapshot.id"), primary_key=True)
    at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    reason: Mapped[str]


# How often somebody did something lately, for every process that asks.


class Rate(Base):
    """Until when somebody's allowance is used up: the theoretical arrival time of GCRA. Lost in a crash, to no harm."""

    __tablename__ = "rate"
    __table_args__ = {"prefixes": ["UNLOGGED"]}  # noqa: RUF012 - the name and type are SQLAlchemy's

    key: Mapped[str] = mapped_column(Text, primary_key=True)
    used_until: Mapped[datetime]


# Faults of the server that changed what is published.

KEPT, MISSING, TABLE, ASIDE = "board kept", "board missing", "table missing", "set aside on a board"

PUBLICATION, SET_ASIDE, NOT_ADMITTED = "publication", "set aside", "not admitted"

OF_BOARDS = (KEPT, MISSING, TABLE, ASIDE, PUBLICATION)
"""What holds until the benchmark is published anew; the others hold as long as the submission's status."""

FAULTS = (*OF_BOARDS, SET_ASIDE, NOT_ADMITTED)


class ServerFault(Base):
    """An unexpected exception and what it cost: a board or table its recomputation, a submission its place.

    `number` is the short one that pages say; equal faults have the same. `error` is for the admin alone.
    """

    __tablename__ = "server_fault"
    __table_args__ = (one_of("what", FAULTS), Index("ix_server_fault_benchmark_id", "benchmark_id"))

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    number: Mapped[str]
    benchmark_id: Mapped[int] = mapped_column(ForeignKey("benchmark.id", ondelete="CASCADE"))
    submission_id: Mapped[int | None] = mapped_column(ForeignKey("submission.id", ondelete="CASCADE"), index=True)
    what: Mapped[str]
    place: Mapped[str | None]
    error: Mapped[str]
    at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())


# The web processes that keep pages in memory, and what each of them may not show yet.


class WebProcess(Base):
    """A web process, and when it last read the counters of changes."""

    __tablename__ = "web_process"

    id: Mapped[str] = mapped_column(Text, primary_key=True)
    seen_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())


class Unshown(Base):
    """A published submission that a web process may not show yet: its pages are older than the boards' version."""

    __tablename__ = "unshown"

    submission_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("submission.id"), primary_key=True)
    web_process_id: Mapped[str] = mapped_column(
        ForeignKey("web_process.id", ondelete="CASCADE"), primary_key=True, index=True
    )
    benchmark_id: Mapped[int] = mapped_column(ForeignKey("benchmark.id"))
    boards_version: Mapped[int] = mapped_column(BigInteger)
