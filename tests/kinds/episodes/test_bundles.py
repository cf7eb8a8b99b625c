"""Result bundles: hashes, versions, seeds by file, and what a bundle says of itself."""

import json
from pathlib import Path

import pytest

from app.admission.claims import SubmissionClaims
from app.kinds.parse import parse_manifest
from app.kinds.registry import kind_of
from app.prereg.prereg import git_blob_sha1
from tests.cases.chamber import (
    EXAMPLES,
    MANIFEST,
    PREREG,
    bundle,
    episode,
    episodes,
    lines,
    manifest,
    with_sums,
    zipped,
)
from tests.cases.evidence_tables import problems, read

DATA = Path(__file__).parents[2] / "data" / "chamber_prereg"


def messages(folder: Path, files: dict[str, bytes]) -> list[str]:
    """Return what is wrong with a zipped bundle."""
    return [problem.message for problem in problems(folder, {"run.zip": zipped(files)}, manifest())]


def test_a_zipped_bundle_is_read_with_its_facts(tmp_path: Path) -> None:
    """The policy is the entrant, and the bundle says what it ran."""
    evidence = read(tmp_path, {"run.zip": zipped(bundle())}, manifest())
    (facts,) = evidence.facts.bundles

    assert (len(evidence.scores), evidence.scores.entrant.words) == (40, ("mover",))
    assert (facts.seeds, facts.dirty, facts.prereg_blob_sha1) == ((0, 1, 2, 3, 4), False, git_blob_sha1(PREREG))


def test_separate_files_are_one_bundle(tmp_path: Path) -> None:
    """Without a zip the files have no folder."""
    evidence = read(tmp_path, bundle(), manifest())

    assert (len(evidence.scores), len(evidence.facts.bundles)) == (40, 1)


def test_several_bundles_may_come_for_one_entrant(tmp_path: Path) -> None:
    """A jointly trained pair ships one bundle for each seed; the form names the entrant."""
    files = {f"{seed}.zip": zipped(bundle(episodes([seed], members=["own"])), f"seed{seed}") for seed in range(5)}
    evidence = read(tmp_path, files, manifest(), "joint")

    assert (len(evidence.facts.bundles), evidence.scores.entrant.words) == (5, ("joint",))
    assert [facts.seeds for facts in evidence.facts.bundles] == [(0,), (1,), (2,), (3,), (4,)]


def test_a_changed_file_is_found_by_its_hash(tmp_path: Path) -> None:
    """The bundle's own list and the sums both say another hash."""
    files = bundle()
    files["episodes_seed0.jsonl"] = lines([episode(0, number, success=True) for number in range(4)])

    assert sum("the SHA-256 of this file is" in message for message in messages(tmp_path, files)) == 2


def test_a_missing_file_is_found(tmp_path: Path) -> None:
    """What is listed must be there."""
    files = bundle()
    del files["episodes_seed4.jsonl"]

    assert "the listed file episodes_seed4.jsonl was not sent" in messages(tmp_path, files)


def test_a_file_that_nothing_vouches_for_is_refused(tmp_path: Path) -> None:
    """An added seed that bundle.json does not list."""
    files = bundle() | {"episodes_seed9.jsonl": lines([episode(9, 0)])}

    assert messages(tmp_path, with_sums(files)) == ["bundle.json does not list this file, so nothing vouches for it"]


def test_a_bundle_without_sums_is_refused(tmp_path: Path) -> None:
    """The sums also cover bundle.json itself."""
    files = bundle()
    del files["SHA256SUMS.txt"]

    assert messages(tmp_path, files) == ["the bundle has no SHA256SUMS.txt"]


def test_an_unknown_version_is_refused(tmp_path: Path) -> None:
    """Version 4 may mean anything."""
    assert messages(tmp_path, bundle(schema_version=4)) == ["unknown schema_version; known is 3"]


def test_an_empty_seed_is_refused(tmp_path: Path) -> None:
    """A file without an episode."""
    files = bundle()
    listed = json.loads(files["bundle.json"])
    listed["manifest"]["episodes_seed0.jsonl"] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    files |= {"episodes_seed0.jsonl": b"", "bundle.json": json.dumps(listed).encode()}

    assert messages(tmp_path, with_sums(files)) == ["the file is empty"]


def test_a_file_of_one_seed_holds_no_other(tmp_path: Path) -> None:
    """The name of the file promises the seed."""
    files = bundle([episode(0, 0)])
    content = files.pop("episodes_seed0.jsonl")
    listed = json.loads(files["bundle.json"])
    listed["manifest"]["episodes_seed1.jsonl"] = listed["manifest"].pop("episodes_seed0.jsonl")
    files |= {"episodes_seed1.jsonl": content, "bundle.json": json.dumps(listed).encode()}

    assert messages(tmp_path, with_sums(files)) == ["the file is of seed 1"]


def test_a_bundle_in_the_folder_of_another_keeps_its_files(tmp_path: Path) -> None:
    """The nearest bundle.json counts, in whatever order the folders come."""
    outer = {f"all/{name}": content for name, content in bundle(episodes(members=["left"])).items()}
    inner = {f"all/b/{name}": content for name, content in bundle(episodes(members=["right"])).items()}
    evidence = read(tmp_path, {"run.zip": zipped(outer | inner)}, manifest(), "mover")

    assert (len(evidence.scores), len(evidence.facts.bundles)) == (40, 2)


