"""The files of `static/` at addresses that change with their content, so that they may be kept for ever.

`asset_url` and `scripts` are used by the templates, `assets` by the web. Files of others and their licences are listed
in `static/vendored.json`.
"""

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from app.program.bundled import bundled

STATIC = bundled("static")
MEDIA_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
SCRIPTS = ("htmx.min.js", "plumbline.js")

ICON = (
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">'
    b'<path d="M12 1v10" stroke="#59626c" stroke-width="2"/>'
    b'<path d="M7 10h10v4l-5 9-5-9z" fill="#0a4f8f"/></svg>'
)


@cache
def asset_url(name: str) -> str:
    """Return the address of a file: its name with the digest of its bytes in it. Raises KeyError."""
    return _urls()[name]


@cache
def scripts() -> tuple[tuple[str, str], ...]:
    """Return the scripts of a page in their order: the address and the integrity digest of each."""
    return tuple((asset_url(name), _integrity(name)) for name in SCRIPTS)


def _integrity(name: str) -> str:
    return "sha384-" + base64.b64encode(hashlib.sha384(_read(name)).digest()).decode()


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
