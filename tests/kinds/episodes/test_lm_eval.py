"""What lm-evaluation-harness writes, sent as it is: whose samples, how many, and what the run states of itself."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures import Site

FOLDER = Path(__file__).parents[2] / "data" / "lm_eval"
RESULTS = next(FOLDER.glob("results_*.json"))
SAMPLES = next(FOLDER.glob("samples_*.jsonl"))
MODEL = "RylanSchaeffer/mem_Qwen3-93M_minerva_math_rep_0_sbst_1.0000_epch_1_ot_1"
MANIFEST = """\
schema_version: 1
slug: math
title: Math
evidence: episodes
episodes: {item: [doc_id], condition: null}
metrics:
  exact_match: {direction: maximize, min: 0, max: 1, from: "exact_match,none"}
tasks: [{id: math_perturbed_full}]
leaderboards:
  - {name: accuracy, method: estimate, metrics: [exact_match], statistic: mean, uncertainty: {n_resamples: 100}}
"""


def send(site: Site, files: dict[str, bytes], **fields: str) -> dict[str, Any]:
    """Make the benchmark and send files; return the answer, or the submission's document where it is stored."""
    site.http.post("/benchmarks", content=MANIFEST, headers=site.auth("steward"))
    answer = site.http.post("/benchmarks/math/submissions", files=[("files", item) for item in files.items()],
                            data=fields, headers=site.auth())  # fmt: skip
    site.work()
    document: dict[str, Any] = answer.json()
    return document


def given() -> dict[str, bytes]:
    """Return the harness's own files under their own names."""
    return {path.name: path.read_bytes() for path in (SAMPLES, RESULTS)}


def test_samples_and_results_are_read_as_the_harness_wrote_them(roomy_site: Site) -> None:
    """Ten samples become ten episodes of the model that the results name."""
    number = send(roomy_site, given())["id"]
    rows = roomy_site.http.get(f"/submissions/{number}/scores.csv").text.splitlines()
    board = roomy_site.http.get("/benchmarks/math/leaderboards/accuracy.json").json()["rows"]

    assert len(rows) == 11
    assert [(row["entrant"], row["exact_match"]) for row in board] == [(MODEL, 0.0)]


def test_what_the_run_states_is_kept_and_shown(roomy_site: Site) -> None:
    """Versions, commits, few-shot and seeds, as a table of the submission."""
    number = send(roomy_site, given())["id"]
    stated = roomy_site.http.get(f"/submissions/{number}/tables/harness.json").json()["rows"]
    actual = {(row["key"], row["task"]): row["value"] for row in stated}

    assert actual["lm_eval_version", None] == "0.4.9.2"
    assert actual["model_sha", None] == "82047f5e5d5245c1b3a4cd75ad98aa441d6487cd"
    assert actual["n-shot", "math_perturbed_full"] == "0"
    assert actual["random_seed", None] == "0"


def test_fewer_samples_than_the_results_say_is_a_warning(roomy_site: Site) -> None:
    """5,000 were scored and ten are sent: which ten could have been chosen."""
    answer = send(roomy_site, given())

    assert "5,000 samples of math_perturbed_full were scored; there are 10" in json.dumps(answer)


def test_samples_without_results_need_an_entrant(roomy_site: Site) -> None:
    """With the form field they are read; without it the cause is told once."""
    alone = {SAMPLES.name: SAMPLES.read_bytes()}
    refused = send(roomy_site, alone)
    taken = send(roomy_site, alone, entrant="EleutherAI/pythia-160m")

    assert [(cause["n"], cause["column"]) for cause in refused["causes"]] == [(10, "entrant")]
    assert taken["status"] == "received"


def test_results_of_two_models_are_refused(roomy_site: Site) -> None:
    """Nobody could say whose samples these are."""
    other = RESULTS.read_bytes().replace(b"RylanSchaeffer/mem", b"Somebody/mem")
    answer = send(roomy_site, given() | {"results_2026-02-01T00-00-00.json": other})

    assert "results of another model" in answer["problems"][0]["message"]


def test_a_sample_that_is_there_twice_is_refused(roomy_site: Site) -> None:
    """With the row of the first."""
    lines = SAMPLES.read_bytes().splitlines(keepends=True)
    answer = send(roomy_site, given() | {SAMPLES.name: b"".join([*lines, lines[3]])})

    assert (answer["problems"][0]["row"], answer["problems"][0]["message"]) == (
        11, f"the episode is there already: row 4 of {SAMPLES.name}",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("find", "put", "message"),
    [
        (b'"exact_match": 0.0}', b'"exact_match": NaN}', "a score must be finite"),
        (b'"exact_match": 0.0}', b'"exact_match": 1e999}', "a score must be finite"),
        (b'"exact_match": 0.0}', b'"exact_match": 2}', "at most 1"),
        (b'"exact_match": 0.0}', b'"exact_match": 0.0', "JSON"),
    ],
    ids=["nan", "infinite", "too large", "truncated"],
)
def test_a_broken_sample_is_told_with_file_and_line(roomy_site: Site, find: bytes, put: bytes, message: str) -> None:
    """The last line is broken."""
    head, actual, tail = SAMPLES.read_bytes().rpartition(find)
    assert actual
    problem = send(roomy_site, given() | {SAMPLES.name: head + put + tail})["problems"][0]

    assert (problem["file"], problem["row"]) == (SAMPLES.name, 10)
    assert message in problem["message"]


def test_another_filter_is_left_out(roomy_site: Site) -> None:
    """Of two filters the manifest's counts, and no sample is there twice."""
    line = SAMPLES.read_bytes()
    flexible = line.replace(b'"filter": "none"', b'"filter": "flexible"')
    number = send(roomy_site, given() | {SAMPLES.name: line + flexible})["id"]

    assert len(roomy_site.http.get(f"/submissions/{number}/scores.csv").text.splitlines()) == 11


def test_another_version_is_a_warning(roomy_site: Site) -> None:
    """Its layout may be another one; the version is named."""
    newer = RESULTS.read_bytes().replace(b'"lm_eval_version": "0.4.9.2"', b'"lm_eval_version": "1.0.0"')
    answer = send(roomy_site, given() | {RESULTS.name: newer})

    assert "another version of lm-eval" in json.dumps(answer)
