"""What MTEB writes: `<model>/<revision>/<task>.json`, with `model_meta.json` beside them.

Found by its entry point. A task has a score for each split and subset. `main_score` is the mean over the subsets
of its test split (of the only split where there is no test); `main_score@eng` is that of its English subsets, of `en`
alone where there is such a one, which is what MTEB(eng, v2) ranks by.
Source of the layout: mteb 1.38, `mteb/load_results/task_results.py`.
"""

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from app.files.uploads import ReceivedFile
from app.harnesses.contract import Harness, HarnessRun, Row, begins_with, listed, mapping, number, text_of

META = "model_meta.json"
TEST, ENGLISH, MAIN = "test", "eng", "main_score"
OF_META = ("name", "revision", "release_date", "n_parameters", "embed_dim", "max_tokens", "license", "open_weights",
           "framework", "loader_kwargs", "training_datasets")  # fmt: skip


def owns(file: ReceivedFile) -> bool:
    """Say whether a file is a result of a task, or a description of a model."""
    if file.suffix != ".json":
        return False
    if PurePosixPath(file.name).name == META:
        return True
    return begins_with(file, r'"mteb_version"|"mteb_dataset_name"', r'"scores"\s*:|"dataset_revision"\s*:')


def summary(run: HarnessRun) -> Iterator[Row]:
    """Yield a row for each result file."""
    models = dict(_models(run))
    run.lacking += ["mteb_version"]
    for file in run.files:
        path = PurePosixPath(file.name)
        if path.name == META or (document := run.document(file)) is None:
            continue
        name, revision = models.get(str(path.parent), (_of_folder(path), None))
        task = text_of(document.get("task_name")) or path.stem
        run.state("mteb_version", document.get("mteb_version"))
        scores = _scores(mapping(document.get("scores")))
        if not scores:
            run.refuse(file, "the result has no main score", column="scores")
            continue
        beside = {"revision": revision or path.parent.name, "dataset_revision": document.get("dataset_revision")}
        yield Row(file, 1, name, task, scores, beside=beside)


def _models(run: HarnessRun) -> Iterator[tuple[str, tuple[str | None, str | None]]]:
    """Yield the folder of each model with its name and revision."""
    for file in run.files:
        if PurePosixPath(file.name).name == META and (document := run.document(file)) is not None:
            name = text_of(document.get("name"))
            for key in OF_META:
                run.state(key, document.get(key), name)
            yield str(PurePosixPath(file.name).parent), (name, text_of(document.get("revision")))


def _of_folder(path: PurePosixPath) -> str | None:
    """Return the model that the folders around a result name; two underscores stand for a slash."""
    return path.parts[-3].replace("__", "/") if len(path.parts) > 2 else None


def _scores(splits: Mapping[str, Any]) -> dict[str, Any]:
    split = TEST if TEST in splits else next(iter(splits), None)
    subsets = [part for part in map(mapping, listed(splits.get(split or ""))) if MAIN in part]
    plain = [part for part in subsets if part.get("hf_subset") == "en"]
    english = plain or [part for part in subsets if _is_english(part)]
    means = {MAIN: _mean(subsets), f"{MAIN}@{ENGLISH}": _mean(english)}
    return {name: value for name, value in means.items() if value is not None}


def _is_english(part: Mapping[str, Any]) -> bool:
    languages = listed(part.get("languages"))
    return bool(languages) and all(str(language).startswith(ENGLISH) for language in languages)


def _mean(parts: list[Mapping[str, Any]]) -> Any:
    values = [number(part[MAIN]) for part in parts]
    odd = [value for value in values if isinstance(value, bool) or not isinstance(value, int | float)]
    if odd or not values:
        return odd[0] if odd else None
    return values[0] if len(values) == 1 else sum(values) / len(values)


MTEB = Harness(
    name="mteb",
    order=4,
    title="MTEB",
    suffixes=(".json",),
    owns=owns,
    summary=summary,
    preset={f"{MAIN}@{ENGLISH}": "maximize", MAIN: "maximize"},
)
