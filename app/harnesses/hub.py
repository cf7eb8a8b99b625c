"""The results in a model's repository on the Hugging Face Hub: `.eval_results/*.yaml`, and `model-index` of its card.

Found by its entry point. An entry of `.eval_results` has one value of one task of a benchmark's repository; whose
it is says the repository, so the form names the entrant. `model-index` is at the head of `README.md` and names its
model; the metrics of one data set are one row.
Source of the layouts: huggingface_hub 2.4, `_eval_results.py` and `repocard_data.py`.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from app.errors import Rejected
from app.files.uploads import ReceivedFile
from app.harnesses.contract import Harness, HarnessRun, Row, begins_with, listed, mapping, number, text_of
from app.yaml import read_yaml

CARD = "README.md"
YAML_SUFFIXES = (".yaml", ".yml")
MAX_BYTES = 1024 * 1024
VALUE, DEFAULT = "value", "default"
HEAD = re.compile(rb"\A\s*---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)


def owns(file: ReceivedFile) -> bool:
    """Say whether a file is a list of evaluation results, or a model card that has some."""
    if PurePosixPath(file.name).name == CARD:
        return begins_with(file, r"(?m)^model-index\s*:")
    return file.suffix in YAML_SUFFIXES and begins_with(file, r"(?m)^\s*-?\s*dataset\s*:", r"task_id\s*:")


def summary(run: HarnessRun) -> Iterator[Row]:
    """Yield a row for each task of each file."""
    for file in run.files:
        is_card = PurePosixPath(file.name).name == CARD
        document = _document(run, file, is_card=is_card)
        if document is not None:
            yield from _of_card(run, file, document) if is_card else _of_results(run, file, document)


def _document(run: HarnessRun, file: ReceivedFile, *, is_card: bool) -> Any:
    content = file.path.read_bytes()[: MAX_BYTES + 1]
    if is_card:
        match = HEAD.match(content)
        if match is None:
            run.refuse(file, "the head of the card, between two lines of ---, is not closed")
            return None
        content = match.group(1)
    try:
        return read_yaml(content, max_bytes=MAX_BYTES, what=file.name)
    except Rejected as error:
        for problem in error.problems:
            run.refuse(file, problem.message, problem.row, problem.column, problem.value)
        return None


def _of_results(run: HarnessRun, file: ReceivedFile, document: Any) -> Iterator[Row]:
    run.lacking += ["dataset.revision", "date"]
    if not isinstance(document, list) or not document:
        run.refuse(file, "expected a list of results, each with dataset and value")
        return
    for at, entry in enumerate(map(mapping, document), start=1):
        dataset = mapping(entry.get("dataset"))
        name, task = text_of(dataset.get("id")), text_of(dataset.get("task_id"))
        if name is None or task is None or VALUE not in entry:
            lacking = [key for key, part in (("dataset.id", name), ("dataset.task_id", task),
                                              (VALUE, VALUE in entry or None)) if part is None]  # fmt: skip
            run.refuse(file, f"the result has no {', '.join(lacking)}", at, lacking[0])
            continue
        place = name if task == DEFAULT else f"{name}/{task}"
        for key, value in (("dataset.revision", dataset.get("revision")), *((k, entry.get(k)) for k in OF_ENTRY)):
            run.state(key, value, place)
        for key, value in mapping(entry.get("source")).items():
            run.state(f"source.{key}", value, place)
        yield Row(file, at, None, place, {VALUE: number(entry[VALUE])}, beside={"dataset": name, "task_id": task})


OF_ENTRY = ("date", "notes")


def _of_card(run: HarnessRun, file: ReceivedFile, document: Any) -> Iterator[Row]:
    models = listed(mapping(document).get("model-index"))
    if not models:
        run.refuse(file, "the card has no model-index", column="model-index")
    for model in map(mapping, models):
        name, results = text_of(model.get("name")), listed(model.get("results"))
        if not results:
            run.refuse(file, "the model has no results", column="model-index.results", value=name)
        yield from _merged(
            _of_result(run, file, name, at, result) for at, result in enumerate(map(mapping, results), 1)
        )


def _of_result(run: HarnessRun, file: ReceivedFile, name: str | None, at: int, result: Mapping[str, Any]) -> Row | None:
    dataset = mapping(result.get("dataset"))
    kind, config = text_of(dataset.get("type")), text_of(dataset.get("config"))
    metrics = [mapping(metric) for metric in listed(result.get("metrics"))]
    scores = {kind_of: number(metric[VALUE]) for metric in metrics
              if (kind_of := text_of(metric.get("type"))) is not None and VALUE in metric}  # fmt: skip
    if kind is None or not scores:
        wrong = "dataset.type" if kind is None else "metrics"
        run.refuse(file, f"the result has no {wrong}", at, f"model-index.results.{wrong}")
        return None
    place = kind if config in (None, DEFAULT) else f"{kind}/{config}"
    for key in ("revision", "split"):
        run.state(f"dataset.{key}", dataset.get(key), place)
    for key, value in mapping(result.get("source")).items():
        run.state(f"source.{key}", value, place)
    return Row(file, at, name, place, scores)


def _merged(rows: Iterator[Row | None]) -> Iterator[Row]:
    """Yield one row for each task: huggingface_hub writes a result for each metric."""
    by_task: dict[str, Row] = {}
    for row in rows:
        if row is None:
            continue
        before = by_task.get(row.task)
        if before is None or set(before.scores) & set(row.scores):
            by_task[row.task if before is None else f"{row.task}\n{row.row}"] = row
        else:
            by_task[row.task] = Row(row.file, before.row, row.entrant, row.task, {**before.scores, **row.scores})
    yield from by_task.values()


HUB = Harness(
    name="hub",
    order=5,
    title="Hugging Face",
    suffixes=(*YAML_SUFFIXES, ".md"),
    owns=owns,
    summary=summary,
    is_mixed=True,
)
