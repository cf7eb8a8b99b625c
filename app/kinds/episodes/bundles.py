"""Result bundles: a folder with bundle.json, episodes by seed, and hashes of its files.

Called by `app.kinds.episodes.read`. Source of the layout: CHAMBER's bundle schema, version 3.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from app.admission.identity import COMMIT, PARTNER, PARTNER_SET, PARTNERS_FILE, POLICY, TASK_VERSION
from app.errors import Problem
from app.files.documents import read_document
from app.files.findings import Findings
from app.files.uploads import ReceivedFile, hash_file
from app.kinds.episodes.cells import Source
from app.kinds.episodes.safety_tables import is_safety_table
from app.kinds.episodes.stated_values import (
    MAX_KEY,
    problems_of_numbers,
    problems_of_seeds,
    stated,
    stated_integer,
    stated_integers,
    stated_numbers,
    stated_text,
)
from app.names import clip_for_message
from app.prereg.prereg import git_blob_sha1, sha256_hex
from app.values.facts import BundleFacts

DESCRIPTION, SUMS, PREREG, PARTNERS = "bundle.json", "SHA256SUMS.txt", "prereg.yaml", "partners.json"
MAX_STATED = 50
KNOWN_VERSIONS = (3,)
EPISODES = re.compile(r"episodes_seed(-?\d{1,18})\.jsonl")
MAX_SUMS_BYTES = 1 << 20
BOOLEAN = frozenset({"success"})
"""The boolean columns of CHAMBER's episodes, whatever a benchmark declares."""
_SUM = re.compile(r"([0-9a-f]{64})[ \t][ *]?(.+)")


@dataclass(frozen=True)
class Bundle:
    """One bundle: its folder as the upload names it, its files by their name inside, and its description."""

    folder: str
    files: Mapping[str, ReceivedFile]
    description: Mapping[str, Any]


def split_bundles(files: Sequence[ReceivedFile]) -> tuple[dict[str, dict[str, ReceivedFile]], list[ReceivedFile]]:
    """Return the folders that hold a bundle.json with their files, and the files that are in none of them."""
    homes = {_folder(file.name) for file in files if PurePosixPath(file.name).name == DESCRIPTION}
    folders: dict[str, dict[str, ReceivedFile]] = {home: {} for home in sorted(homes)}
    others = []
    # A bundle inside another's folder keeps its own files: the longest folder is the nearest.
    nearest_first = sorted(homes, key=len, reverse=True)
    for file in files:
        home = next((home for home in nearest_first if _is_inside(file.name, home)), None)
        if home is None:
            others.append(file)
        else:
            folders[home][file.name.removeprefix(f"{home}/") if home else file.name] = file
    return folders, others


def _folder(name: str) -> str:
    folder = str(PurePosixPath(name).parent)
    return "" if folder == "." else folder


def _is_inside(name: str, home: str) -> bool:
    # Separate files have no folder: then everything that was sent is one bundle, archives aside.
    return name.startswith(f"{home}/") if home else "/" not in name


def open_bundle(folder: str, files: Mapping[str, ReceivedFile], findings: Findings) -> Bundle | None:
    """Read a bundle's description and check every hash; None when the description itself cannot be read."""
    described = files[DESCRIPTION]
    document = read_document(described, findings)
    if document is None:
        return None
    bundle = Bundle(folder, files, document)
    findings.extend(_problems(bundle))
    return bundle


def _problems(bundle: Bundle) -> Iterator[Problem]:
    name = bundle.files[DESCRIPTION].name
    version = bundle.description.get("schema_version")
    if version not in KNOWN_VERSIONS or isinstance(version, bool):
        known = ", ".join(map(str, KNOWN_VERSIONS))
        yield Problem(f"unknown schema_version; known is {known}", name, column="schema_version", value=_shown(version))
    yield from _wrong_hashes(bundle, _declared_hashes(bundle), name, "manifest")
    yield from _sums_problems(bundle)
    yield from _unlisted_episodes(bundle)
    yield from problems_of_seeds(_schedule(bundle).get("seeds"), name, "seed_schedule.seeds")
    yield from problems_of_numbers(bundle.description.get("summary"), name, "summary")
    dirty = bundle.description.get("dirty")
    if dirty is not None and not isinstance(dirty, bool):
        yield Problem("expected true or false, or no such key", name, column="dirty", value=_shown(dirty))


def _unlisted_episodes(bundle: Bundle) -> Iterator[Problem]:
    declared = _declared_hashes(bundle)
    for inner, file in bundle.files.items():
        if file.suffix != ".jsonl" or is_safety_table(file):
            continue
        if EPISODES.fullmatch(inner) is None:
            yield Problem("the episodes of a bundle must be in episodes_seed<N>.jsonl beside bundle.json", file.name)
        elif inner not in declared:
            yield Problem("bundle.json does not list this file, so nothing vouches for it", file.name)


def _schedule(bundle: Bundle) -> Mapping[str, Any]:
    schedule = bundle.description.get("seed_schedule")
    return schedule if isinstance(schedule, Mapping) else {}


def _declared_hashes(bundle: Bundle) -> dict[str, str]:
    manifest = bundle.description.get("manifest")
    if not isinstance(manifest, Mapping):
        return {}
    return {str(name): str(digest) for name, digest in manifest.items()}


