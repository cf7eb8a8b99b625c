"""Constants shared by manifest drafts and their check."""

TODO = "TODO"
"""Marks a missing answer in a draft; a manifest that contains it is refused."""


SCHEMA = "http://127.0.0.1:8000/schemas/manifest.json"
"""Where a server that runs beside an editor serves the schema of manifests."""
SCHEMA_LINE = f"# yaml-language-server: $schema={SCHEMA}\n"
