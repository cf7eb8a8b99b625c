"""SpikeRun files: one JSON document with the episodes of two conditions of one axis.

Called by `app.kinds.episodes.read`. Source of the layout: CHAMBER's SpikeRun schema, version 2.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from app.errors import Problem
from app.files.findings import Findings
from app.files.uploads import ReceivedFile
from app.kinds.episodes.cells import Source
from app.kinds.episodes.stated_values import (
    MAX_KEY,
    problems_of_seeds,
    stated,
    stated_integer,
    stated_integers,
    stated_text,
)
from app.names import clip_for_message
from app.values.facts import BundleFacts

EPISODES = "episode_results"
BOOLEAN = frozenset({"success"})
KNOWN_VERSIONS = (2,)


def is_spike_run(document: Mapping[str, Any]) -> bool:
    """Say whether a document is a SpikeRun."""
    return EPISODES in document


def episodes_of(file: ReceivedFile, document: Mapping[str, Any], findings: Findings) -> Iterator[tuple[int, Any]]:
    """Yield each episode with its place in the list, from 1; what is wrong around them goes to `findings`."""
    version = document.get("schema_version")
    if version not in KNOWN_VERSIONS or isinstance(version, bool):
        known = ", ".join(map(str, KNOWN_VERSIONS))
        value = None if version is None else clip_for_message(str(version))
        findings.add(
            Problem(f"unknown schema_version; known is {known}", file.name, column="schema_version", value=value)
        )
    findings.extend(problems_of_seeds(document.get("seeds"), file.name, "seeds"))
    episodes = document[EPISODES]
    if not isinstance(episodes, list) or not episodes:
        findings.add(Problem("expected a list of episodes", file.name, column=EPISODES))
        return
    for row, episode in enumerate(episodes, start=1):
        if isinstance(episode, dict):
            yield row, episode
        else:
            findings.add(Problem("an episode is an object", file.name, row, EPISODES, clip_for_message(str(episode))))


def source_of(file: ReceivedFile, document: Mapping[str, Any], entrant: str | None) -> Source:
    """Return what the episodes have in common: the task is the axis."""
    axis = document.get("axis")
    return Source(file.name, file.position, entrant, axis if isinstance(axis, str) else None, boolean=BOOLEAN)


def facts_of(file: ReceivedFile, document: Mapping[str, Any], entrant: str | None) -> BundleFacts:
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
        identity=dict(_identity(document)),
    )


def _identity(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    named = (
        ("run", "spike_id"), ("stage", "sub_stage"), ("axis", "axis"), ("registration tag", "git_tag"),
        ("registration blob", "prereg_sha"), ("layout version", "schema_version"), ("seeds", "seeds"),
    )  # fmt: skip
    yield from ((word, shown) for word, key in named if (shown := stated(document.get(key))) is not None)
    pair = document.get("condition_pair")
    for key, each in list(pair.items())[:2] if isinstance(pair, Mapping) else ():
        if (shown := stated(each)) is not None:
            yield f"condition {clip_for_message(str(key), MAX_KEY)}", shown
