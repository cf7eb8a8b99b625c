"""The JSON of benchmarks and their snapshots, for `app.web.benchmarks`."""

from typing import Any

from pydantic import Field

from app.web.documents.base import Document


class MadeDocument(Document):
    """A benchmark with the version of its manifest that was stored, or that a dry run would store."""

    slug: str
    version: int
    url: str
    dry_run: bool = False
    is_new: bool = True


class RetiredDocument(Document):
    """Since when a benchmark takes no more submissions, and why."""

    at: str
    reason: str


class BenchmarkDocument(Document):
    """A benchmark as its newest manifest declares it, and its stewards; `stale`: a publication is under way.

    `publish_error` says why the latest one failed, `publish_tries` how often it did since the last that did not.
    """

    slug: str
    version: int
    sha256: str
    snapshot: int | None
    stale: bool
    stewards: list[str]
    publish_error: str | None
    publish_tries: int
    manifest: dict[str, Any]
    retired: RetiredDocument | None = None


class ListedBenchmark(Document):
    """One benchmark of the list; `retired` is present if it takes no more submissions."""

    slug: str
    title: str
    n_entrants: int
    n_submissions: int
    snapshot: int | None
    published_at: str | None
    leaderboards: list[str]
    retired: RetiredDocument | None = None


class SnapshotDocument(Document):
    """One published state, what it was computed from, and what changed since the snapshot `before`.

    `current` is the one that the boards show. `before` is null in the first one, and in those of older releases.
    """

    number: int
    current: bool
    before: int | None
    published_at: str
    manifest_version: int
    input_digest: str
    manifest_digest: str
    code_version: str
    rng_seeds: dict[str, int]
    changes: list[dict[str, Any]]
    withdrawals: list[dict[str, Any]]


class ChangesDocument(Document):
    """What differs between two snapshots of a benchmark."""

    benchmark: str
    from_: int = Field(alias="from")
    to: int
    changes: list[dict[str, Any]]


class LifeDocument(Document):
    """How a benchmark is called now, and whether it is retired."""

    slug: str
    title: str
    description: str
    retired: RetiredDocument | None


class ContentsDocument(Document):
    """What a benchmark contains, as its readers see it: counts and entrants, never labels."""

    manifest_versions: int
    snapshots: int
    submissions: int
    registrations: int
    entrants: list[str]


class VisibilityDocument(Document):
    """Who may read a benchmark: draft (its stewards and reviewers), private (who has a role in it) or public."""

    benchmark: str
    visibility: str
    contents: ContentsDocument


class DeletedDocument(Document):
    """A draft that was deleted."""

    benchmark: str
    deleted: bool
