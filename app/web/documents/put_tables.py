"""The JSON of labels and items, uploaded beside a manifest, for `app.web.labels` and `app.web.items`."""

from app.web.documents.base import Document
from app.web.documents.submissions import WarningDocument


class LabelledTaskDocument(Document):
    """One task that has labels, and since when."""

    task: str
    n_items: int
    put_at: str


class LabelsDocument(Document):
    """Which tasks of a benchmark have labels; never the labels. `warnings` comes with the PUT alone."""

    benchmark: str
    sha256: str | None
    tasks: list[LabelledTaskDocument]
    warnings: list[WarningDocument] | None = None


class ItemsOfTaskDocument(Document):
    """How many items one task has in the grid; an empty name means every task."""

    task: str
    n_items: int
    put_at: str


class ItemsDocument(Document):
    """The items of a benchmark's grid, counted by task. `warnings` comes with the PUT alone."""

    benchmark: str
    version: int
    sha256: str | None
    tasks: list[ItemsOfTaskDocument]
    warnings: list[WarningDocument] | None = None
