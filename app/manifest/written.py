"""Words that a drafted manifest and its check share."""

TODO = "TODO"
"""Stands where a drafted manifest waits for an answer; no manifest with one is read."""


SCHEMA = "http://127.0.0.1:8000/schemas/manifest.json"
"""Where a server that runs beside an editor serves the schema of manifests."""
SCHEMA_LINE = f"# yaml-language-server: $schema={SCHEMA}\n"
