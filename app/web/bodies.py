"""Reading a request's body within a limit, and who may send one here."""

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from fastapi import UploadFile
from starlette.requests import Request

from app.errors import TooLarge, UnsupportedMediaType
from app.files.uploads import SentFile

YAML_TYPES = (
    "application/yaml",
    "application/x-yaml",
    "text/yaml",
    "text/x-yaml",
    "text/plain",
    "application/octet-stream",
)

# The media type that curl sends by default.
UNSAID = ("", "application/x-www-form-urlencoded")

YAML_REQUEST = {
    "requestBody": {"required": True, "content": {YAML_TYPES[0]: {"schema": {"type": "string"}}}},
}

# Text fields are kept in memory, each up to 1 MiB; files go to disk and have their own limits.
MAX_FIELDS = 16


async def gone(request: Request) -> None:
    """Return when the client has gone; its body must have been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


@contextmanager
def received_files() -> Iterator[Path]:
    """Yield a folder for the files of one request."""
    with tempfile.TemporaryDirectory(prefix="received-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


async def yaml_body(request: Request, max_bytes: int, what: str) -> bytes:
    """Return the body. Raises UnsupportedMediaType, or TooLarge as soon as the limit is passed."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in YAML_TYPES + UNSAID:
        raise UnsupportedMediaType(f"A {what} must be sent as application/yaml, not as {kind[:80]}.")
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > max_bytes:
            raise TooLarge(f"A {what} may have at most {max_bytes} bytes.")
    return bytes(body)


def spool(files: Sequence[UploadFile], folder: Path) -> list[SentFile]:
    """Copy uploaded files into a folder under names of our own."""
    uploads = []
    for position, file in enumerate(files):
        path = folder / str(position)
        with path.open("wb") as copy:
            shutil.copyfileobj(file.file, copy, 1 << 20)
        uploads.append(SentFile(file.filename or "", path))
    return uploads
