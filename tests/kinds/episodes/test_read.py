"""Episodes from plain files, bundles and SpikeRuns: what is read, and what is wrong with each, with its place."""

import gzip
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.admission.claims import SubmissionClaims
from app.errors import Problem
from app.kinds.episodes.manifest_part import EpisodesPart
from app.kinds.parse import parse_manifest
from app.kinds.registry import kind_of
from app.manifest.model import Manifest, part_of
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
CSV = "seed,episode_idx,initial_state_seed,success,constraint_violation_peak,metadata.member\n"


def the_problem(
    folder: Path, content: bytes | str, name: str = "run.jsonl", declared: Manifest | None = None
) -> Problem:
    """Return the one thing that is wrong with a file of episodes."""
    (problem,) = problems(folder, {name: content}, declared or manifest(), "mover")
    return problem


def declared_by(example: str) -> Manifest:
    """Return the manifest of one of the examples of CHAMBER."""
    return parse_manifest((EXAMPLES / f"chamber-{example}" / "manifest.yaml").read_bytes())


def run(**changed: Any) -> str:
    """Return a SpikeRun of two episodes in two conditions."""
    document: dict[str, Any] = {
        "schema_version": 2, "axis": "place", "git_tag": "prereg-1", "prereg_sha": "a" * 40, "seeds": [0, 1],
        "episode_results": [episode(0, 0), episode(0, 0, metadata={"member": "right"})],
    }  # fmt: skip
    return json.dumps(document | changed)


# Plain files.


def test_an_episode_is_a_row(tmp_path: Path) -> None:
    """Seed, item, condition and scores stand in their columns; booleans are 0 and 1."""
    scores = read(tmp_path, {"run.jsonl": lines([episode(3, 0, success=True)])}, manifest(), "mover").scores

    assert scores.seed is not None
    assert scores.item is not None
    assert scores.condition is not None
    assert (scores.entrant.words, scores.task.words, scores.condition.words) == (("mover",), ("place",), ("left",))
    assert (scores.seed.tolist(), scores.item.words, scores.value("success").tolist()) == ([3], ("0/300",), [1.0])


def test_a_metric_above_a_limit_is_counted(tmp_path: Path) -> None:
    """A peak above zero is a violation, at zero it is none; one that was not measured is neither."""
    records = [episode(0, at, constraint_violation_peak=peak) for at, peak in enumerate((0.0, 0.2, None))]
    scores = read(tmp_path, {"run.jsonl": lines(records)}, manifest(), "mover").scores

    assert str(scores.value("violation").tolist()) == "[0.0, 1.0, nan]"


def test_a_csv_with_dotted_columns_and_a_list_of_json_are_the_same(tmp_path: Path) -> None:
    """A flat table names what JSON nests, and writes its booleans as words."""
    rows = CSV + "0,0,0,true,0,left\n0,1,1,False,0.5,right\n"
    scores = read(tmp_path, {"run.csv": rows}, manifest(), "mover").scores

    assert (scores.value("success").tolist(), scores.value("violation").tolist()) == ([1.0, 0.0], [0.0, 1.0])
    assert len(read(tmp_path, {"run.json": json.dumps(episodes())}, manifest(), "mover").scores) == 40


def without(name: str) -> bytes:
    """Return one episode that lacks a column."""
    return lines([{key: cell for key, cell in episode(0, 0).items() if key != name}])


