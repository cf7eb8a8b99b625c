"""What lm-evaluation-harness writes: `samples_<task>_<time>.jsonl`, a line per sample, and `results_<time>.json`.

Found by its entry point. A sample's item is `doc_id`, its seed the harness's `random_seed`; metrics are named
with their filter as in the results (`exact_match,strict-match`), so a manifest's `from` says which filter counts.
Source of the layout: lm-evaluation-harness 0.4, `lm_eval/loggers/evaluation_tracker.py`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from app.errors import Problem
from app.files.uploads import ReceivedFile
from app.harnesses.contract import Harness, HarnessRun, Row, listed, mapping, number, spoken, text_of
from app.names import clip_for_message

_SAMPLES = re.compile(r"samples_(?P<task>.+)_\d{4}-\d\d-\d\dT[\d.-]+\.jsonl")
_RESULTS = re.compile(r"results_\d{4}-\d\d-\d\dT[\d.-]+\.json")
KNOWN_VERSION = "0.4."
# What a run states that decides what its scores mean; one value for the run, or one by task.
OF_RUN = ("lm_eval_version", "git_hash", "transformers_version", "model_source", "model_name", "chat_template_sha",
          "system_instruction_sha", "fewshot_as_multiturn", "max_length")  # fmt: skip
OF_CONFIG = ("model_args", "model_revision", "model_sha", "model_dtype", "model_num_parameters", "limit", "gen_kwargs",
             "random_seed", "numpy_seed", "torch_seed", "fewshot_seed")  # fmt: skip
OF_TASK = ("versions", "n-shot", "task_hashes", "n-samples")


@dataclass
class _Results:
    """The results files of one run: whose samples these are, and how many there should be."""

    run: HarnessRun
    model: str | None = None
    seed: int = 0
    expected: dict[str, int] = field(default_factory=dict)

    def take(self, file: ReceivedFile) -> dict[str, Any] | None:
        """Read a results file; another model than an earlier one's is a problem."""
        document = self.run.document(file)
        if document is None:
            return None
        version = document.get("lm_eval_version")
        if not isinstance(version, str) or not version.startswith(KNOWN_VERSION):
            message = f"written by another version of lm-eval than {KNOWN_VERSION}x, whose layout is known"
            self.run.warn(file, message, "lm_eval_version", version)
        config = mapping(document.get("config"))
        self._take_model(file, document.get("model_name"))
        self.seed = _whole(config.get("random_seed")) or 0
        for keys, section in ((OF_RUN, document), (OF_CONFIG, config)):
            for key in keys:
                self.run.state(key, section.get(key))
        for key in OF_TASK:
            self._take_by_task(key, mapping(document.get(key)))
        for metrics in mapping(document.get("higher_is_better")).values():
            for metric, is_higher in mapping(metrics).items():
                self.run.directions.setdefault(metric, "maximize" if is_higher else "minimize")
        return document

    def _take_model(self, file: ReceivedFile, name: Any) -> None:
        if not isinstance(name, str):
            return
        if self.model not in (None, name):
            message = f"results of another model: {clip_for_message(str(self.model))} is in this submission already"
            self.run.refuse(file, message, column="model_name", value=name)
        self.model = name

    def _take_by_task(self, key: str, values: Mapping[str, Any]) -> None:
        for task, value in values.items():
            effective = value.get("effective") if isinstance(value, Mapping) else value
            self.run.state(key, effective, str(task))
            if key == "n-samples" and (n := _whole(effective)) is not None:
                self.expected[str(task)] = n


def owns(file: ReceivedFile) -> bool:
    """Say whether a file is called as the harness calls its own."""
    name = PurePosixPath(file.name).name
    return bool(_SAMPLES.fullmatch(name) or _RESULTS.fullmatch(name))


def items(run: HarnessRun) -> Iterator[Row]:
    """Yield a row for each sample and filter; the results say whose they are."""
    run.lacking += ["model_sha", "git_hash"]
    results = _Results(run)
    samples = [file for file in run.files if file.suffix == ".jsonl"]
    for file in run.files:
        if file not in samples:
            results.take(file)
    items_by_task: dict[str, set[Any]] = {}
    for file in samples:
        named = _SAMPLES.fullmatch(PurePosixPath(file.name).name)
        task = named["task"] if named else ""
        for row in _samples(run, file, task, results):
            # An item of another type is refused by whoever takes the row.
            items_by_task.setdefault(task, set()).add(row.item if isinstance(row.item, str | int) else row.row)
            yield row
    for task, seen in items_by_task.items():
        expected = results.expected.get(task)
        if expected is not None and len(seen) != expected:
            message = f"the results say that {expected:,} samples of {clip_for_message(task)} were scored"
            run.warnings.append(Problem(f"{message}; there are {len(seen):,}", column="n-samples"))


def _samples(run: HarnessRun, file: ReceivedFile, task: str, results: _Results) -> Iterator[Row]:
    for record in run.records(file):
        cells = record.cells
        names, filtered = listed(cells.get("metrics")), cells.get("filter", "none")
        scores = {f"{n},{filtered}": number(cells[n]) for n in names if isinstance(n, str) and n in cells}
        if not scores:
            run.refuse(file, "the sample has no metric: `metrics` names none that is there", record.row, "metrics")
            continue
        doc = cells.get("doc_id")
        asked = next(iter(mapping(cells.get("arguments")).values()), None)
        said = {"input": spoken(mapping(asked).get("arg_0")), "target": spoken(cells.get("target")),
                "answer": spoken(cells.get("filtered_resps"))}  # fmt: skip
        yield Row(file, record.row, results.model, task, scores, doc, results.seed, {"doc_id": doc, **said})


def summary(run: HarnessRun) -> Iterator[Row]:
    """Yield a row for each task of each results file."""
    run.lacking += ["model_sha", "git_hash"]
    for file in run.files:
        if file.suffix == ".jsonl":
            continue
        results = _Results(run)
        document = results.take(file) or {}
        tasks = mapping(document.get("results"))
        if not tasks:
            run.refuse(file, "the results name no task", column="results")
        for at, (task, metrics) in enumerate(tasks.items(), start=1):
            scores = {name: number(value) for name, value in mapping(metrics).items()
                      if isinstance(value, int | float) and "_stderr" not in name}  # fmt: skip
            yield Row(file, at, text_of(document.get("model_name")), str(task), scores)


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


LM_EVAL = Harness(
    name="lm-eval", order=0, title="lm-eval", suffixes=(".json", ".jsonl"), owns=owns, items=items, summary=summary
)
