"""Reading a request's body within a limit: as YAML bytes, or as uploaded files copied to disk; free text in it."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from fastapi import UploadFile
from pydantic import AfterValidator, StringConstraints
from starlette.requests import Request

from app.errors import TooLarge, UnsupportedMediaType
from app.evidence.uploads import Upload
from app.names import TEXT_RULE, is_plain_text

YAML_TYPES = (
    "application/yaml",
    "application/x-yaml",
    "text/yaml",
    "text/x-yaml",
    "text/plain",
    "application/octet-stream",
)
# What curl sends when nobody says what the body is.
UNSAID = ("", "application/x-www-form-urlencoded")


def _plain(text: str) -> str:
    if not is_plain_text(text):
        raise ValueError(f"expected {TEXT_RULE}")
    return text


Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000), AfterValidator(_plain)]
"""Why somebody did something, for everyone to read: never blank, and shown as it is stored."""


async def yaml_body(request: Request, max_bytes: int, what: str) -> bytes:
    """Return the body. Raises UnsupportedMediaType, or TooLarge as soon as the limit is passed."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in YAML_TYPES + UNSAID:
        raise UnsupportedMediaType(f"A {what} is sent as application/yaml, not as {kind[:80]}.")
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > max_bytes:
            raise TooLarge(f"A {what} has at most {max_bytes} bytes.")
    return bytes(body)


def spool(files: Sequence[UploadFile], folder: Path) -> list[Upload]:
    """Copy uploaded files into a folder under names of our own."""
    uploads = []
    for position, file in enumerate(files):
        path = folder / str(position)
        with path.open("wb") as copy:
            shutil.copyfileobj(file.file, copy, 1 << 20)
        uploads.append(Upload(file.filename or "", path))
    return uploads
