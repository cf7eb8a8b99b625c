"""The JSON of a server's health, for `app.web.ops`."""

from app.web.documents.base import Document


class HealthDocument(Document):
    """The process answers."""

    status: str
    version: str


class ReadyDocument(Document):
    """The database answers too."""

    status: str
    code_version: str
    warnings: list[str]
