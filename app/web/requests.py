"""What a request may carry: a body within its limit from who may send one, known parameters, and fields that can be
stored, without implicit conversions.
"""

import shutil
import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated
from urllib.parse import unquote_plus

from fastapi import UploadFile
from fastapi.dependencies.models import Dependant
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints
from starlette.datastructures import UploadFile as Received
from starlette.requests import Request

from app.errors import FieldRejected, Problem, TooLarge, UnsupportedMediaType
from app.files.tables import BEYOND, is_storable
from app.files.uploads import SentFile
from app.names import TEXT_RULE, clip_for_message, has_plain_lines, is_plain_text, nearest
from app.web.forms import FIELDS, FILES, is_form
from app.web.views import refuse_respelled_number

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

TYPED, DROPPED = "yaml", "yaml_file"
"""The fields of a form that sends YAML: the text, and the file in its place."""

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
    if is_form(request) and kind in (FIELDS, FILES):
        sent = await yaml_of(request)
        refuse_longer(sent, max_bytes, what)
        return sent
    if kind not in YAML_TYPES + UNSAID:
        raise UnsupportedMediaType(f"A {what} must be sent as application/yaml, not as {kind[:80]}.")
    body = bytearray()
    async for piece in request.stream():
        body += piece
        refuse_longer(body, max_bytes, what)
    return bytes(body)


def refuse_longer(sent: bytes | bytearray, max_bytes: int, what: str) -> None:
    """Refuse YAML that is longer than it may be. Raises TooLarge."""
    if len(sent) > max_bytes:
        raise TooLarge(f"A {what} may have at most {max_bytes} bytes.")


async def yaml_of(request: Request) -> bytes:
    """Return the YAML of a form: the bytes of the file that was chosen, else what was typed, its lines ended by LF."""
    if not hasattr(request.state, "yaml_sent"):
        fields = await request.form()
        chosen, typed = fields.get(DROPPED), fields.get(TYPED)
        if isinstance(chosen, Received) and chosen.filename:
            request.state.yaml_sent = await chosen.read()
        else:
            request.state.yaml_sent = typed.replace("\r\n", "\n").encode() if isinstance(typed, str) else b""
        await fields.close()
    sent: bytes = request.state.yaml_sent
    return sent


def copy_files(files: Sequence[UploadFile], folder: Path) -> list[SentFile]:
    """Copy uploaded files into a folder under names of our own."""
    uploads = []
    for position, file in enumerate(files):
        path = folder / str(position)
        with path.open("wb") as copy:
            shutil.copyfileobj(file.file, copy, 1 << 20)
        uploads.append(SentFile(file.filename or "", path))
    return uploads


# The parameters of every table, see `app.render.table_page`.
OF_TABLES = frozenset({"sort", "order", "detail", "page", "picture", "column"})
# Other sites append these to shared links.
PASSED_OVER = ("utm_", "fbclid", "gclid", "msclkid", "mc_cid", "mc_eid")
MOST_NAMED = 20


def without_passed_over(query: bytes) -> bytes:
    """Return a query string without the parameters that every address passes over: no page depends on them."""
    if not query:
        return query
    return b"&".join(part for part in query.split(b"&") if not _name(part).startswith(PASSED_OVER))


def _name(part: bytes) -> str:
    return unquote_plus(part.partition(b"=")[0].decode("latin-1"))


def known_parameters(dependant: Dependant) -> frozenset[str]:
    """Return the query parameters that an endpoint and its dependencies read."""
    own = {parameter.alias for parameter in dependant.query_params}
    return frozenset(own.union(*map(known_parameters, dependant.dependencies)))


def refuse_unknown(given: Iterable[str], known: Collection[str], what: str) -> None:
    """Raise FieldRejected naming each of `given` that is not known, with what was meant, and the known ones."""
    unknown = [name for name in dict.fromkeys(given) if name not in known and not name.startswith(PASSED_OVER)]
    if unknown:
        raise FieldRejected(f"The request has an unknown {what}.",
                            list(_problems(unknown[:MOST_NAMED], known, what)), n_problems=len(unknown))  # fmt: skip


def _problems(unknown: Iterable[str], known: Collection[str], what: str) -> Iterator[Problem]:
    listed = f"known are {', '.join(sorted(known))}" if known else "none is known"
    for name in unknown:
        near = nearest(name, known)
        hint = f"; did you mean {near}?" if near else ";"
        yield Problem(f"unknown {what}{hint} {listed}", column=clip_for_message(name))


def refuse_unshown(text: str) -> str:
    """Return a text whose every character is shown in its place. Raises ValueError."""
    if not is_plain_text(text):
        raise ValueError(f"expected {TEXT_RULE}")
    return text


def refuse_unshown_in_lines(text: str) -> str:
    """Return a text of one or more such lines. Raises ValueError."""
    if not has_plain_lines(text):
        raise ValueError(f"expected {TEXT_RULE}")
    return text


def refuse_beyond(number: float) -> float:
    """Return a number that is no larger than any may be. Raises ValueError."""
    if not is_storable(number):
        raise ValueError(BEYOND)
    return number


Line = Annotated[str, Field(strict=True), AfterValidator(refuse_unshown)]
Text = Annotated[str, Field(strict=True), AfterValidator(refuse_unshown_in_lines)]
# JSON has neither NaN nor infinity, but readers of it take both, and 1e999 is one of them.
Finite = Annotated[float, Field(strict=True, allow_inf_nan=False), AfterValidator(refuse_beyond)]
Flag = Annotated[bool, Field(strict=True)]
Number = Annotated[int, Field(ge=1, le=2**31 - 1), BeforeValidator(refuse_respelled_number)]
SubmissionNumber = Annotated[int, Field(ge=1, le=2**63 - 1), BeforeValidator(refuse_respelled_number)]
"""Numbers that the database can have, in addresses and bodies; of submissions it can have more."""
Reason = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000), AfterValidator(refuse_unshown)
]
"""Why somebody did something, for everyone to read: never blank, and shown as it is stored."""


class Body(BaseModel):
    """Base of every JSON body: a field that it does not know is refused by name, not passed over."""

    model_config = ConfigDict(extra="forbid")
