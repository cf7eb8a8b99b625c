"""The folders that come with the program: migrations, templates, static files, examples and docs.

In the repository they lie beside `app`; the wheel brings them inside it (pyproject.toml), because the root of an
environment belongs to every package.

Why: docs/adr/047-dependencies-and-packaging.md.
"""

from pathlib import Path

APP = Path(__file__).resolve().parents[1]


def bundled(name: str) -> Path:
    """Return one of these folders, from the wheel or from the repository."""
    inside = APP / name
    return inside if inside.is_dir() else APP.parent / name
