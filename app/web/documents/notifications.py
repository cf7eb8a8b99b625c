"""The JSON of notifications, for `app.web.notifications`."""

from app.web.documents.base import Document


class NotificationDocument(Document):
    """An address that is notified of submissions, whether it is confirmed, and what went wrong last."""

    id: int
    address: str
    benchmark: str | None
    events: list[str]
    made_at: str
    confirmed: bool
    last_error: str | None


class MadeNotificationDocument(NotificationDocument):
    """A new one; the secret that signs what it is sent is in this answer alone, and null for an address of mail."""

    secret: str | None
