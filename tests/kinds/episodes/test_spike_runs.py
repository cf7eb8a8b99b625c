"""SpikeRun files: both conditions of an axis in one document, and what a run says of itself."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.errors import Problem
from app.kinds.parse import parse_manifest
from tests.cases.chamber import EXAMPLES, episode, manifest
from tests.cases.evidence_tables import problems, read

SPIKE = EXAMPLES / "chamber-as"


def run(**changed: Any) -> bytes:
    """Return a run of two episodes in two conditions."""
    document: dict[str, Any] = {
        "schema_version": 2,
        "axis": "place",
        "git_tag": "prereg-1",
        "prereg_sha": "a" * 40,
        "seeds": [0, 1],
        "episode_results": [episode(0, 0), episode(0, 0, metadata={"member": "right"})],
    }
    return json.dumps(document | changed).encode()


def the_problem(folder: Path, **changed: Any) -> Problem:
    """Return the one thing that is wrong with a run."""
    (problem,) = problems(folder, {"run.json": run(**changed)}, manifest(), "mover")
    return problem


def test_a_run_is_read_with_its_facts(tmp_path: Path) -> None:
    """The axis is the task; tag, blob and seeds are kept as the file says them."""
    evidence = read(tmp_path, {"run.json": run()}, manifest(), "mover")
    (facts,) = evidence.facts.bundles

    assert (len(evidence.scores), evidence.scores.task.words) == (2, ("place",))
    assert (facts.task, facts.git_tag, facts.cited_blob_sha1, facts.seeds) == ("place", "prereg-1", "a" * 40, (0, 1))


def test_repeated_seeds_stay_as_listed(tmp_path: Path) -> None:
    """Admission judges a seed that is listed twice; the reader hides nothing."""
    evidence = read(tmp_path, {"run.json": run(seeds=[0, 0])}, manifest(), "mover")

    assert evidence.facts.bundles[0].seeds == (0, 0)


@pytest.mark.parametrize("seed", ["0", 0.5, True, None])
def test_a_declared_seed_is_a_whole_number(tmp_path: Path, seed: object) -> None:
    """A list that is not of seeds is told, instead of counting as no list."""
    problem = the_problem(tmp_path, seeds=[0, seed])

    assert (problem.column, problem.value, problem.message) == ("seeds", str(seed), "a seed is a whole number")


def test_a_run_without_episodes_is_refused(tmp_path: Path) -> None:
    """An empty list would be a run of nothing."""
    problem = the_problem(tmp_path, episode_results=[])

    assert (problem.column, problem.message) == ("episode_results", "expected a list of episodes")


def test_an_episode_twice_is_refused(tmp_path: Path) -> None:
    """Its place in the list is told."""
    problem = the_problem(tmp_path, episode_results=[episode(0, 0), episode(0, 0)])

    assert (problem.row, problem.message) == (2, "the episode is there already: row 1 of run.json")


def test_what_a_run_says_is_made_printable(tmp_path: Path) -> None:
    """A tag with a null character, half a letter or no end cannot be stored as it is."""
    evidence = read(tmp_path, {"run.json": run(git_tag="a\x00\ud800" + "b" * 5000)}, manifest(), "mover")
    tag = evidence.facts.bundles[0].git_tag

    assert tag is not None
    assert tag.startswith(r"a\x00\xd800b")
    assert (tag.isprintable(), len(tag)) == (True, 201)


def test_another_document_is_no_run(tmp_path: Path) -> None:
    """An older leaderboard entry holds no episodes."""
    (problem,) = problems(tmp_path, {"entry.json": b'{"method_id": "mover", "schema_version": 2}'}, manifest(), "mover")

    assert problem.message == "neither a SpikeRun nor a list of episodes"


def test_the_published_spike_has_its_gap(tmp_path: Path) -> None:
    """100 episodes in each condition, 20 a seed; the homogeneous pair does worse by 11 points."""
    declared = parse_manifest((SPIKE / "manifest.yaml").read_bytes())
    (file,) = (SPIKE / "results").iterdir()
    scores = read(tmp_path, {file.name: file.read_bytes()}, declared, "policy").scores
    assert scores.condition is not None
    assert scores.seed is not None
    success = scores.value("success")
    homogeneous = scores.condition.codes == scores.condition.words.index(
        "stage1_pickplace_panda_only_mappo_shared_param"
    )
    per_cell = [np.bincount(scores.seed[rows]).tolist() for rows in (homogeneous, ~homogeneous)]

    assert per_cell == [[20] * 5, [20] * 5]
    assert success[homogeneous].mean() - success[~homogeneous].mean() == pytest.approx(-0.11, abs=1e-12)
