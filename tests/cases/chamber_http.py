"""Registering and sending episodes over HTTP."""

from typing import Any

from app.kinds.parse import parse_manifest
from app.prereg.prereg import sha256_hex
from tests.fixtures import Site

YAML = {"Content-Type": "application/yaml"}


def register(site: Site, manifest: bytes, *preregs: bytes) -> None:
    """Make the benchmark and register what will be cited."""
    assert site.http.post("/benchmarks", content=manifest, headers=site.auth("steward") | YAML).status_code == 201
    for prereg in preregs:
        address = f"/preregs?benchmark={parse_manifest(manifest).slug}"
        assert site.http.post(address, content=prereg, headers=site.auth() | YAML).status_code in (200, 201)


def send(site: Site, slug: str, files: dict[str, bytes], prereg: bytes, entrant: str | None = None, *,
         who: str = "alice") -> dict[str, Any]:  # fmt: skip
    """Submit files and return where they ended."""
    form = {"prereg_sha256": sha256_hex(prereg)} | ({} if entrant is None else {"entrant": entrant})
    answer = site.http.post(
        f"/benchmarks/{slug}/submissions",
        files=[("files", (name, content)) for name, content in files.items()],
        data=form,
        headers=site.auth(who),
    )
    assert answer.status_code == 202, answer.text
    site.work()
    ended: dict[str, Any] = site.http.get(f"/submissions/{answer.json()['id']}.json").json()
    return ended
