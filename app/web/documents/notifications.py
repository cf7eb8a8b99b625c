"""The JSON of notifications, for `app.web.notifications`."""

from app.web.documents.base import Document


class NotificationDocument(Document):
    """An address that is notified of submissions, whether it is confirmed, and its latest error."""

    id: int
    address: str
    benchmark: str | None
    events: list[str]
    made_at: str
    confirmed: bool
    last_error: str | None


class MadeNotificationDocument(NotificationDocument):
    """A new subscription, with the secret that signs its notifications; null for an e-mail address."""

    secret: str | None
