"""Folders as files to send: each becomes a zip of its files, the same bytes whenever the files are the same."""

import shutil
import stat
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from plumbline.errors import FieldRejected, Problem

# What a server takes by itself, see max_files in app/config.py, which the client does not have.
MAX_FILES = 1000
# The oldest time that a zip can hold: when files were written does not make them other files.
_NO_TIME = (1980, 1, 1, 0, 0, 0)


@contextmanager
def zipped_folders(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """Yield the files as they are, and for each folder a zip that lasts as long as this context.

    Raises FieldRejected for a folder that holds links, no files, or more than one submission may.
    """
    with tempfile.TemporaryDirectory(prefix="plumbline-folders-") as place:
        yield [
            _zip(path, Path(place) / str(at) / f"{path.resolve().name}.zip") if path.is_dir() else path
            for at, path in enumerate(paths)
        ]


def _zip(folder: Path, target: Path) -> Path:
    members = _members(folder)
    target.parent.mkdir()
    try:
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, allowZip64=False) as archive:
            for member in members:
                about = zipfile.ZipInfo(member.relative_to(folder).as_posix(), _NO_TIME)
                about.compress_type = zipfile.ZIP_DEFLATED
                with member.open("rb") as content, archive.open(about, "w") as packed:
                    shutil.copyfileobj(content, packed)
    except zipfile.LargeZipFile:
        raise _refusal(folder, "it is too large for one zip; send its files in parts") from None
    return target


def _members(folder: Path) -> list[Path]:
    """Return the files of a folder in the order of their names; hidden ones are nobody's results."""
    paths = [path for path in sorted(folder.rglob("*")) if not _is_hidden(path.relative_to(folder))]
    links = [str(path.relative_to(folder)) for path in paths if path.is_symlink()]
    if links:
        raise _refusal(folder, f"links are not followed: {', '.join(links[:10])}")
    members = [path for path in paths if stat.S_ISREG(path.stat().st_mode)]
    limit = MAX_FILES
    if not members or len(members) > limit:
        raise _refusal(folder, f"it contains {len(members)} files; 1 to {limit} can be sent")
    return members


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _refusal(folder: Path, why: str) -> FieldRejected:
    return FieldRejected("The folder cannot be sent.", [Problem(why, file=str(folder))])
