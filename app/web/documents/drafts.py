"""The JSON of draft boards, for `app.web.draft_boards`."""

from app.web.documents.base import Document


class DraftDocument(Document):
    """A board that is in no manifest yet: who put it there last, and where it is computed."""

    name: str
    title: str | None
    method: str
    put_by: str
    put_at: str
    url: str


class RemovedDraftDocument(Document):
    """A draft that is gone."""

    name: str
    removed: bool


class PublishedDraftDocument(Document):
    """What became visible: the board of this name, in this version of the manifest."""

    slug: str
    version: int
    board: str
    url: str
