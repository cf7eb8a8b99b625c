"""Result bundles: a folder with bundle.json, episodes by seed, and hashes of its files. Source of the layout:
CHAMBER's bundle schema, version 3.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from app.admission.case import COMMIT, PARTNER, PARTNER_SET, PARTNERS_FILE, POLICY, TASK_VERSION
from app.errors import Problem
from app.files.findings import Findings
from app.files.tables import (
    BEYOND,
    Cells,
    NumberBounds,
    is_storable,
    open_table,
    read_document,
)
from app.files.uploads import ReceivedFile, hash_file
from app.kinds.episodes.cells import EpisodeSource
from app.names import clip_for_message
from app.prereg.prereg import git_blob_sha1, sha256_hex
from app.values.facts import BundleFacts
from app.values.table import Cell, Column, Table, rows_from_columns

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


def sources_of(bundle: Bundle, entrant: str | None, findings: Findings) -> list[tuple[EpisodeSource, ReceivedFile]]:
    """Return the bundle's files of episodes, each with what its episodes have in common."""
    described = bundle.files[DESCRIPTION].name
    policy, task = bundle.description.get("policy_id"), bundle.description.get("task_id")
    sources = []
    for name, file in bundle.files.items():
        if (promised := EPISODES.fullmatch(name)) is not None:
            source = EpisodeSource(
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
    """Yield what a bundle states of what was run, under the words of `app.admission.case` where it has them."""
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


# A run's statements about itself, as storable values: those of another type, or not finite, are left out.

MAX_TEXT = 200

MAX_KEY = 64

MAX_SHOWN, MAX_LISTED = 1000, 1000


def stated_text(value: Any) -> str | None:
    """Return a text, printable and short."""
    return clip_for_message(value, MAX_TEXT) if isinstance(value, str) else None


def stated(value: Any) -> str | None:
    """Return a text, a number, true or false, or a list of these as a reader sees it; None for anything else."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        shown = [stated(each) for each in value[:MAX_LISTED] if not isinstance(each, list)]
        return clip_for_message(", ".join(each for each in shown if each is not None), MAX_SHOWN) or None
    return clip_for_message(str(value), MAX_SHOWN) if isinstance(value, str | int | float) else None


def stated_integer(value: Any) -> int | None:
    """Return a whole number; true and false are none."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def stated_integers(value: Any) -> tuple[int, ...] | None:
    """Return a list of whole numbers, repeats kept; None when one of them is something else."""
    if not isinstance(value, list) or any(stated_integer(entry) is None for entry in value):
        return None
    return tuple(value)


def stated_numbers(value: Any) -> dict[str, float | int | None]:
    """Return the finite numbers and nulls of an object by their names."""
    if not isinstance(value, Mapping):
        return {}
    return {clip_for_message(name, MAX_KEY): entry for name, entry in value.items() if _is_number_or_null(entry)}


def problems_of_seeds(value: Any, file: str, column: str) -> Iterator[Problem]:
    """Yield a problem for each declared seed that is not a whole number, or one when there is no list of them."""
    if value is None:
        return
    if not isinstance(value, list):
        yield Problem("expected a list of seeds", file, column=column, value=clip_for_message(str(value)))
        return
    for seed in value:
        if stated_integer(seed) is None:
            yield Problem("a seed is a whole number", file, column=column, value=clip_for_message(str(seed)))


def problems_of_numbers(value: Any, file: str, column: str) -> Iterator[Problem]:
    """Yield a problem for each claimed value that is neither a finite number nor null."""
    if value is None:
        return
    if not isinstance(value, Mapping):
        yield Problem("expected an object of numbers", file, column=column, value=clip_for_message(str(value)))
        return
    for name, entry in value.items():
        if not _is_number_or_null(entry):
            inner = f"{column}.{clip_for_message(name, MAX_KEY)}"
            message = BEYOND if _is_number(entry) else "expected a finite number or null"
            yield Problem(message, file, column=inner, value=clip_for_message(str(entry)))


def _is_number_or_null(value: Any) -> bool:
    if value is None:
        return True
    return _is_number(value) and is_storable(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


# SpikeRun files: one JSON document with the episodes of two conditions of one axis. Source of the layout: CHAMBER's
# SpikeRun schema, version 2.

SPIKE_EPISODES = "episode_results"

SPIKE_VERSIONS = (2,)


def is_spike_run(document: Mapping[str, Any]) -> bool:
    """Say whether a document is a SpikeRun."""
    return SPIKE_EPISODES in document


def episodes_of(file: ReceivedFile, document: Mapping[str, Any], findings: Findings) -> Iterator[tuple[int, Any]]:
    """Yield each episode with its place in the list, from 1; what is wrong around them goes to `findings`."""
    version = document.get("schema_version")
    if version not in SPIKE_VERSIONS or isinstance(version, bool):
        known = ", ".join(map(str, SPIKE_VERSIONS))
        value = None if version is None else clip_for_message(str(version))
        findings.add(
            Problem(f"unknown schema_version; known is {known}", file.name, column="schema_version", value=value)
        )
    findings.extend(problems_of_seeds(document.get("seeds"), file.name, "seeds"))
    episodes = document[SPIKE_EPISODES]
    if not isinstance(episodes, list) or not episodes:
        findings.add(Problem("expected a list of episodes", file.name, column=SPIKE_EPISODES))
        return
    for row, episode in enumerate(episodes, start=1):
        if isinstance(episode, dict):
            yield row, episode
        else:
            findings.add(
                Problem("an episode is an object", file.name, row, SPIKE_EPISODES, clip_for_message(str(episode)))
            )


def source_of(file: ReceivedFile, document: Mapping[str, Any], entrant: str | None) -> EpisodeSource:
    """Return what the episodes have in common: the task is the axis."""
    axis = document.get("axis")
    return EpisodeSource(file.name, file.position, entrant, axis if isinstance(axis, str) else None, boolean=BOOLEAN)


def facts_of_spike_run(file: ReceivedFile, document: Mapping[str, Any], entrant: str | None) -> BundleFacts:
    """Return what a run says of itself."""
    return BundleFacts(
        name=file.name,
        entrant=entrant,
        task=stated_text(document.get("axis")),
        schema_version=stated_integer(document.get("schema_version")),
        git_tag=stated_text(document.get("git_tag")),
        cited_blob_sha1=stated_text(document.get("prereg_sha")),
        seeds=stated_integers(document.get("seeds")),
        files=(file.position,),
        identity=dict(_identity_of_spike_run(document)),
    )


def _identity_of_spike_run(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    named = (
        ("run", "spike_id"), ("stage", "sub_stage"), ("axis", "axis"), ("registration tag", "git_tag"),
        ("registration blob", "prereg_sha"), ("layout version", "schema_version"), ("seeds", "seeds"),
    )  # fmt: skip
    yield from ((word, shown) for word, key in named if (shown := stated(document.get(key))) is not None)
    pair = document.get("condition_pair")
    for key, each in list(pair.items())[:2] if isinstance(pair, Mapping) else ():
        if (shown := stated(each)) is not None:
            yield f"condition {clip_for_message(str(key), MAX_KEY)}", shown


# The safety tables T1 to T3 that come with a run: kept, shown and exported as they were sent. A file safety_t1.csv
# (t2, t3; also .json and .jsonl) is one of them.

NAME = re.compile(r"safety_t([123])\.(?:csv|json|jsonl)(?:\.gz)?", re.IGNORECASE)

MAX_ROWS = 10_000

MAX_SAFETY_TEXT = 500

NON_NEGATIVE, ANY = NumberBounds(0.0), NumberBounds()


def _counts(*names: str) -> tuple[Column, ...]:
    return tuple(
        Column(name, name.removeprefix("n_").replace("_", " ").capitalize(), "number", digits=0) for name in names
    )


TABLES: Mapping[str, tuple[str, tuple[Column, ...]]] = {
    "1": (
        "Safety T1: assumptions",
        (
            Column("assumption", "Assumption", "text"),
            Column("description", "Description", "text"),
            *_counts("violations", "n_steps"),
        ),
    ),
    "2": (
        "Safety T2: predictor by conformal mode",
        (
            Column("predictor", "Predictor", "text"),
            Column("conformal_mode", "Conformal mode", "text"),
            Column("vendor_compliance", "Vendor compliance", "text"),
            *_counts("n_episodes", "violations", "fallback_fires"),
            Column("max_slack", "Largest slack"),
            Column("slack_l2", "Slack, L2 norm"),
        ),
    ),
    "3": (
        "Safety T3: conformal λ",
        (
            Column("condition", "Condition", "text"),
            Column("lambda_mean", "Mean λ"),
            Column("lambda_var", "Variance of λ"),
            Column("oracle_lambda_mean", "Mean λ of the oracle"),
        ),
    ),
}


def is_safety_table(file: ReceivedFile) -> bool:
    """Say whether a file's name is that of a safety table."""
    return NAME.fullmatch(PurePosixPath(file.name).name) is not None


def read_safety_table(file: ReceivedFile, findings: Findings, warnings: list[Problem]) -> Table | None:
    """Return the table with exactly its columns; None when there is a problem, each in `findings`."""
    number = NAME.fullmatch(PurePosixPath(file.name).name)
    opened = open_table(file, findings, warnings, MAX_ROWS)
    if opened is None or number is None:
        return None
    title, columns = TABLES[number[1]]
    missing = [column.name for column in columns if column.name not in opened.header]
    findings.extend(Problem(f"the column {name} is missing", file.name, column=name) for name in missing)
    if missing:
        return None
    before = findings.n_problems
    read: dict[str, list[Cell]] = {column.name: [] for column in columns}
    for block in opened.blocks([column.name for column in columns]):
        cells = Cells(file.name, block.rows, block.columns, findings)
        for column in columns:
            read[column.name] += _words(cells, column.name) if column.kind == "text" else _numbers(cells, column)
    if findings.n_problems > before:
        return None
    return Table(f"safety/t{number[1]}", title, columns, rows_from_columns(list(read.values())))


def _numbers(cells: Cells, column: Column) -> list[Cell]:
    bounds = NON_NEGATIVE if column.digits == 0 or column.name.endswith(("_var", "_l2")) else ANY
    values = cells.numbers(column.name, bounds).values
    if column.digits == 0:
        cells.refuse(column.name, np.mod(values, 1.0) > 0.0, lambda _: "a count is a whole number")
    return [None if value != value else value for value in values.tolist()]


def _words(cells: Cells, column: str) -> list[Cell]:
    words = cells.texts(column).to_pylist()
    wrong = [
        word is not None and (len(word) > MAX_SAFETY_TEXT or not word.isprintable() or word[0] in "=+-@")
        for word in words
    ]
    message = f"text is printable, at most {MAX_SAFETY_TEXT} characters, and does not begin like a formula"
    cells.refuse(column, np.array(wrong, dtype=np.bool_), lambda _: message)
    return list(words)
