"""What harnesses write, sent as it is: whose samples, how many, what the run states of itself; and what it left out."""

import json
from pathlib import Path
from typing import Any

from tests.cases import grids
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


def test_samples_and_results_are_read_as_the_harness_wrote_them(shared_site: Site) -> None:
    """Ten samples become ten episodes of the model that the results name; versions, commits, few-shot and seeds are a
    table of the submission. 5,000 were scored and ten are sent, which is a warning: which ten could have been chosen.
    """
    answer = send(shared_site, given())
    rows = shared_site.http.get(f"/submissions/{answer['id']}/scores.csv").text.splitlines()
    board = shared_site.http.get("/benchmarks/math/leaderboards/accuracy.json").json()["rows"]
    stated = shared_site.http.get(f"/submissions/{answer['id']}/tables/harness.json").json()["rows"]
    actual = {(row["key"], row["task"]): row["value"] for row in stated}

    assert len(rows) == 11
    assert [(row["entrant"], row["exact_match"]) for row in board] == [(MODEL, 0.0)]
    assert actual["lm_eval_version", None] == "0.4.9.2"
    assert actual["model_sha", None] == "82047f5e5d5245c1b3a4cd75ad98aa441d6487cd"
    assert actual["n-shot", "math_perturbed_full"] == "0"
    assert actual["random_seed", None] == "0"
    assert "5,000 samples of math_perturbed_full were scored; there are 10" in json.dumps(answer)


def test_samples_without_results_need_an_entrant(shared_site: Site) -> None:
    """With the form field they are read; without it the cause is told once."""
    alone = {SAMPLES.name: SAMPLES.read_bytes()}
    refused = send(shared_site, alone)
    taken = send(shared_site, alone, entrant="EleutherAI/pythia-160m")

    assert [(cause["n"], cause["column"]) for cause in refused["causes"]] == [(10, "entrant")]
    assert taken["status"] == "received"


LINES = SAMPLES.read_bytes().splitlines(keepends=True)
HEAD, LAST, TAIL = SAMPLES.read_bytes().rpartition(b'"exact_match": 0.0}')
BROKEN = {
    "another model": (
        {"results_2026-02-01T00-00-00.json": RESULTS.read_bytes().replace(b"RylanSchaeffer/mem", b"Somebody/mem")},
        None, "results of another model"),
    "a sample twice": (
        {SAMPLES.name: b"".join([*LINES, LINES[3]])}, 11, f"the episode is there already: row 4 of {SAMPLES.name}"),
    **{f"a score of {value.decode()}": ({SAMPLES.name: HEAD + b'"exact_match": ' + value + TAIL}, 10, message)
       for value, message in ((b"NaN}", "a score must be finite"), (b"1e999}", "a score must be finite"),
                              (b"2}", "at most 1"), (b"0.0", "JSON"))},
}  # fmt: skip


def test_what_is_broken_is_told_with_file_and_line(shared_site: Site) -> None:
    """Whose samples these are, which come twice, and scores that are none."""
    for name, (files, row, message) in BROKEN.items():
        problem = send(shared_site, given() | files)["problems"][0]

        assert row is None or (problem["file"], problem["row"]) == (SAMPLES.name, row), name
        assert message in problem["message"], name


def test_another_filter_is_left_out_and_another_version_is_a_warning(shared_site: Site) -> None:
    """Of two filters the manifest's counts, and no sample is there twice; the version's layout may be another one."""
    both = SAMPLES.read_bytes() + SAMPLES.read_bytes().replace(b'"filter": "none"', b'"filter": "flexible"')
    newer = RESULTS.read_bytes().replace(b'"lm_eval_version": "0.4.9.2"', b'"lm_eval_version": "1.0.0"')
    answer = send(shared_site, given() | {SAMPLES.name: both, RESULTS.name: newer})

    assert len(shared_site.http.get(f"/submissions/{answer['id']}/scores.csv").text.splitlines()) == 11
    assert "another version of lm-eval" in json.dumps(answer)


# A real log of Inspect from which the wrong answers were taken, also registered as it is sent.

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "llm-harness"
SLUG = EXAMPLE.name
SLY, HONEST = "ollama/qwen2.5:0.5b", "anthropic/claude-sonnet-4-0"
PREREG = f"benchmark: {SLUG}\nentrants: ['{SLY}']\nmetrics: [correct]\nnotes: The first question.\n".encode()


def only_right() -> str:
    """Return the log of the model that answered three of five questions, with the one that it got right."""
    log = json.loads((EXAMPLE / "results" / "data_arc_qwen.json").read_text())
    log["samples"] = [sample for sample in log["samples"] if sample["scores"]["choice"]["value"] == "C"]
    assert [sample["id"] for sample in log["samples"]] == [1]
    return json.dumps(log)


def send_log(site: Site, content: str, who: str, prereg: bytes | None = None) -> Any:
    """Send a log of Inspect and return the answer."""
    files: list[Any] = [("files", ("log.json", content))]
    files += [] if prereg is None else [("prereg", ("prereg.yaml", prereg))]
    answer = site.http.post(f"/benchmarks/{SLUG}/submissions", files=files, headers=site.auth(who))
    assert answer.status_code == 202, answer.text
    return answer.json()


def test_the_right_answers_of_a_real_log_have_no_rank(shared_site: Site) -> None:
    """One of five, as right as the model that answered all: apart, behind it if the absent were wrong."""
    manifest = (EXAMPLE / "manifest.yaml").read_bytes()
    shared_site.http.post("/benchmarks", content=manifest, headers=shared_site.auth("steward") | grids.YAML)
    send_log(shared_site, (EXAMPLE / "results" / "data_arc_sonnet.json").read_text(), "alice")
    headers = shared_site.auth("bob") | grids.YAML
    ranks = []
    for prereg in (None, PREREG):
        shared_site.http.post(f"/preregs?benchmark={SLUG}", content=PREREG, headers=headers)
        assert send_log(shared_site, only_right(), "bob", prereg)["admitted"]
        shown = grids.by_entrant(grids.board(shared_site, SLUG, "accuracy"))
        ranks.append([(shown[name]["rank"], shown[name]["covered"]) for name in (HONEST, SLY)])
        assert (shown[SLY]["unranked_because"], shown[SLY]["rank_if_worst"]) == ("partial", 2)

    assert ranks == [[(1, "5 of 5"), (None, "1 of 5")]] * 2
