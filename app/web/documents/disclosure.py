"""The JSON of who is counted as whom, for `app.web.disclosure`."""

from app.web.documents.base import Document


class OwnerLinkDocument(Document):
    """A token, and the token as whose its submissions are counted: itself if it is its own owner."""

    benchmark: str
    token: int
    counted_as: int
