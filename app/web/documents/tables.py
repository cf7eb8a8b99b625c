"""The JSON of tables, for the addresses that answer one."""

from typing import Any

from pydantic import ConfigDict

from app.web.documents.base import Document


class ColumnDocument(Document):
    """One column of a table: its CSV name, title, kind, unit, better direction, interval columns."""

    name: str
    title: str
    kind: str
    unit: str | None
    direction: str | None
    interval: list[str] | None
    detail: bool
    optional: bool
    glossary: str | None
    digits: int | None


class PlainTableDocument(Document):
    """A table with its rows as objects by column name."""

    name: str
    title: str
    notes: list[str]
    meta: dict[str, Any]
    columns: list[ColumnDocument]
    rows: list[dict[str, str | int | float | bool | None]]


class AuditDocument(PlainTableDocument):
    """One page of the record of who did what; `older` leads to the next one, null on the last."""

    older: str | None


class SealDocument(Document):
    """A batch of the audit record under one digest, which covers the other fields and so every seal before."""

    number: int
    at: str
    events: str
    previous: str | None
    digest: str


class SealsDocument(Document):
    """Seals of the audit record, the newest first."""

    seals: list[SealDocument]


class SubmissionTableDocument(PlainTableDocument):
    """One of a submission's own tables."""

    submission: int


class CroissantDocument(Document):
    """A benchmark's boards as Croissant metadata (JSON-LD); only its own keys are described."""

    model_config = ConfigDict(extra="allow")

    name: str
    url: str
    version: str


class TableDocument(PlainTableDocument):
    """A published table, and the snapshot it belongs to."""

    benchmark: str
    snapshot: int | None
    published_at: str | None = None
    manifest_version: int | None = None
    manifest_digest: str | None = None
    input_digest: str | None = None
    code_version: str | None = None
