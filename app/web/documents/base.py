"""What every described answer has in common; for the other modules of this package and `app.web.put_tables`."""

from pydantic import BaseModel, ConfigDict


class Document(BaseModel):
    """Base of every described answer: it has these fields and no others."""

    model_config = ConfigDict(extra="forbid")
