"""Reading a manifest with what every ranking method and every kind of evidence knows of it, and its JSON Schema.

Called by `app.store.benchmarks`, the web and the command line.
"""

from functools import cache
from typing import Annotated, Any

from pydantic import Field, create_model

from app.boards.registry import methods
from app.errors import ManifestRejected, Problem
from app.manifest.manifest import Manifest, build_manifest
from app.yaml.strict import read_yaml

MAX_MANIFEST_BYTES = 1024 * 1024


@cache
def parse_manifest(yaml_bytes: bytes) -> Manifest:
    """Read a manifest. Raises Rejected with every problem of its YAML, or ManifestRejected of its meaning."""
    document = read_yaml(yaml_bytes, max_bytes=MAX_MANIFEST_BYTES, what="manifest")
    manifest = build_manifest(document, {name: method.spec for name, method in methods().items()})
    problems = [
        Problem(complaint, column=f"leaderboards.{board.name}.metric")
        for board in manifest.leaderboards
        for metric in board.metric_names()
        if (complaint := board.check_metric(manifest.metrics[metric])) is not None
    ]
    if problems:
        raise ManifestRejected("The manifest breaks the rules below.", problems)
    return manifest


def manifest_json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a manifest, with the boards of every known method."""
    specs = [method.spec for method in methods().values()]
    union: Any = specs[0]
    for spec in specs[1:]:
        union = union | spec
    boards: Any = list[Annotated[union, Field(discriminator="method")]]
    return create_model("Manifest", __base__=Manifest, leaderboards=(boards, ...)).model_json_schema()
