"""`backup.json`: what a copy contains, and the digests that prove it complete.

Written last, so that a copy that was cut short has none. Called by the other modules beside it and by
`app.cli.backups`.
"""

import hashlib
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from app.db.backup.programs import BackupError

NAME = "backup.json"
BLOCK = 1 << 20
FILES = {"database.dump"}
"""Files that a restore reads: all must be listed, since an unlisted one would not be verified."""


class FileNote(BaseModel):
    """One file of a copy."""

    model_config = ConfigDict(frozen=True)

    n_bytes: int
    sha256: str


class Note(BaseModel):
    """A copy of a database: a `dump` of its rows.

    `schema_revision` is what the database had, `programs` the major version of Postgres that can read the copy,
    `made_at` the instant that it shows. `rows` counts those of each table at that instant.
    """

    model_config = ConfigDict(frozen=True)

    product: Literal["plumbline"] = "plumbline"
    layout: Literal[1] = 1
    kind: Literal["dump"]
    schema_revision: str
    release: str
    made_at: datetime
    programs: int
    files: Mapping[str, FileNote]
    rows: Mapping[str, int]


def note_files(folder: Path) -> dict[str, FileNote]:
    """Return the sizes and digests of the files in a folder."""
    return {path.name: _note(path) for path in sorted(folder.iterdir()) if path.name != NAME}


def _note(path: Path) -> FileNote:
    digest = hashlib.sha256()
    with path.open("rb") as opened:
        while block := opened.read(BLOCK):
            digest.update(block)
    return FileNote(n_bytes=path.stat().st_size, sha256=digest.hexdigest())


def write_note(folder: Path, note: Note) -> None:
    """Write the note of a copy, which makes it one."""
    (folder / NAME).write_text(note.model_dump_json(indent=2) + "\n", "utf-8")


def read_note(folder: Path) -> Note:
    """Return the note of a copy.

    Raises BackupError for anything that plumbline did not create.
    """
    try:
        text = (folder / NAME).read_text("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        raise BackupError(
            f"{folder} is not a backup of plumbline: it has no {NAME}, which plumbline db backup writes last."
        ) from None
    except UnicodeDecodeError:
        raise BackupError(f"{folder / NAME} is not the note of a backup of plumbline: it is no text.") from None
    try:
        return Note.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "as a whole"
        raise BackupError(
            f"{folder / NAME} is not the note of a backup that this plumbline knows: {where}: {first['msg']}."
        ) from None


def verify(folder: Path) -> Note:
    """Return the note of a copy whose files are as they were written. Raises BackupError naming all that are not."""
    note = read_note(folder)
    if set(note.files) != FILES:
        raise BackupError(
            f"{folder / NAME} is not the note of a backup that this plumbline knows: it lists "
            f"{', '.join(sorted(note.files)) or 'no file'}, and a {note.kind} is {', '.join(sorted(FILES))}."
        )
    wrong = [name for name, expected in note.files.items() if not _is_whole(folder / name, expected)]
    if wrong:
        raise BackupError(
            f"The backup in {folder} is not whole: {', '.join(wrong)} is missing, cut short or changed since it was "
            "made. Take another copy of it, or another backup."
        )
    return note


def _is_whole(path: Path, expected: FileNote) -> bool:
    return path.is_file() and path.stat().st_size == expected.n_bytes and _note(path) == expected
