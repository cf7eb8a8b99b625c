"""What Every Eval Ever collects: an aggregate `.json` for a model, and `_samples.jsonl` beside it, a line per instance.

Found by its entry point; versions 0.2 and 0.3 of its schema. An aggregate's rows are its evaluations by name,
each with the scores of its metrics; a metric is the `metric_id`, or `score` where it has none. Instances state no seed.
Source of the layout: evaleval/every_eval_ever, `eval.schema.json` and `instance_level_eval.schema.json`.
"""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from app.files.uploads import ReceivedFile
from app.harnesses.contract import Harness, HarnessRun, Row, begins_with, listed, mapping, number, text_of

KNOWN_VERSIONS = ("0.2.", "0.3.")
SAMPLES = "_samples.jsonl"
SCORE = "score"
SCHEMAS = ("eval.schema.json", "instance_level_eval.schema.json")
"""They lie beside the results in its repository, and hold none."""


def owns(file: ReceivedFile) -> bool:
    """Say whether a file is an aggregate, the instances beside one, or the schema of either."""
    if PurePosixPath(file.name).name in SCHEMAS:
        return True
    marks = (r'"schema_version"\s*:\s*"', r'"evaluation_id"\s*:')
    if file.suffix == ".jsonl":
        return PurePosixPath(file.name).name.endswith(SAMPLES) and begins_with(file, *marks)
    return file.suffix == ".json" and begins_with(file, *marks)


def _check_version(run: HarnessRun, file: ReceivedFile, version: Any, row: int | None = None) -> None:
    if row in (None, 1) and not str(version).startswith(KNOWN_VERSIONS):
        run.warn(
            file, f"of another version than {' and '.join(KNOWN_VERSIONS)}x, which are known", "schema_version", version
        )


def _documents(run: HarnessRun) -> Iterator[tuple[ReceivedFile, dict[str, Any]]]:
    for file in run.files:
        if PurePosixPath(file.name).name in SCHEMAS:
            run.warn(file, "a schema of Every Eval Ever, which holds no results; it was ignored")
        elif file.suffix == ".json" and (document := run.document(file)) is not None:
            _check_version(run, file, document.get("schema_version"))
            run.lacking += ["eval_library", "evaluation_timestamp"]
            run.state("evaluation_id", document.get("evaluation_id"))
            run.state("evaluation_timestamp", document.get("evaluation_timestamp"))
            for part in ("source_metadata", "eval_library", "model_info"):
                for key, value in mapping(document.get(part)).items():
                    run.state(f"{part}.{key}", value)
            yield file, document


def summary(run: HarnessRun) -> Iterator[Row]:
    """Yield a row for each evaluation of each aggregate: all metrics of one name, and one apart that comes twice."""
    aggregates = {file.name.removesuffix(".json") for file in run.files if file.suffix == ".json"}
    for file in run.files:
        if file.suffix == ".jsonl" and file.name.removesuffix(SAMPLES) not in aggregates:
            run.warn(file, "the aggregate of these instances is not beside them, so nothing of them is read here")
    for file, document in _documents(run):
        model = text_of(mapping(document.get("model_info")).get("id"))
        first: dict[str, dict[str, Any]] = {}
        rows = []
        for at, task, metric, score in _results(run, file, document):
            scores = first.get(task)
            if scores is not None and metric not in scores:
                scores[metric] = score
                continue
            rows.append(Row(file, at, model, task, own := {metric: score}))
            first.setdefault(task, own)
        yield from rows


def _results(run: HarnessRun, file: ReceivedFile, document: dict[str, Any]) -> Iterator[tuple[int, str, str, Any]]:
    """Yield the place, the name, the metric and the score of each result."""
    results = listed(document.get("evaluation_results"))
    if not results:
        run.refuse(file, "there is no evaluation", column="evaluation_results")
    for at, result in enumerate(map(mapping, results), start=1):
        config = mapping(result.get("metric_config"))
        metric = text_of(config.get("metric_id")) or SCORE
        if isinstance(config.get("lower_is_better"), bool):
            run.directions.setdefault(metric, "minimize" if config["lower_is_better"] else "maximize")
        task = text_of(result.get("evaluation_name"))
        if task is None:
            run.refuse(file, "the evaluation has no name", at, "evaluation_name")
            continue
        yield at, task, metric, number(mapping(result.get("score_details")).get("score"))


def items(run: HarnessRun) -> Iterator[Row]:
    """Yield a row for each instance."""
    documents = list(_documents(run))
    seen = set()
    for file in run.files:
        if file.suffix != ".jsonl":
            continue
        for record in run.records(file):
            cells = record.cells
            _check_version(run, file, cells.get("schema_version"), record.row)
            evaluated = mapping(cells.get("evaluation"))
            scores = {name: number(evaluated[name]) for name in (SCORE, "is_correct") if name in evaluated}
            task, item = str(cells.get("evaluation_name") or ""), cells.get("sample_id")
            model = text_of(cells.get("model_id"))
            seen.add((model, task))
            yield Row(file, record.row, model, task, scores, item, 0, {"sample_id": item})
    for file, document in documents:
        model = text_of(mapping(document.get("model_info")).get("id"))
        named = [text_of(mapping(each).get("evaluation_name")) for each in listed(document.get("evaluation_results"))]
        lost = [task for task in named if task is not None and (model, task) not in seen]
        if lost:
            message = f"{len(lost)} of {len(named)} evaluations have no instances, so nothing of them is read here"
            run.warn(file, message, "evaluation_name", ", ".join(lost))


EVERY_EVAL_EVER = Harness(
    name="every-eval-ever",
    order=3,
    title="Every Eval Ever",
    suffixes=(".json", ".jsonl"),
    owns=owns,
    items=items,
    summary=summary,
)