BROKEN: dict[str, tuple[bytes | str, str, int | None, str | None, str]] = {
    "a broken line": (lines([episode(0, 0), episode(0, 1)]) + b'{"seed": 0,\n', "run.jsonl", 3, None, ""),
    "a boolean as text": (lines([episode(0, 0, success="false")]), "run.jsonl", 1, "success", ""),
    "an episode twice": (
        lines([episode(0, 0), episode(0, 0, success=False)]), "run.jsonl", 2, None,
        "the episode is there already: row 1 of run.jsonl"),
    **{f"a score of {text}": (
        lines([episode(0, 0, success=0.123)]).replace(b"0.123", text.encode()), "run.jsonl", 1, "success", "finite")
       for text in ("NaN", "Infinity", "-Infinity")},
    "a success of 2": (
        lines([episode(0, 0, success=2)]), "run.jsonl", 1, "success", "expected at least 0 and at most 1"),
    **{f"a seed of {seed!r}": (
        lines([episode(0, 0) | {"seed": seed}]), "run.jsonl", 1, "seed", "expected a whole number of 64 bits")
       for seed in ("0", 1.5, True, None, 2**70)},
    **{f"a seed of {seed} in a CSV": (f"{CSV}{seed},0,0,1,0,left\n", "run.csv", 2, "seed", "")
       for seed in ("--5", "-", "1_0", "\u0665", "1.0", "9" * 30)},
    "a number with an underscore": (f"{CSV}0,0,0,1,1_0,left\n", "run.csv", 2, "constraint_violation_peak", ""),
    "a column that ranks is missing": (
        without("success"), "run.jsonl", None, "success", "no episode has the metric that ranks"),
    "no UTF-8": (
        json.dumps(episodes()).encode().replace(b"left", b"l\xe4ft", 1), "run.json", None, None, "UTF-8"),
    "no episode at all": ("[]", "run.json", None, None, "the submission contains no episodes"),
    "another task": (
        run(axis="lift", seeds=[0], episode_results=[episode(0, 0)]), "run.json", None, None,
        "not a task of this benchmark; it has place"),
    "a misspelt task": (
        run(axis="palce", seeds=[0], episode_results=[episode(0, 0)]), "run.json", None, None,
        "not a task of this benchmark; did you mean place? It has place"),
    "another version of a run": (run(schema_version=9), "run.json", None, "schema_version", ""),
    "a run without episodes": (
        run(episode_results=[]), "run.json", None, "episode_results", "expected a list of episodes"),
    "an episode of a run that is a number": (
        run(episode_results=[episode(0, 0), 7]), "run.json", 2, "episode_results", "an episode is an object"),
    "an episode of a run twice": (
        run(episode_results=[episode(0, 0)] * 2), "run.json", 2, None, "there already: row 1 of run.json"),
    **{f"a declared seed of {seed!r}": (run(seeds=[0, seed]), "run.json", None, "seeds", "a seed is a whole number")
       for seed in ("0", 0.5, True, None)},
    "another document": (
        '{"method_id": "mover", "schema_version": 2}', "run.json", None, None,
        "neither a SpikeRun nor a list of episodes"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_wrong_is_one_problem_with_its_place(tmp_path: Path, name: str) -> None:
    """File, row and column, and what was expected."""
    content, file, row, column, words = BROKEN[name]
    actual = the_problem(tmp_path, content, file)

    assert row is None or (actual.file, actual.row) == (file, row)
    assert column is None or actual.column == column
    assert words in actual.message


@pytest.mark.parametrize(
    ("cell", "shown", "message"),
    [
        ('"yes"', "yes", "expected true, false or a number; text is neither"),
        ('["yes"]', "['yes']", "expected true, false or a number; text is neither"),
        ("NaN", "NaN", "a score must be finite; leave the cell empty when there is none"),
        ("1e60", "1e+60", "larger in size than 1e+50, the most that a number may be here"),
        ("-0.5", "-0.5", "expected at least 0 and at most 1"),
        ("2", "2", "expected at least 0 and at most 1"),
    ],
)
def test_a_score_that_is_refused_is_shown_as_it_was_sent(tmp_path: Path, cell: str, shown: str, message: str) -> None:
    """Whoever has a million episodes finds the cell by what stands in it, and is told what may."""
    sent = lines([episode(0, 0), episode(0, 1, success=0.123)]).replace(b"0.123", cell.encode())
    problem = the_problem(tmp_path, sent)

    assert problem == Problem(message, "run.jsonl", 2, "success", shown)


def test_what_the_manifest_declares_of_conditions_and_booleans_binds(tmp_path: Path) -> None:
    """Where it lists conditions there are no others, an episode says one of them, and plain lines are no way around
    true or false.
    """
    where = part_of(manifest(), EpisodesPart).episodes
    assert where is not None
    listed = EpisodesPart(episodes=where.model_copy(update={"conditions": ["left"]}))
    strict = manifest().model_copy(update={"part": listed})
    two = parse_manifest(MANIFEST.replace(b"metadata.member", b"[metadata.member, metadata.partner]"))
    asked = MANIFEST.replace(b"{condition: metadata.member}", b"{condition: metadata.member, boolean: [success]}")
    of_two = episode(0, 0, metadata={"member": "left", "partner": "right"})

    unknown = the_problem(tmp_path, lines([episode(0, 0, "up")]), declared=strict)
    assert (unknown.value, unknown.message) == ("up", "not a condition of this benchmark; it has left")
    assert the_problem(tmp_path, lines([of_two]), declared=two).message == "the episode says two conditions"
    assert the_problem(tmp_path, lines([episode(0, 0, success=0.5)]), declared=parse_manifest(asked)).message == (
        "expected true or false, not a number"
    )


def test_a_missing_metric_that_does_not_rank_is_a_warning_and_every_problem_is_told_at_once(tmp_path: Path) -> None:
    """Not every run measures everything; three lines, three mistakes."""
    evidence = read(tmp_path, {"run.jsonl": without("constraint_violation_peak")}, manifest(), "mover")
    records = [episode(0, 0, success="yes"), episode(0, 1) | {"seed": "x"}, episode(0, 2, member="a\u200b")]
    actual = problems(tmp_path, {"run.jsonl": lines(records)}, manifest(), "mover")

    assert [warning.column for warning in evidence.warnings] == ["violation"]
    assert [problem.row for problem in actual] == [1, 2, 3]


@pytest.mark.parametrize(("bounds", "cell", "expected"), [("min: 1", 0.5, "at least 1"), ("max: 0", 0.5, "at most 0")])
def test_a_range_of_one_end_says_that_end(tmp_path: Path, bounds: str, cell: float, expected: str) -> None:
    """Nothing is said of the other one."""
    declared = parse_manifest(MANIFEST.replace(b"min: 0, max: 1", bounds.encode()))

    assert (
        the_problem(tmp_path, lines([episode(0, 0, success=cell)]), declared=declared).message == f"expected {expected}"
    )


def test_a_task_of_another_benchmark_is_shown_as_it_was_sent(tmp_path: Path) -> None:
    """Of a run whose axis is a task."""
    sent = run(axis="lift", seeds=[0], episode_results=[episode(0, 0)])

    assert the_problem(tmp_path, sent, "run.json").value == "lift"


T3 = b"condition,lambda_mean,lambda_var,oracle_lambda_mean\nleft,0.5,0.01,0.4\n"
T1 = "assumption,description,violations,n_steps\nA1,holds,{},10\n"


def test_safety_tables_come_along(tmp_path: Path) -> None:
    """T3 is kept beside the episodes with its numbers."""
    evidence = read(tmp_path, {"run.jsonl": lines(episodes()), "safety_t3.csv": T3}, manifest(), "mover")

    assert [(t.name, t.rows) for t in evidence.attachments] == [("safety/t3", (("left", 0.5, 0.01, 0.4),))]


@pytest.mark.parametrize(
    ("tables", "columns", "message"),
    [
        ({"safety_t3.csv": "condition,lambda_mean\nleft,0.5\n"}, ["lambda_var", "oracle_lambda_mean"], ""),
        ({"safety_t1.csv": T1.format(-1)}, ["violations"], ""),
        ({"safety_t1.csv": T1.format(1.5)}, ["violations"], "a count is a whole number"),
        (
            {"safety_t3.csv": T3, "tables.zip": zipped({"safety_t3.csv": T3})},
            [None],
            "contains this safety table twice",
        ),
    ],
)
def test_a_safety_table_that_is_wrong_is_refused(
    tmp_path: Path, tables: dict[str, Any], columns: list[str | None], message: str
) -> None:
    """Each missing column is named, nothing happens minus once or one and a half times, and a table comes once."""
    actual = problems(tmp_path, {"run.jsonl": lines(episodes()), **tables}, manifest(), "mover")

    assert [problem.column for problem in actual] == columns
    assert message in actual[0].message


# Bundles.


def of_seed_1(files: dict[str, bytes]) -> dict[str, bytes]:
    """Return a bundle of seed 0 whose file says that it is of seed 1."""
    listed = json.loads(files["bundle.json"])
    listed["manifest"]["episodes_seed1.jsonl"] = listed["manifest"].pop("episodes_seed0.jsonl")
    content = files.pop("episodes_seed0.jsonl")
    return with_sums(files | {"episodes_seed1.jsonl": content, "bundle.json": json.dumps(listed).encode()})


def with_empty_seed(files: dict[str, bytes]) -> dict[str, bytes]:
    """Return a bundle with a file without an episode, which its list knows."""
    listed = json.loads(files["bundle.json"])
    listed["manifest"]["episodes_seed0.jsonl"] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    return with_sums(files | {"episodes_seed0.jsonl": b"", "bundle.json": json.dumps(listed).encode()})


def lacking(name: str) -> dict[str, bytes]:
    """Return a bundle without one of its files."""
    return {key: content for key, content in bundle().items() if key != name}


def claiming(value: bytes) -> dict[str, bytes]:
    """Return a bundle that claims this mean."""
    files = bundle(summary={"success_mean": 0.123})
    files["bundle.json"] = files["bundle.json"].replace(b"0.123", value)
    return with_sums(files)


ADDED = {"episodes_seed9.jsonl": lines([episode(9, 0)])}
BUNDLES: dict[str, tuple[dict[str, bytes], list[str]]] = {
    "a changed file, by the list and by the sums": (
        bundle() | {"episodes_seed0.jsonl": lines([episode(0, at, success=True) for at in range(4)])},
        ["the SHA-256 of this file is"] * 2),
    "a missing file": (lacking("episodes_seed4.jsonl"), ["the listed file episodes_seed4.jsonl was not sent", ""]),
    "an added seed": (
        with_sums(bundle() | ADDED), ["bundle.json does not list this file, so nothing vouches for it"]),
    "no sums, which cover bundle.json itself": (
        lacking("SHA256SUMS.txt"), ["the bundle has no SHA256SUMS.txt"]),
    "another version": (bundle(schema_version=4), ["unknown schema_version; known is 3"]),
    "an empty seed": (with_empty_seed(bundle()), ["the file is empty"]),
    "a file of another seed than its name says": (of_seed_1(bundle([episode(0, 0)])), ["the file is of seed 1"]),
    "episodes in another place": (
        bundle() | {f"more/{name}": content for name, content in ADDED.items()},
        ["the episodes of a bundle must be in episodes_seed<N>.jsonl beside bundle.json"]),
    "declared seeds that are no whole numbers": (
        bundle(seed_schedule={"seeds": [0, "1", 2.0]}), ["a seed is a whole number"] * 2),
    **{f"a claim of {value.decode()[:9]}": (claiming(value), ["expected a finite number or null"])
       for value in (b"1e999", b"NaN", b"true", b'"0.5"', b"1" + b"0" * 400)},
    **{f"dirty as {dirty!r}": (bundle(dirty=dirty), ["expected true or false, or no such key"])
       for dirty in ("true", 1, "no")},
    **{f"a success of {success}, which could be a failure": (
        bundle([episode(0, 0, success=success), *episodes()[1:]]), ["expected true or false, not a number"])
       for success in (0.5, 1)},
}  # fmt: skip


@pytest.mark.parametrize("name", BUNDLES)
def test_a_bundle_that_does_not_hold_together_is_refused(tmp_path: Path, name: str) -> None:
    """Hashes, versions, seeds by file, and what it says of itself: each problem in its words."""
    files, said = BUNDLES[name]
    actual = [problem.message for problem in problems(tmp_path, {"run.zip": zipped(files)}, manifest())]

    assert len(actual) == len(said)
    assert [words for words, message in zip(said, actual, strict=True) if words not in message] == []


def test_a_file_that_was_not_sent_is_missing_where_it_is_listed(tmp_path: Path) -> None:
    """In the description and in the sums, each named."""
    actual = problems(tmp_path, {"run.zip": zipped(lacking("episodes_seed4.jsonl"))}, manifest())

    assert [str(problem.file).rpartition("/")[2] for problem in actual] == ["bundle.json", "SHA256SUMS.txt"]


def test_a_zipped_bundle_is_read_with_its_facts(tmp_path: Path) -> None:
    """The policy is the entrant and a warning says so; without a zip the files are one bundle too."""
    evidence = read(tmp_path, {"run.zip": zipped(bundle())}, manifest())
    (facts,) = evidence.facts.bundles
    plain = read(tmp_path, bundle(), manifest())

    assert (len(evidence.scores), evidence.scores.entrant.words) == (40, ("mover",))
    assert (facts.seeds, facts.dirty, facts.prereg_blob_sha1) == ((0, 1, 2, 3, 4), False, git_blob_sha1(PREREG))
    assert [(warning.column, warning.value) for warning in evidence.warnings] == [("policy_id", "mover")]
    assert (len(plain.scores), len(plain.facts.bundles)) == (40, 1)


def test_several_bundles_may_come_for_one_entrant_also_within_each_other(tmp_path: Path) -> None:
    """A jointly trained pair ships one for each seed; in folders the nearest bundle.json counts, in any order."""
    files = {f"{seed}.zip": zipped(bundle(episodes([seed], members=["own"])), f"seed{seed}") for seed in range(5)}
    evidence = read(tmp_path, files, manifest(), "joint")
    outer = {f"all/{name}": content for name, content in bundle(episodes(members=["left"])).items()}
    inner = {f"all/b/{name}": content for name, content in bundle(episodes(members=["right"])).items()}
    nested = read(tmp_path, {"run.zip": zipped(outer | inner)}, manifest(), "mover")

    assert [facts.seeds for facts in evidence.facts.bundles] == [(0,), (1,), (2,), (3,), (4,)]
    assert evidence.scores.entrant.words == ("joint",)
    assert (len(nested.scores), len(nested.facts.bundles)) == (40, 2)


def test_a_spike_run_is_read_with_its_facts(tmp_path: Path) -> None:
    """The axis is the task; tag, blob and seeds are kept as the file says them, also a seed that is listed twice. A
    tag with a null character, half a letter or no end is made printable.
    """
    evidence = read(tmp_path, {"run.json": run()}, manifest(), "mover")
    (facts,) = evidence.facts.bundles
    odd = run(seeds=[0, 0], git_tag="a\x00\ud800" + "b" * 5000)
    (silent,) = read(tmp_path, {"run.json": run(seeds=None)}, manifest(), "mover").facts.bundles
    (others,) = read(tmp_path, {"run.json": odd}, manifest(), "mover").facts.bundles

    assert (len(evidence.scores), evidence.scores.task.words) == (2, ("place",))
    assert (facts.task, facts.git_tag, facts.cited_blob_sha1, facts.seeds) == ("place", "prereg-1", "a" * 40, (0, 1))
    assert not silent.seeds
    assert others.seeds == (0, 0)
    assert others.git_tag is not None
    assert others.git_tag.startswith(r"a\x00\xd800b")
    assert (others.git_tag.isprintable(), len(others.git_tag)) == (True, 201)


# What CHAMBER published.


def leaves(value: Any) -> Iterator[str]:
    """Yield the numbers and texts of a document as a page says them; a list of numbers as one."""
    if isinstance(value, dict):
        for inner in value.values():
            yield from leaves(inner)
    elif isinstance(value, bool):
        yield {True: "yes", False: "no"}[value]
    else:
        yield ", ".join(map(str, value)) if isinstance(value, list) else str(value)


@pytest.mark.parametrize(
    ("example", "name", "n_rows", "success_mean"),
    [
        ("handover", "REF-SCRIPT", 500, 0.338),
        ("handover", "B-STAT", 500, 0.274),
        ("cocarry", "B-STAT", 1750, 0.496),
        ("cocarry", "B-RND-pilot", 350, 0.0),
    ],
)
def test_a_published_bundle_gives_its_published_success_and_hides_nothing(
    tmp_path: Path, example: str, name: str, n_rows: int, success_mean: float
) -> None:
    """Row for row; commit, policy, partners, package, platform, command, schedule and registration: each value is there
    but claims, which have a check of their own, and hashes of files, which are checked as they are read.
    """
    content = (EXAMPLES / f"chamber-{example}" / "results" / f"{name}.zip").read_bytes()
    evidence = read(tmp_path, {f"{name}.zip": content}, declared_by(example), name)
    (facts,) = evidence.facts.bundles
    with zipfile.ZipFile(tmp_path / "upload0") as opened:
        (path,) = [path for path in opened.namelist() if path.endswith("bundle.json")]
        document = json.loads(opened.read(path))
    document["seed_schedule"].pop("substream_labels", None)
    stated = {key: value for key, value in document.items() if key not in ("summary", "manifest")}

    assert len(evidence.scores) == n_rows
    assert evidence.scores.value("success").mean() == pytest.approx(success_mean, abs=1e-12)
    assert set(leaves(stated)) <= set(facts.identity.values())
    assert {f"partner {name}" for name in document["partner_hashes"]} <= set(facts.identity)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_real_bundles_of_a_jointly_trained_pair_are_read(tmp_path: Path, seed: int) -> None:
    """Their episodes name a partner, those of the other rows a member; the shipped manifest takes both."""
    declared = declared_by("cocarry")
    sent = {path.name: path.read_bytes() for path in (DATA / "bundles" / f"b-joint-seed{seed}").iterdir()}
    evidence = read(tmp_path, sent, declared, "B-JOINT")
    (claimed,) = kind_of(declared).own_claims(SubmissionClaims(declared, evidence.scores, evidence.facts, None))

    assert evidence.scores.condition is not None
    assert (evidence.scores.condition.words, len(evidence.scores)) == (("frozen_cocarry_joint",), 50)
    assert claimed.reason == "Every claimed summary comes out of the episodes, to the last digit."


def test_the_published_spike_has_its_gap_and_hides_nothing(tmp_path: Path) -> None:
    """100 episodes in each condition, 20 a seed; the homogeneous pair does worse by 11 points."""
    (file,) = (EXAMPLES / "chamber-as" / "results").iterdir()
    evidence = read(tmp_path, {file.name: file.read_bytes()}, declared_by("as"), "policy")
    scores, (facts,) = evidence.scores, evidence.facts.bundles
    document = json.loads(gzip.decompress(file.read_bytes()))
    assert scores.condition is not None
    assert scores.seed is not None
    first = scores.condition.words.index("stage1_pickplace_panda_only_mappo_shared_param")
    homogeneous = scores.condition.codes == first
    success = scores.value("success")

    assert [np.bincount(scores.seed[rows]).tolist() for rows in (homogeneous, ~homogeneous)] == [[20] * 5, [20] * 5]
    assert success[homogeneous].mean() - success[~homogeneous].mean() == pytest.approx(-0.11, abs=1e-12)
    assert set(leaves({k: v for k, v in document.items() if k != "episode_results"})) == set(facts.identity.values())
