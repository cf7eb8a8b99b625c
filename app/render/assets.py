"""The files of `static/` at addresses that change with their content, so that they may be kept for ever.

`asset_url` is used by the templates, `assets` by the web.
"""

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from app.program.bundled import bundled

STATIC = bundled("static")
MEDIA_TYPES = {".css": "text/css; charset=utf-8"}


@cache
def asset_url(name: str) -> str:
    """Return the address of a file: its name with the digest of its bytes in it. Raises KeyError."""
    return _urls()[name]


@cache
def assets() -> Mapping[str, tuple[bytes, str]]:
    """Return every file by its address: bytes and media type."""
    return {url: (_read(name), MEDIA_TYPES[Path(name).suffix]) for name, url in _urls().items()}


@cache
def _urls() -> Mapping[str, str]:
    return {path.name: _url(path) for path in sorted(STATIC.iterdir()) if path.suffix in MEDIA_TYPES}


def _url(path: Path) -> str:
    digest = hashlib.sha256(_read(path.name)).hexdigest()[:12]
    return f"/static/{path.stem}.{digest}{path.suffix}"


@cache
def _read(name: str) -> bytes:
    return (STATIC / name).read_bytes()
