"""Every given sample of a harness is read, unchanged: whose it is, which task, which items, which scores."""

import csv
import json
from pathlib import Path

import pytest

from tests.cases.drafts import MTEB as MTEB_TABLE
from tests.cases.harnesses import ITEMS, LM_EVAL, MTEB_RESULTS, SAMPLES, SUMMARY, read, rows_of, zipped

HELM_RUN = "mmlu-subject=philosophy,method=multiple_choice_joint,model=openai_gpt2"
EEE_AGGREGATE = "98ea850e-7019-4728-a558-8b1819ec47c2.json"


def test_lm_eval_samples_are_items_of_the_model_that_the_results_name(tmp_path: Path) -> None:
    """Ten samples of one task, with the metric's filter in its name. What is odd about the run stands with what it
    states: whoever reads the submission later is told too that most samples are not there.
    """
    rows, run = rows_of(sorted(LM_EVAL.glob("*_*.json*")), tmp_path)
    table = run.table("lm-eval")

    assert (len(rows), {row.task for row in rows}) == (10, {"math_perturbed_full"})
    assert {name for row in rows for name in row.scores} == {"exact_match,none"}
    assert run.directions == {"exact_match": "maximize"}
    assert table is not None
    assert table.notes == ("The results say that 5,000 samples of math_perturbed_full were scored; there are 10.",)


def test_lm_eval_results_are_a_summary_of_their_tasks(tmp_path: Path) -> None:
    """Standard errors are no metrics."""
    rows, _ = rows_of(sorted(LM_EVAL.glob("results_*.json")), tmp_path, "summary")

    assert {row.task: row.scores for row in rows} == {
        "math_perturbed_full": {"exact_match,none": 0.0},
        "math_rephrased_full": {"exact_match,none": 0.0004},
    }


def test_inspect_logs_are_items_of_their_models(tmp_path: Path) -> None:
    """Letters count as Inspect counts them: C is 1, I is 0."""
    rows, run = rows_of(sorted((SAMPLES / "inspect").glob("*.json")), tmp_path)
    by_model: dict[str | None, list[float]] = {}
    for row in rows:
        by_model.setdefault(row.entrant, []).append(row.scores["choice"])

    assert {model: len(scores) for model, scores in by_model.items()} == {
        "ollama/qwen2.5:0.5b": 3,
        "anthropic/claude-sonnet-4-0": 5,
        "openai/azure/gpt-4o-mini": 2,
    }
    assert {score for scores in by_model.values() for score in scores} <= {0.0, 1.0}
    assert not run.findings.n_problems


def test_an_eval_log_has_the_rows_of_the_same_log_as_json(tmp_path: Path) -> None:
    """One is a zip packed with Zstandard, written by inspect_ai itself of the other."""
    packed, plain = (rows_of([SAMPLES / "inspect" / f"data_arc_sonnet.{end}"], tmp_path)[0] for end in ("eval", "json"))

    assert [(r.entrant, r.task, r.item, r.seed, r.scores) for r in packed] == [
        (r.entrant, r.task, r.item, r.seed, r.scores) for r in plain
    ]


@pytest.mark.parametrize(("level", "n_rows"), [("items", 25), ("summary", 3)])
def test_helm_runs_are_read_at_both_levels(tmp_path: Path, level: str, n_rows: int) -> None:
    """The model stands in the run's specification, the task is its name without the model."""
    rows, run = rows_of([zipped(SAMPLES / "helm", tmp_path / "helm.zip")], tmp_path, level)

    assert (len(rows), run.findings.n_problems) == (n_rows, 0)
    assert {row.entrant for row in rows} == {"openai/gpt2", "eleutherai/pythia-1b-v0"}
    assert "mmlu:subject=philosophy,method=multiple_choice_joint" in {row.task for row in rows}


def test_perturbed_statistics_of_helm_are_left_out(tmp_path: Path) -> None:
    """They answer another question than the plain ones, under the same name."""
    rows, _ = rows_of([zipped(SAMPLES / "helm" / HELM_RUN, tmp_path / "run.zip")], tmp_path, "summary")

    assert (rows[0].scores["exact_match"], rows[0].scores["exact_match@valid"]) == (0.1111111111111111, 0.0)


def test_an_aggregate_of_every_eval_ever_is_a_summary(tmp_path: Path) -> None:
    """Its evaluations are tasks, each with one score."""
    rows, run = rows_of([SAMPLES / "every_eval_ever" / EEE_AGGREGATE], tmp_path, "summary")

    assert {row.entrant for row in rows} == {"TencentARC/LLaMA-Pro-8B-Instruct"}
    assert (len(rows), rows[0].task, rows[0].scores) == (6, "IFEval", {"score": 0.4486})
    assert run.directions == {"score": "maximize"}


