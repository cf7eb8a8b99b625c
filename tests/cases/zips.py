"""A given archive with another text in some of its members."""

import io
import zipfile
from collections.abc import Collection, Mapping
from pathlib import Path


def replaced(archive: Path, changes: Mapping[str, tuple[str, str] | None], *, without: Collection[str] = ()) -> bytes:
    """Return an archive in which (old, new) is replaced throughout the named members; None leaves one as it is."""
    out = io.BytesIO()
    with zipfile.ZipFile(archive) as given, zipfile.ZipFile(out, "w") as created:
        for name in (name for name in given.namelist() if name not in without):
            text, change = given.read(name), changes.get(name)
            if change is not None:
                assert change[0].encode() in text
                text = text.replace(change[0].encode(), change[1].encode())
            created.writestr(name, text)
    return out.getvalue()