def _sums_problems(bundle: Bundle) -> Iterator[Problem]:
    file = bundle.files.get(SUMS)
    if file is None:
        yield Problem(f"the bundle has no {SUMS}", bundle.files[DESCRIPTION].name)
        return
    if file.path.stat().st_size > MAX_SUMS_BYTES:
        yield Problem("the file is larger than a list of hashes can be", file.name)
        return
    sums = {}
    for row, line in enumerate(file.path.read_text("utf-8", errors="replace").splitlines(), start=1):
        match = _SUM.fullmatch(line.strip())
        if match is not None:
            sums[match[2].removeprefix("./")] = match[1]
        elif line.strip():
            yield Problem("expected a SHA-256 and a file's name", file.name, row, value=clip_for_message(line))
    yield from _wrong_hashes(bundle, sums, file.name, None)


def _wrong_hashes(bundle: Bundle, declared: Mapping[str, str], listed_in: str, column: str | None) -> Iterator[Problem]:
    if not declared:
        yield Problem("the list of the bundle's files and hashes is missing or empty", listed_in, column=column)
    for name, digest in declared.items():
        file = bundle.files.get(name)
        if file is None:
            yield Problem(f"the listed file {clip_for_message(name)} was not sent", listed_in, column=column)
        elif (computed := hash_file(file.path)[0]) != digest:
            message = f"the SHA-256 of this file is {computed}; {PurePosixPath(listed_in).name} says another"
            yield Problem(message, file.name, column=column, value=clip_for_message(digest))


def sources_of(bundle: Bundle, entrant: str | None, findings: Findings) -> list[tuple[Source, ReceivedFile]]:
    """Return the bundle's files of episodes, each with what its episodes have in common."""
    described = bundle.files[DESCRIPTION].name
    policy, task = bundle.description.get("policy_id"), bundle.description.get("task_id")
    sources = []
    for name, file in bundle.files.items():
        if (promised := EPISODES.fullmatch(name)) is not None:
            source = Source(
                file.name,
                file.position,
                entrant or (policy if isinstance(policy, str) else None),
                task if isinstance(task, str) else None,
                seed=int(promised[1]),
                boolean=BOOLEAN,
            )
            sources.append((source, file))
    if not sources:
        findings.add(Problem("the bundle holds no episodes (episodes_seed<N>.jsonl)", described))
    return sorted(sources, key=lambda pair: pair[0].position)


def facts_of(bundle: Bundle, entrant: str | None) -> BundleFacts:
    """Return a bundle's statements about itself; those missing, or of the wrong type, are None."""
    about = bundle.description
    schedule = _schedule(bundle)
    prereg = _prereg_bytes(bundle)
    return BundleFacts(
        name=bundle.folder or DESCRIPTION,
        entrant=entrant or stated_text(about.get("policy_id")),
        task=stated_text(about.get("task_id")),
        schema_version=stated_integer(about.get("schema_version")),
        dirty=about["dirty"] if isinstance(about.get("dirty"), bool) else None,
        run_purpose=stated_text(about.get("run_purpose")),
        bootstrap_method=stated_text(about.get("bootstrap_method")),
        code_commit=stated_text(about.get("git_sha")),
        git_tag=stated_text(about.get("prereg_git_tag")),
        prereg_sha256=None if prereg is None else sha256_hex(prereg),
        prereg_blob_sha1=None if prereg is None else git_blob_sha1(prereg),
        cited_blob_sha1=stated_text(about.get("prereg_blob_sha")),
        seeds=stated_integers(schedule.get("seeds")),
        episodes_per_seed=stated_integer(schedule.get("episodes_per_seed")),
        summary=stated_numbers(about.get("summary")),
        files=tuple(sorted(file.position for file in bundle.files.values())),
        identity=dict(_identity(bundle)),
        brings_prereg=True,
    )


def _identity(bundle: Bundle) -> Iterator[tuple[str, str]]:
    """Yield what a bundle states of what was run, under the words of `app.admission.identity` where it has them."""
    about = bundle.description
    named = (
        (COMMIT, "git_sha"), (POLICY, "policy_id"), (TASK_VERSION, "task_version"), (PARTNER_SET, "partner_set_id"),
        ("package", "package_version"), ("command", "repro_command"), ("task", "task_id"),
        ("uncommitted changes", "dirty"), ("registration tag", "prereg_git_tag"),
        ("registration blob", "prereg_blob_sha"), ("layout version", "schema_version"),
    )  # fmt: skip
    yield from ((word, shown) for word, key in named if (shown := stated(about.get(key))) is not None)
    schedule = _schedule(bundle)
    planned = (("root seed", "root_seed"), ("seeds", "seeds"), ("episodes in each seed", "episodes_per_seed"))
    yield from ((word, shown) for word, key in planned if (shown := stated(schedule.get(key))) is not None)
    yield from _stated_of(PARTNER, about.get("partner_hashes"))
    yield from _stated_of("platform ", about.get("platform"))
    if (partners := bundle.files.get(PARTNERS)) is not None:
        yield PARTNERS_FILE, f"SHA-256 {hash_file(partners.path)[0]}"


def _stated_of(prefix: str, value: Any) -> Iterator[tuple[str, str]]:
    inner = list(value.items())[:MAX_STATED] if isinstance(value, Mapping) else []
    for key, each in inner:
        if (shown := stated(each)) is not None:
            yield f"{prefix}{clip_for_message(str(key), MAX_KEY)}", shown


def _prereg_bytes(bundle: Bundle) -> bytes | None:
    file = bundle.files.get(PREREG)
    return None if file is None or file.path.stat().st_size > MAX_SUMS_BYTES else file.path.read_bytes()


def _shown(value: Any) -> str | None:
    return None if value is None else clip_for_message(json.dumps(value, default=str))
