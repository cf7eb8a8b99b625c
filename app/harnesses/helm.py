"""What HELM writes of a run: a folder with `run_spec.json`, `stats.json` and `per_instance_stats.json`.

Found by its entry point. The model is the run specification's `adapter_spec.model`, the task the run's name
without it. Statistics of perturbed inputs are left out: they answer another question than the plain ones. The same
instance of several trials has the trial as its seed.
Source of the layout: HELM 0.5, `helm/benchmark/runner.py` and `metrics/statistic.py`.
"""

import re
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from app.files.tables import read_document
from app.files.uploads import ReceivedFile
from app.harnesses.contract import Harness, HarnessRun, Row, listed, mapping, number, text_of

SPEC, STATS, INSTANCES = "run_spec.json", "stats.json", "per_instance_stats.json"
BESIDE = ("scenario.json", "scenario_state.json")
OF_ADAPTER = ("method", "model", "model_deployment", "max_train_instances", "max_eval_instances", "num_train_trials",
              "temperature", "max_tokens", "random", "instructions")  # fmt: skip
TEST = "test"


def owns(file: ReceivedFile) -> bool:
    """Say whether a file is called as HELM calls those of a run."""
    return _name(file) in (SPEC, STATS, INSTANCES, *BESIDE)


def _name(file: ReceivedFile) -> str:
    return PurePosixPath(file.name).name


def _runs(run: HarnessRun) -> Iterator[tuple[Mapping[str, ReceivedFile], str | None, str]]:
    """Yield the files of each run folder with its model and task."""
    folders: dict[str, dict[str, ReceivedFile]] = {}
    for file in run.files:
        folders.setdefault(str(PurePosixPath(file.name).parent), {})[_name(file)] = file
    run.lacking += ["helm_version", "model_revision"]
    for folder, files in folders.items():
        spec = read_document(files[SPEC], run.findings) if SPEC in files else None
        if SPEC not in files:
            some = next(iter(files.values()))
            run.refuse(some, f"{SPEC} of this run is not beside it, which says whose it is", value=folder)
        if spec is None:
            continue
        adapter = mapping(spec.get("adapter_spec"))
        task = re.sub(r"[,:]model=[^,]*", "", str(spec.get("name") or ""))
        for key in OF_ADAPTER:
            run.state(key, adapter.get(key), task)
        run.state("scenario", mapping(spec.get("scenario_spec")).get("class_name"), task)
        yield files, text_of(adapter.get("model")), task


def _plain(stat: Any) -> tuple[str, str, Any] | None:
    """Return metric, split and mean of a statistic; None for one of perturbed inputs, or without a value."""
    named = mapping(mapping(stat).get("name"))
    if "perturbation" in named or not isinstance(named.get("name"), str):
        return None
    mean = number(mapping(stat).get("mean"))
    return None if mean is None else (named["name"], str(named.get("split") or TEST), mean)


def summary(run: HarnessRun) -> Iterator[Row]:
    """Yield a row for each run: the statistics of its test split, of another split under `<metric>@<split>`."""
    for files, model, task in _runs(run):
        file = files.get(STATS)
        if file is None:
            continue
        scores: dict[str, Any] = {}
        for record in run.elements(file):
            if (statistic := _plain(record.cells)) is not None:
                metric, split, mean = statistic
                scores[metric if split == TEST else f"{metric}@{split}"] = mean
        if scores:
            yield Row(file, 1, model, task, scores)


def items(run: HarnessRun) -> Iterator[Row]:
    """Yield a row for each instance, trial and split."""
    for files, model, task in _runs(run):
        if STATS in files:
            # Not needed for the items: but where it breaks off, so did the run or its copy, and that is said.
            deque(run.elements(files[STATS]), maxlen=0)
        file = files.get(INSTANCES)
        if file is None:
            continue
        for record in run.elements(file):
            plain = [statistic for stat in listed(record.cells.get("stats")) if (statistic := _plain(stat)) is not None]
            item, trial = record.cells.get("instance_id"), record.cells.get("train_trial_index")
            seed = trial if isinstance(trial, int) else 0
            splits = {split for _, split, _ in plain}
            split = splits.pop() if len(splits) == 1 else TEST
            scores = {metric: mean for metric, _, mean in plain}
            yield Row(file, record.row, model, task, scores, item, seed, {"instance_id": item, "split": split})


RANKING = ("exact_match", "quasi_exact_match", "prefix_exact_match", "quasi_prefix_exact_match", "f1_score", "rouge_l",
           "rouge_2", "bleu_1", "bleu_4", "math_equiv", "math_equiv_chain_of_thought", "pass")  # fmt: skip
HELM = Harness(
    name="helm",
    order=1,
    title="HELM",
    suffixes=(".json",),
    owns=owns,
    items=items,
    summary=summary,
    preset={**dict.fromkeys(RANKING, "maximize"), "inference_runtime": "minimize"},
)
