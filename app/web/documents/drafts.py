"""The JSON of draft boards, for `app.web.draft_boards`."""

from app.web.documents.base import Document


class DraftDocument(Document):
    """A board that is in no manifest yet: who saved it last, and the address that computes it."""

    name: str
    title: str | None
    method: str
    put_by: str
    put_at: str
    url: str


class RemovedDraftDocument(Document):
    """A draft board that was removed."""

    name: str
    removed: bool


class PublishedDraftDocument(Document):
    """A draft board that was published, and the version of the manifest that contains it."""

    slug: str
    version: int
    board: str
    url: str
