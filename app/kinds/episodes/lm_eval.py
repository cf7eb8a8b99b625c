"""What lm-evaluation-harness writes: `samples_<task>_<time>.jsonl`, a line per sample, and `results_<time>.json`.

Called by `app.kinds.episodes.read`. A sample is an episode: its item is `doc_id`, its seed the harness's `random_seed`,
its metrics are named with their filter as in the results (`exact_match,strict-match`), so a manifest's `from` says
which filter counts. What the results state of the run is kept as a table of the submission.
Source of the layout: lm-evaluation-harness 0.4, `lm_eval/loggers/evaluation_tracker.py`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from app.errors import Problem
from app.files.documents import read_document
from app.files.findings import Findings
from app.files.uploads import ReceivedFile
from app.kinds.episodes.stated_values import stated_integer
from app.names import clip_for_message
from app.values.table import Column, Table

_SAMPLES = re.compile(r"samples_(?P<task>.+)_\d{4}-\d\d-\d\dT[\d.-]+\.jsonl")
_RESULTS = re.compile(r"results_\d{4}-\d\d-\d\dT[\d.-]+\.json")
KNOWN_VERSION = "0.4."
TABLE = "harness"
# What a run states that decides what its scores mean; one value for the run, or one by task.
OF_RUN = ("lm_eval_version", "git_hash", "transformers_version", "model_source", "model_name", "chat_template_sha",
          "system_instruction_sha", "fewshot_as_multiturn", "max_length")  # fmt: skip
OF_CONFIG = ("model_args", "model_revision", "model_sha", "model_dtype", "model_num_parameters", "limit", "gen_kwargs",
             "random_seed", "numpy_seed", "torch_seed", "fewshot_seed")  # fmt: skip
OF_TASK = ("versions", "n-shot", "task_hashes", "n-samples")
MAX_STATED = 500


def task_of_samples(file: ReceivedFile) -> str | None:
    """Return the task of a file of samples, None for any other file."""
    named = _SAMPLES.fullmatch(PurePosixPath(file.name).name)
    return None if named is None else named["task"]


def is_results(file: ReceivedFile) -> bool:
    """Say whether a file is called as the harness calls its results."""
    return _RESULTS.fullmatch(PurePosixPath(file.name).name) is not None


@dataclass
class LmEvalRun:
    """The results files of one submission: whose samples these are, and how many there should be."""

    findings: Findings
    warnings: list[Problem]
    model: str | None = None
    seed: int = 0
    stated: list[tuple[str, str | None, str]] = field(default_factory=list)
    expected: dict[str, int] = field(default_factory=dict)
    found: dict[str, set[Any]] = field(default_factory=dict)

    def take_results(self, file: ReceivedFile) -> None:
        """Read a results file; another model than an earlier one's is a problem."""
        document = read_document(file, self.findings)
        if document is None:
            return
        version = document.get("lm_eval_version")
        if not isinstance(version, str) or not version.startswith(KNOWN_VERSION):
            message = f"written by another version of lm-eval than {KNOWN_VERSION}x, whose layout is known"
            self.warnings.append(Problem(message, file.name, column="lm_eval_version", value=_shown(version)))
        self._take_model(file, document.get("model_name"))
        config = document.get("config")
        config = config if isinstance(config, Mapping) else {}
        self.seed = stated_integer(config.get("random_seed")) or 0
        self.stated += [(key, None, _shown(document[key])) for key in OF_RUN if document.get(key) is not None]
        self.stated += [(key, None, _shown(config[key])) for key in OF_CONFIG if config.get(key) is not None]
        for key in OF_TASK:
            self._take_by_task(key, document.get(key))

    def _take_model(self, file: ReceivedFile, name: Any) -> None:
        if not isinstance(name, str):
            return
        if self.model not in (None, name):
            message = f"results of another model: {clip_for_message(str(self.model))} is in this submission already"
            self.findings.add(Problem(message, file.name, column="model_name", value=clip_for_message(name)))
        self.model = name

    def _take_by_task(self, key: str, values: Any) -> None:
        for task, value in values.items() if isinstance(values, Mapping) else ():
            effective = value.get("effective") if isinstance(value, Mapping) else value
            self.stated.append((key, str(task), _shown(effective)))
            if key == "n-samples" and (n := stated_integer(effective)) is not None:
                self.expected[str(task)] = n

    def episode(self, task: str, cells: Mapping[str, Any], wanted: Sequence[str]) -> dict[str, Any] | None:
        """Return a sample as an episode; None where its filter gives none of the wanted columns."""
        names, filtered = cells.get("metrics"), cells.get("filter", "none")
        listed = names if isinstance(names, list) else []
        scores = {f"{name},{filtered}": cells[name] for name in listed if isinstance(name, str) and name in cells}
        self.found.setdefault(task, set()).add(stated_integer(cells.get("doc_id")))
        if not any(name in scores for name in wanted) and scores:
            return None
        return {"doc_id": cells.get("doc_id"), "seed": self.seed, **scores}

    def gaps(self) -> Iterator[Problem]:
        """Yield which tasks have fewer samples than the results say were scored."""
        for task, samples in self.found.items():
            expected = self.expected.get(task)
            if expected is not None and len(samples) != expected:
                message = f"the results say that {expected:,} samples of {clip_for_message(task)} were scored"
                yield Problem(f"{message}; there are {len(samples):,}", column="n-samples")

    def table(self) -> Table | None:
        """Return what the run states of itself, kept and shown with the submission; None without results."""
        if not self.stated:
            return None
        columns = (Column("key", "Key", "text"), Column("task", "Task", "text"), Column("value", "Stated", "text"))
        lacking = [key for key in ("model_sha", "git_hash") if key not in {stated for stated, _, _ in self.stated}]
        notes = (f"Not stated: {', '.join(lacking)}.",) if lacking else ()
        return Table(TABLE, "What lm-eval states of the run", columns, tuple(self.stated), notes)


def _shown(value: Any) -> str:
    return clip_for_message(value if isinstance(value, str) else str(value), MAX_STATED)
