"""What the tests of episodes share: small benchmarks, episodes made on the spot, and bundles of them."""

import hashlib
import io
import json
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from app.kinds.parse import parse_manifest
from app.manifest.model import Manifest
from app.prereg.prereg import git_blob_sha1

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
MANIFEST = b"""
schema_version: 1
slug: arm
title: Arm
evidence: episodes
episodes: {condition: metadata.member}
tasks: [{id: place}]
metrics:
  success: {direction: maximize, min: 0, max: 1}
  violation: {direction: minimize, from: constraint_violation_peak, above: 0}
admission: {prereg: required, prereg_forms: [document], min_seeds: 5}
leaderboards:
  - {name: success, method: estimate, metrics: [success, violation], statistic: mean,
     uncertainty: {n_resamples: 400, rng_seed: 1}}
"""
PREREG = b"""schema_version: 1
task_id: place
git_tag: prereg-1
seeds: [0, 1, 2, 3, 4]
parameters:
  evaluation: {episodes_per_seed: 4}
  partner_grid: {eval_members: [left, right]}
decision_rules: report success
"""


def manifest() -> Manifest:
    """Return the small benchmark."""
    return parse_manifest(MANIFEST)


def episode(seed: int, number: int, member: str = "left", **changed: Any) -> dict[str, Any]:
    """Return one episode; it succeeds every other time."""
    cells: dict[str, Any] = {
        "seed": seed,
        "episode_idx": number,
        "initial_state_seed": 100 * seed + number,
        "success": (seed + number) % 2 == 0,
        "constraint_violation_peak": 0.0,
        "metadata": {"member": member},
    }
    return cells | changed


def episodes(
    seeds: Iterable[int] = range(5), members: Iterable[str] = ("left", "right"), n: int = 4
) -> list[dict[str, Any]]:
    """Return n episodes for each seed and member, numbered through within a seed."""
    places = [(seed, at, member) for seed in seeds for at, member in enumerate(list(members))]
    return [episode(seed, at * n + number, member) for seed, at, member in places for number in range(n)]


def lines(records: Iterable[Mapping[str, Any]]) -> bytes:
    """Return JSON Lines."""
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def bundle(
    records: Iterable[Mapping[str, Any]] | None = None, prereg: bytes = PREREG, **described: Any
) -> dict[str, bytes]:
    """Return the files of a bundle whose hashes are right; `described` overrides its description."""
    by_seed: dict[int, list[Mapping[str, Any]]] = {}
    for record in episodes() if records is None else records:
        by_seed.setdefault(record["seed"], []).append(record)
    files = {f"episodes_seed{seed}.jsonl": lines(rows) for seed, rows in by_seed.items()} | {"prereg.yaml": prereg}
    description = {
        "schema_version": 3,
        "task_id": "place",
        "policy_id": "mover",
        "git_sha": "0" * 40,
        "dirty": False,
        "seed_schedule": {"root_seed": 0, "seeds": sorted(by_seed), "episodes_per_seed": 8},
        "manifest": {name: hashlib.sha256(content).hexdigest() for name, content in files.items()},
        "prereg_git_tag": "prereg-1",
        "prereg_blob_sha": git_blob_sha1(prereg),
    }
    files["bundle.json"] = json.dumps(description | described).encode()
    return with_sums(files)


def with_sums(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files with a SHA256SUMS.txt that agrees with them."""
    others = {name: content for name, content in files.items() if name != "SHA256SUMS.txt"}
    sums = "".join(f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in others.items())
    return {**others, "SHA256SUMS.txt": sums.encode()}


def zipped(files: Mapping[str, bytes], folder: str = "run") -> bytes:
    """Return the files as a zip with one folder."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in files.items():
            archive.writestr(f"{folder}/{name}", content)
    return packed.getvalue()