def test_metrics_of_one_evaluation_are_one_row(tmp_path: Path) -> None:
    """As a board with several scores is exported; a metric that comes twice stays a row, which is refused as one."""

    def result(metric: str, score: float) -> dict[str, object]:
        config = {"metric_id": metric, "lower_is_better": False}
        return {"evaluation_name": "B", "metric_config": config, "score_details": {"score": score}}

    document = {"schema_version": "0.3.0", "evaluation_id": "b/m/1", "model_info": {"id": "m"},
                "evaluation_results": [result("acc", 0.5), result("f1", 0.25), result("acc", 0.75)]}  # fmt: skip
    path = tmp_path / "m.json"
    path.write_text(json.dumps(document))
    rows, _ = rows_of([path], tmp_path, "summary")

    assert [(row.task, row.scores) for row in rows] == [("B", {"acc": 0.5, "f1": 0.25}), ("B", {"acc": 0.75})]


def test_instances_of_every_eval_ever_are_items(tmp_path: Path) -> None:
    """They name their model themselves."""
    rows, _ = rows_of(sorted((SAMPLES / "every_eval_ever").rglob("*_samples.jsonl")), tmp_path)

    assert [(r.entrant, r.task, r.item, r.scores) for r in rows] == [
        ("demo-org/demo-model", "demo-source.demo_bench", "demo_0001", {"score": 1.0, "is_correct": True})
    ]


@pytest.mark.heavy
def test_mteb_results_give_the_main_scores_of_its_leaderboard(tmp_path: Path) -> None:
    """300 files of ten models, two with parameters in their names, against the table of MTEB(eng, v2)."""
    rows, run = rows_of([MTEB_RESULTS], tmp_path, "summary")
    with MTEB_TABLE.open() as table:
        expected = {(row["model"], row["task"]): float(row["main_score"]) for row in csv.DictReader(table)}

    assert (len(rows), run.findings.n_problems) == (300, 0)
    for row in rows:
        # The table took the names of these two models from their folders, which have no spaces.
        name = str(row.entrant).replace(" ", "_")
        assert row.scores["main_score@eng"] == pytest.approx(expected[name, row.task], abs=1e-12)


@pytest.mark.parametrize(
    ("sample", "column", "n_rows"),
    [("inspect", "choice", 10), ("helm", "exact_match", 25), ("every_eval_ever/data", "score", 1)],
)
def test_a_benchmark_of_items_takes_them(tmp_path: Path, sample: str, column: str, n_rows: int) -> None:
    """As the evidence of a submission, with what the run states kept beside it."""
    path = zipped(SAMPLES / sample, tmp_path / "run.zip", "*.json*")
    evidence = read([path], ITEMS.format(column=column, seed="null"))

    assert len(evidence.scores) == n_rows
    assert [table.name for table in evidence.attachments] == ["harness"]


@pytest.mark.parametrize(
    ("paths", "column", "asked", "answered"),
    [
        ([SAMPLES / "inspect" / "data_arc_qwen.json"], "choice", "A) Sunlight is the source of energy", "A"),
        (sorted(LM_EVAL.glob("*_*.json*")), "exact_match,none", "How many vertical asymptotes", " "),
    ],
    ids=["inspect", "lm_eval"],
)
def test_what_was_asked_expected_and_answered_is_kept_where_the_manifest_asks_for_it(
    paths: list[Path], column: str, asked: str, answered: str
) -> None:
    """As texts beside the scores, of 2,000 characters at most; none of it where nothing is asked for."""
    manifest = ITEMS.format(column=column, seed="null")
    recorded = manifest.replace("item: [item]", "item: [item], recorded: [input, target, answer, nowhere]")
    assert recorded != manifest
    kept = read(paths, recorded).scores.recorded

    assert not read(paths, manifest).scores.recorded
    assert list(kept) == ["input", "target", "answer", "nowhere"]
    assert asked in (kept["input"].at(0) or "")
    assert kept["target"].at(0)
    assert answered in (kept["answer"].at(0) or "")
    assert kept["nowhere"].words == ()
    assert all(len(text) <= 2_000 for coded in kept.values() for text in coded.words)


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("paths", "column", "n_rows"),
    [
        ([MTEB_RESULTS], "main_score@eng", 300),
        ([SAMPLES / "every_eval_ever" / EEE_AGGREGATE], "score", 6),
        ([SAMPLES / "inspect" / "data_arc_sonnet.json"], "choice/accuracy", 1),
    ],
    ids=["mteb", "every-eval-ever", "inspect"],
)
def test_a_benchmark_of_summaries_takes_them(paths: list[Path], column: str, n_rows: int) -> None:
    """A row for each entrant and task, the metric read from the harness's own name."""
    assert len(read(paths, SUMMARY.format(column=column)).scores) == n_rows


def test_the_schemas_beside_every_eval_ever_are_ignored(tmp_path: Path) -> None:
    """They lie in the folder of the results, which is sent as it is."""
    sent = zipped(SAMPLES / "every_eval_ever", tmp_path / "eee.zip")
    evidence = read([sent], ITEMS.format(column="score", seed="null"))

    assert len(evidence.scores)
    assert [warning.file for warning in evidence.warnings if "schema of Every Eval Ever" in warning.message] == [
        "eee.zip/eval.schema.json",
        "eee.zip/instance_level_eval.schema.json",
    ]