def test_episodes_in_another_place_are_not_overlooked(tmp_path: Path) -> None:
    """A file that would be ignored is told instead."""
    files = bundle() | {"more/episodes_seed9.jsonl": lines([episode(9, 0)])}

    assert messages(tmp_path, files) == [
        "the episodes of a bundle must be in episodes_seed<N>.jsonl beside bundle.json"
    ]


def test_a_declared_seed_is_a_whole_number(tmp_path: Path) -> None:
    """The schedule is compared with the prereg, so it must be readable."""
    files = bundle(seed_schedule={"seeds": [0, "1", 2.0]})

    assert messages(tmp_path, files) == ["a seed is a whole number"] * 2


@pytest.mark.parametrize("value", [b"1e999", b"NaN", b"true", b'"0.5"'])
def test_a_claimed_value_is_a_finite_number(tmp_path: Path, value: bytes) -> None:
    """What cannot be compared must not count as no claim."""
    files = bundle(summary={"success_mean": 0.123})
    files["bundle.json"] = files["bundle.json"].replace(b"0.123", value)

    assert messages(tmp_path, with_sums(files)) == ["expected a finite number or null"]


def test_the_policy_stands_in_for_the_entrant_and_says_so(tmp_path: Path) -> None:
    """Without the form field the name on the board is the bundle's."""
    evidence = read(tmp_path, {"run.zip": zipped(bundle())}, manifest())

    assert [(warning.column, warning.value) for warning in evidence.warnings] == [("policy_id", "mover")]


@pytest.mark.parametrize(
    ("archive", "n_rows", "success_mean"),
    [
        ("chamber-handover/results/REF-SCRIPT.zip", 500, 0.338),
        ("chamber-handover/results/B-STAT.zip", 500, 0.274),
        ("chamber-cocarry/results/B-STAT.zip", 1750, 0.496),
        ("chamber-cocarry/results/B-RND-pilot.zip", 350, 0.0),
    ],
)
def test_published_bundles_give_their_published_success(
    tmp_path: Path, archive: str, n_rows: int, success_mean: float
) -> None:
    """Row for row, from the bundles as they were published."""
    example = EXAMPLES / archive
    declared = parse_manifest((example.parents[1] / "manifest.yaml").read_bytes())
    scores = read(tmp_path, {"run.zip": example.read_bytes()}, declared, "policy").scores

    assert (len(scores), scores.value("success").mean()) == (n_rows, pytest.approx(success_mean, abs=1e-12))


@pytest.mark.parametrize("dirty", ["true", 1, 0, "no"])
def test_dirty_is_true_or_false(tmp_path: Path, dirty: object) -> None:
    """Text or a number would otherwise count as saying nothing."""
    assert messages(tmp_path, bundle(dirty=dirty)) == ["expected true or false, or no such key"]


@pytest.mark.parametrize("success", [0.5, 1, 0])
def test_success_is_true_or_false(tmp_path: Path, success: float) -> None:
    """Failures written as one half would raise the mean."""
    records = [episode(0, 0, success=success), *episodes()[1:]]

    assert messages(tmp_path, bundle(records)) == ["expected true or false, not a number"]


def test_a_manifest_may_ask_for_true_or_false_in_any_file(tmp_path: Path) -> None:
    """Plain lines are no way around it."""
    asked = MANIFEST.replace(b"{condition: metadata.member}", b"{condition: metadata.member, boolean: [success]}")
    actual = problems(tmp_path, {"rows.jsonl": lines([episode(0, 0, success=0.5)])}, parse_manifest(asked), "mover")

    assert [problem.message for problem in actual] == ["expected true or false, not a number"]


@pytest.mark.parametrize("seed", [0, 1])
def test_the_real_bundles_of_a_jointly_trained_pair_are_read(tmp_path: Path, seed: int) -> None:
    """Their episodes name a partner, those of the other rows a member; the shipped manifest takes both."""
    declared = parse_manifest((EXAMPLES / "chamber-cocarry" / "manifest.yaml").read_bytes())
    folder = DATA / "bundles" / f"b-joint-seed{seed}"
    sent = {path.name: path.read_bytes() for path in folder.iterdir()}
    evidence = read(tmp_path, sent, declared, "B-JOINT")
    (claimed,) = kind_of(declared).own_claims(SubmissionClaims(declared, evidence.scores, evidence.facts, None))

    assert evidence.scores.condition is not None
    assert (evidence.scores.condition.words, len(evidence.scores)) == (("frozen_cocarry_joint",), 50)
    assert claimed.reason == "Every claimed summary comes out of the episodes, to the last digit."


def test_an_episode_with_two_conditions_is_refused(tmp_path: Path) -> None:
    """Whichever was meant, one of the two is wrong."""
    declared = parse_manifest(MANIFEST.replace(b"metadata.member", b"[metadata.member, metadata.partner]"))
    record = episode(0, 0, metadata={"member": "left", "partner": "right"})
    actual = problems(tmp_path, {"rows.jsonl": lines([record])}, declared, "mover")

    assert [problem.message for problem in actual] == ["the episode says two conditions"]
