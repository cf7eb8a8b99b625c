"""`make bases` on a registry of Debian's: the images that ours stands on get the digests that their tags name."""

import hashlib
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import yaml

from tests.cases.packaging import ROOT
from tests.cases.proxy import free_port, running

pytestmark = pytest.mark.skipif(not all(map(shutil.which, ("skopeo", "docker-registry"))),
                                reason="needs Debian's packages skopeo and docker-registry")  # fmt: skip

CONFIG = "application/vnd.oci.image.config.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[str]:
    """Return where a registry without images listens, host:port/library."""
    place, settings = f"127.0.0.1:{free_port()}", tmp_path / "registry.yml"
    storage = {"filesystem": {"rootdirectory": str(tmp_path / "images")}}
    settings.write_text(yaml.safe_dump({"version": "0.1", "storage": storage, "http": {"addr": place}}))
    with running(["docker-registry", "serve", str(settings)], place, tmp_path):
        yield f"{place}/library"


def push(registry: str, image: str, maker: str) -> str:
    """Give the tag an image without files, and return its digest."""
    place, _, library = registry.partition("/")
    name, _, tag = image.partition(":")
    config = json.dumps(
        {"architecture": "amd64", "os": "linux", "author": maker, "rootfs": {"type": "layers"}}
    ).encode()
    with httpx.Client(base_url=f"http://{place}/v2/{library}/{name}/") as http:
        begun = http.post("blobs/uploads/").headers["location"]
        digest = f"sha256:{hashlib.sha256(config).hexdigest()}"
        about = {"mediaType": CONFIG, "digest": digest, "size": len(config)}
        http.put(begun, params={**httpx.URL(begun).params, "digest": digest}, content=config).raise_for_status()
        manifest = {"schemaVersion": 2, "mediaType": MANIFEST, "config": about, "layers": []}
        sent = http.put(f"manifests/{tag}", json=manifest, headers={"content-type": MANIFEST})
        return str(sent.raise_for_status().headers["docker-content-digest"])


def test_bases_are_pinned_to_what_their_tags_name_now(registry: str, tmp_path: Path) -> None:
    """Also where they were pinned before; a registry without them changes nothing."""
    files = ("Makefile", "Dockerfile", "docker-compose.yml")
    before = {name: Path(shutil.copy(ROOT / name, tmp_path)).read_text() for name in files}
    bases = sorted(set(re.findall(r"(?:FROM|image:) ((?:python|postgres):[^@\s]+)", "".join(before.values()))))
    skopeo = "skopeo inspect --no-tags --tls-verify=false --format {{.Digest}}"
    make = ("make", "--silent", "bases", f"REGISTRY={registry}", f"SKOPEO={skopeo}")

    assert subprocess.run(make, cwd=tmp_path, capture_output=True, check=False).returncode != 0
    assert {name: (tmp_path / name).read_text() for name in files} == before
    for maker in ("today", "in a month"):
        pinned = [f"{base}@{push(registry, base, maker)}" for base in bases]
        assert subprocess.run(make, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split() == pinned
        after = "".join((tmp_path / name).read_text() for name in ("Dockerfile", "docker-compose.yml"))
        assert sorted(set(re.findall(r"(?:FROM|image:) (\S+@\S+)", after))) == pinned
