"""Results of the Hugging Face Hub, as huggingface_hub's own types write them, and what is wrong with others."""

from pathlib import Path

import pytest
import yaml
from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml
from huggingface_hub.repocard_data import EvalResult, ModelCardData

from app.errors import EvidenceRejected
from tests.cases.harnesses import SUMMARY, read, rows_of, written

ENTRIES = [
    EvalResultEntry(dataset_id="cais/hle", task_id="default", value=20.9, date="2026-01-15T10:30:00Z",
                    notes="no-tools"),
    EvalResultEntry(dataset_id="Idavidrein/gpqa", task_id="gpqa_diamond", value=0.412, dataset_revision="5503434",
                    source_url="https://example.com/logs", source_name="Logs"),
]  # fmt: skip


def results_file(folder: Path) -> Path:
    """Return `.eval_results` as huggingface_hub writes it."""
    path = folder / "results.yaml"
    path.write_text(yaml.dump(eval_result_entries_to_yaml(ENTRIES)))
    return path


def card_file(folder: Path) -> Path:
    """Return a model card as huggingface_hub writes it, with two metrics of one data set."""
    results = [
        EvalResult(task_type="text-classification", dataset_type="imdb", dataset_name="IMDb", metric_type="accuracy",
                   metric_value=0.9, dataset_split="test"),
        EvalResult(task_type="text-classification", dataset_type="imdb", dataset_name="IMDb", metric_type="f1",
                   metric_value=0.8, dataset_split="test"),
        EvalResult(task_type="text-classification", dataset_type="glue", dataset_name="GLUE", dataset_config="sst2",
                   metric_type="accuracy", metric_value=0.7),
    ]  # fmt: skip
    data = ModelCardData(model_name="org/model", eval_results=results, license="mit")
    path = folder / "README.md"
    path.write_text(f"---\n{data.to_yaml()}\n---\n\n# A model\n")
    return path


def test_evaluation_results_are_a_summary_of_their_tasks(tmp_path: Path) -> None:
    """The task is the data set with its task, without one that is the default; what is stated is kept."""
    rows, run = rows_of([results_file(tmp_path)], tmp_path, "summary")

    assert [(row.entrant, row.task, row.scores) for row in rows] == [
        (None, "cais/hle", {"value": 20.9}),
        (None, "Idavidrein/gpqa/gpqa_diamond", {"value": 0.412}),
    ]
    assert ("dataset.revision", "Idavidrein/gpqa/gpqa_diamond", "5503434") in run.stated
    assert ("source.url", "Idavidrein/gpqa/gpqa_diamond", "https://example.com/logs") in run.stated
    assert ("notes", "cais/hle", "no-tools") in run.stated


def test_a_model_card_is_a_summary_of_its_data_sets(tmp_path: Path) -> None:
    """The metrics of one data set are one row, and the card names its model."""
    rows, run = rows_of([card_file(tmp_path)], tmp_path, "summary")

    assert [(row.entrant, row.task, row.scores) for row in rows] == [
        ("org/model", "imdb", {"accuracy": 0.9, "f1": 0.8}),
        ("org/model", "glue/sst2", {"accuracy": 0.7}),
    ]
    assert not run.findings.n_problems


@pytest.mark.parametrize(("created", "column", "n_rows"), [(results_file, "value", 2), (card_file, "accuracy", 2)])
def test_a_benchmark_takes_them_as_they_are(tmp_path: Path, created: object, column: str, n_rows: int) -> None:
    """The entrant of the form stands for a repository that names nobody."""
    evidence = read([created(tmp_path)], SUMMARY.format(column=column), "org/model")  # type: ignore[operator]

    assert (len(evidence.scores), evidence.scores.entrant.words) == (n_rows, ("org/model",))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"- dataset: {id: a/b, task_id: c}\n", "has no value"),
        (b"- dataset: {task_id: c}\n  value: 1\n", "has no dataset.id"),
        (b"dataset: {id: a/b, task_id: c}\nvalue: 1\n", "expected a list"),
        (b"- dataset: {id: a/b, task_id: c}\n  value: [1\n", "line"),
        (b"- dataset: {id: a/b, task_id: c}\n  value: 1\n  value: 2\n", "twice"),
    ],
)
def test_what_is_wrong_with_a_result_is_named(tmp_path: Path, content: bytes, words: str) -> None:
    """Missing keys, another form, broken and repeated YAML: with the file."""
    _, run = rows_of(written(tmp_path, {"r.yaml": content}), tmp_path, "summary")
    reported = [f"{problem.file} {problem.row and 'line'} {problem.message}" for problem in run.findings.kept]

    assert any(words in each for each in reported), reported


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("r.yaml", b"- dataset: {id: a/b, task_id: c}\n  value: .inf\n"),
        ("README.md", b"---\nmodel-index:\n- name: m\n"),
        ("other.md", b"# text\n"),
        ("a.yml", b"a: 1\n"),
    ],
)
def test_a_file_without_results_is_refused(tmp_path: Path, name: str, content: bytes) -> None:
    """A value that is no score, a card that is not closed, a text, and YAML of something else."""
    with pytest.raises(EvidenceRejected) as refused:
        read(written(tmp_path, {name: content}), SUMMARY.format(column="value"), "m")

    assert refused.value.problems[0].file == name


def test_results_of_other_benchmarks_in_a_card_are_none_of_its_rows(tmp_path: Path) -> None:
    """A card has what its model was ever measured on; a benchmark takes the rows that have its metric."""
    scores = read([card_file(tmp_path)], SUMMARY.format(column="f1")).scores

    assert scores.task.words == ("imdb",)
