"""A commented manifest of a benchmark that a table of results could be evidence of. What the table does not say is
asked, or stays as TODO, which no check passes.

`plumbline benchmark init` asks in a terminal; `app.receiving.first_look` shows a browser what is not known.
"""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd
import pyarrow as pa

from app.errors import EvidenceRejected, Problem
from app.files.findings import Findings
from app.files.tables import open_table
from app.files.uploads import Limits, ReceivedFile, SentFile, Unpacking
from app.harnesses.contract import Harness, HarnessRun, Row, cell_text, sound_rows
from app.harnesses.registry import split_harnesses
from app.manifest.build import SCHEMA, TODO
from app.names import SLUG_PATTERN, first_few, is_name
from app.yaml import ScalarNotAllowed, resolve_plain

Ask = Callable[[str, Sequence[str]], str | None]
"""Asks a question with its possible answers; None where nobody can answer."""

NO_COLUMN = "(none)"


@dataclass(frozen=True)
class Roles:
    """Columns by role; None where no column has it. `n_repeated` rows are alike in all of `names`."""

    entrant: str | None = None
    task: str | None = None
    condition: str | None = None
    seed: str | None = None
    item: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    recorded: tuple[str, ...] = ()
    n_repeated: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """Return the columns that identify a row, from entrant to item."""
        one = (self.entrant, self.task, self.condition, self.seed)
        return (*(name for name in one if name is not None), *self.item)

    @property
    def has_items(self) -> bool:
        """Say whether there are rows below the task."""
        return bool(self.item) or self.seed is not None


@dataclass(frozen=True)
class Wishes:
    """What the person drafting has stated already: columns by role, and the direction of metrics by their columns.

    `schema` is the address at which a server of theirs serves the schema, for their editor.
    """

    slug: str | None = None
    title: str | None = None
    roles: Roles = field(default_factory=Roles)
    directions: Mapping[str, str] | None = None
    schema: str = SCHEMA


@dataclass(frozen=True)
class Draft:
    """A manifest as text, what it takes columns to be, and how many answers are missing.

    `offered` are the columns that could be metrics, of labels the metrics that there are for such ones.
    """

    text: str
    roles: Roles
    n_missing: int
    metrics: "tuple[MetricGuess, ...]"
    offered: tuple[str, ...]


@dataclass(frozen=True)
class ResultsSheet:
    """A table of results, each cell its text or null; of a harness `about` says what it is, `roles` what columns are.

    `left_out` says which files are of something else.
    """

    frame: pd.DataFrame
    files: tuple[str, ...]
    roles: Mapping[str, Any] = field(default_factory=dict)
    about: str = ""
    left_out: tuple[str, ...] = ()

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.frame)

    @cached_property
    def _words(self) -> dict[str, list[str]]:
        return {name: self.frame[name].dropna().unique().tolist() for name in self.frame}

    @cached_property
    def _numbers(self) -> dict[str, Any]:
        return {name: _as_numbers(self.frame[name]) for name in self.frame}

    def words(self, name: str) -> list[str]:
        """Return the distinct texts of a column, in the order of their first rows."""
        return self._words[name]

    def numbers(self, name: str) -> Any:
        """Return a column as numbers, NaN where empty; None if a cell is text, or all are empty."""
        return self._numbers[name]

    def finite(self, name: str) -> Any:
        """Return the numbers of a column that are finite; none if the column is text."""
        numbers = self.numbers(name)
        return pd.Series(dtype=float) if numbers is None else numbers[numbers.abs() < float("inf")]

    def is_whole(self, name: str) -> bool:
        """Say whether every number of a column is a whole one."""
        finite = self.finite(name)
        return len(finite) > 0 and bool((finite == finite.round()).all())

    def is_flag(self, name: str) -> bool:
        """Say whether every cell of a column is true or false."""
        words = {word.lower() for word in self.words(name)}
        return bool(words) and words <= {"true", "false"}

    def has_empty(self, name: str) -> bool:
        """Say whether a cell of a column is empty."""
        return bool(self.frame[name].isna().any())

    def n_distinct(self, names: Sequence[str]) -> int:
        """Return how many different rows there are in some columns."""
        return int((~self.frame.duplicated(list(names))).sum()) if names else 1


def _as_numbers(cells: Any) -> Any:
    filled = cells.dropna()
    stated = filled[filled.str.strip().str.lower() != "nan"]
    numbers = pd.to_numeric(stated, errors="coerce")
    if not len(filled) or numbers.isna().any():
        return None
    return numbers.astype(float).reindex(cells.index)


def draft_manifest(sheet: ResultsSheet, stem: str, wishes: Wishes, ask: Ask) -> Draft:
    """Return the manifest of a sheet: of results, or of labels that predictions are to be scored against.

    Raises EvidenceRejected for a table that no kind of evidence is.
    """
    if is_labels(sheet):
        return _draft_of_labels(sheet, stem, wishes)
    _refuse_long_form(sheet)
    given = _given(sheet, wishes)
    roles = _asked(sheet, guess_roles(sheet, given), given, ask)
    if not roles.metrics:
        listed = first_few(sheet.columns, 20)
        problem = Problem(f"no column holds numbers that could be a metric; the file has {listed}", column="metrics")
        raise EvidenceRejected("No metric to rank by.", [problem])
    metrics = _metrics(sheet, roles, wishes, ask)
    writer = writer_of(roles)(
        sheet, roles, metrics, plain_slug(wishes, stem), wishes.title or plain_title(stem), wishes.schema
    )
    numeric = (name for name in sheet.columns if sheet.is_flag(name) or len(sheet.finite(name)))
    return _drafted(writer, roles, metrics, numeric)


def _drafted(writer: "Writer", roles: Roles, metrics: "Sequence[MetricGuess]", offered: Iterable[str]) -> Draft:
    text = "\n".join([*writer.lines(), ""])
    n_missing = sum(TODO in line.partition("#")[0] for line in text.splitlines())
    return Draft(text, roles, n_missing, tuple(metrics), tuple(offered))


def _given(sheet: ResultsSheet, wishes: Wishes) -> Roles:
    fixed = {name: value for name, value in sheet.roles.items() if name in Roles.__dataclass_fields__ and value}
    wished = {name: value for name, value in vars(wishes.roles).items() if value}
    unknown = [name for role in wished.values() for name in (role if isinstance(role, tuple) else (role,))
               if name not in (*sheet.columns, NO_COLUMN)]  # fmt: skip
    if unknown:
        listed = first_few(sheet.columns, 20)
        problems = [Problem(f"no column of this name; the file has {listed}", column=name) for name in unknown]
        raise EvidenceRejected("The file lacks a column that you named.", problems)
    return Roles(**{**fixed, **wished})


def _refuse_long_form(sheet: ResultsSheet) -> None:
    names = {plain(name): name for name in sheet.columns}
    name = next((names[each] for each in names if each in LONG_NAME), None)
    value = next((names[each] for each in names if each in LONG_VALUE), None)
    if name is not None and value is not None and sheet.numbers(name) is None:
        message = (
            f"a row holds one metric ({such_as(sheet.words(name))}), and its value is in {value}; plumbline "
            "reads a column for each metric: pivot the table, in pandas "
            f"df.pivot_table(index=…, columns='{name}', values='{value}')"
        )
        raise EvidenceRejected("The table is in the long form.", [Problem(message, sheet.files[0], column=name)])


def _asked(sheet: ResultsSheet, roles: Roles, stated: Roles, ask: Ask) -> Roles:
    """Return the roles, with answers where they could not be guessed."""
    names = [name for name in sheet.columns if name not in roles.metrics]
    if roles.entrant is None and stated.entrant != NO_COLUMN:
        answer = ask("Which column names the entrant (the model, the system)?", [*names, NO_COLUMN])
        roles = _again(sheet, roles, stated, entrant=answer)
    if roles.task is None and stated.task != NO_COLUMN:
        answer = ask("Which column names the task (the data set, the workload)?", [*names, NO_COLUMN])
        roles = _again(sheet, roles, stated, task=answer)
    if roles.n_repeated:
        question = f"{roles.n_repeated:,} rows repeat {', '.join(roles.names)}. Which column distinguishes them?"
        answer = ask(question, [name for name in sheet.columns if name not in roles.names])
        roles = _again(sheet, roles, stated, item=None if answer is None else (*roles.item, answer))
    return roles


def _again(sheet: ResultsSheet, roles: Roles, stated: Roles, **answer: object) -> Roles:
    """Return the roles guessed anew beside an answer; what was guessed to be a metric may have another role now."""
    answers = {name: value for name, value in answer.items() if value is not None}
    kept = replace(roles, metrics=stated.metrics, groups=(), recorded=(), **answers)  # type: ignore[arg-type]
    return guess_roles(sheet, kept) if answers else roles


@dataclass(frozen=True)
class MetricGuess:
    """A metric as it would be declared; `direction` is None where the name does not say it, `why` is of the range."""

    name: str
    column: str
    direction: str | None
    low: float | None
    high: float | None
    unit: str | None
    observed: tuple[float, float]
    why: str


def _metrics(sheet: ResultsSheet, roles: Roles, wishes: Wishes, ask: Ask) -> list[MetricGuess]:
    guesses: list[MetricGuess] = []
    for name in roles.metrics:
        stated = {**sheet.roles.get("directions", {}), **(wishes.directions or {})}.get(name)
        guess = guess_metric(sheet, name, {each.name for each in guesses}, stated)
        if guess.direction is None:
            low, high = guess.observed
            question = f"Which way is {name} better (it goes from {low:g} to {high:g})?"
            guess = replace(guess, direction=ask(question, ["maximize", "minimize"]))
        guesses.append(guess)
    return guesses


def plain_slug(wishes: Wishes, stem: str) -> str:
    """Return a benchmark's name in addresses: the one that is wished for, or the name of the file."""
    name = re.sub(r"[^a-z0-9]+", "-", (wishes.slug or stem).lower()).strip("-")[:63].strip("-")
    return name if re.fullmatch(SLUG_PATTERN, name) else "my-benchmark"


def plain_title(stem: str) -> str:
    """Return a title out of the name of a file."""
    return re.sub(r"[_-]+", " ", stem).strip()[:200] or "My benchmark"


# A table of results before there is a manifest: every column as text, from one file or several. Files are unpacked
# within the limits of an upload, by the code that reads uploads.

SUFFIXES = (".csv", ".json", ".jsonl", ".eval")


def read_sheet(files: Sequence[SentFile], folder: Path, limits: Limits) -> ResultsSheet:
    """Read tables with one header. Raises EvidenceRejected with every problem, TooLarge beyond a limit."""
    findings = Findings()
    unpacking = Unpacking(limits, folder, findings, SUFFIXES)
    unpacking.take_all(files)
    harnesses, others = split_harnesses(unpacking.files)
    if harnesses:
        sheets = [sheet_of_harness(*harnesses[0], findings)]
    else:
        sheets = [sheet for file in others if (sheet := _read(file, findings, limits)) is not None]
    findings.raise_if_any([record.name for record in unpacking.records])
    if not harnesses:
        return _joined(sheets)
    further = [f"{len(own):,} of {harness.title}" for harness, own in harnesses[1:]]
    unknown = [f"{len(others):,} of no harness, such as {others[0].name}"] if others else []
    return replace(sheets[0], left_out=(*further, *unknown))


def sheet_of_harness(harness: Harness, files: Sequence[ReceivedFile], findings: Findings) -> ResultsSheet:
    """Return the results of a harness as a sheet: rows of items if there are any, else of tasks."""
    run = HarnessRun(files, findings)
    rows = list(sound_rows(run, harness.items(run))) if harness.items is not None else []
    has_items = bool(rows)
    if not has_items and harness.summary is not None:
        run = HarnessRun(files, findings)
        rows = list(sound_rows(run, harness.summary(run)))
    if not rows:
        findings.add(Problem(f"the files of {harness.title} hold no rows", file=files[0].name))
    records = _merged(rows)
    names = list(dict.fromkeys(name for record in records for name in record))
    texts = {name: pa.array([cell_text(record.get(name)) for record in records], pa.string()) for name in names}
    sheet = ResultsSheet(
        pa.table(texts).to_pandas(), tuple(file.name for file in files), about=f"Results of {harness.title}."
    )
    scored = dict.fromkeys(name for row in rows for name in row.scores if len(sheet.finite(name)))
    metrics = tuple(name for name in harness.preset if name in scored) or tuple(scored)
    directions = {**harness.preset, **_directions(run, metrics)}
    roles: dict[str, Any] = {"entrant": "entrant", "task": "task", "metrics": metrics, "directions": directions}
    if has_items:
        seeds = {row.seed for row in rows}
        roles |= {"item": ("item",) if "item" in names else None, "seed": "seed" if len(seeds) > 1 else None}
    return replace(sheet, roles=roles)


def _merged(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return a record for each entrant, task, seed and item: several filters of one sample score the same sample."""
    by_key: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        kept = {"entrant": row.entrant, "task": row.task, "seed": row.seed, "item": row.item}
        # What is no name is no reason to stop here: a check of the manifest against the results refuses it.
        key = tuple(cell if isinstance(cell, str | int) else repr(cell) for cell in kept.values())
        plain = {name: cell for name, cell in kept.items() if name != "item" or cell is not None}
        by_key.setdefault(key, plain).update({**row.scores, **({} if row.item is not None else row.beside)})
    return list(by_key.values())


def _directions(run: HarnessRun, metrics: Sequence[str]) -> dict[str, str]:
    """Return the direction of each metric of which the run says it, whatever its filter."""
    plain = {name: name.partition(",")[0] for name in metrics}
    return {name: run.directions[of] for name, of in plain.items() if of in run.directions}


def _read(file: ReceivedFile, findings: Findings, limits: Limits) -> ResultsSheet | None:
    """Read a table as an upload is read, so that nothing is drafted from a table that a server refuses."""
    table = open_table(file, findings, [], limits.max_rows)
    if table is None:
        return None
    blocks = [pa.table(dict(block.columns)).to_pandas() for block in table.blocks(table.header)]
    if not any(map(len, blocks)):
        findings.add(Problem("the file contains no rows", file=file.name))
        return None
    return ResultsSheet(pd.concat(blocks, ignore_index=True), (file.name,))


def _joined(sheets: Sequence[ResultsSheet]) -> ResultsSheet:
    if not sheets:
        raise EvidenceRejected("No table was given.", [Problem("no table was given", column="files")])
    frame = pd.concat([sheet.frame for sheet in sheets], ignore_index=True)
    return ResultsSheet(frame, tuple(file for sheet in sheets for file in sheet.files))


# The meanings of column names in tables of results: entrants, tasks, and which way a metric is better.
#
# A name that is not here is asked about, never guessed.

ENTRANT = ("entrant", "model", "model_name", "model_id", "method", "algorithm", "system", "system_name", "policy",
           "policy_id", "agent", "estimator", "participant", "player", "team", "engine", "library", "framework",
           "implementation", "backend", "solver", "optimizer", "submission", "name")  # fmt: skip

TASK = ("task", "task_name", "dataset", "dataset_name", "benchmark", "problem", "problem_name", "scenario", "suite",
        "subset", "env", "environment", "workload", "domain", "language", "corpus", "subject", "endpoint")  # fmt: skip

CONDITION = ("condition", "setting", "perturbation", "variant", "difficulty", "mode")

SEED = ("seed", "random_seed", "train_seed", "training_seed", "seed_id", "run", "run_id", "trial", "repeat",
        "repetition", "replicate", "rep", "fold")  # fmt: skip

ITEM = ("item", "item_id", "doc_id", "sample_id", "example_id", "instance_id", "question_id", "query_id", "episode",
        "episode_idx", "request_id", "record_id", "sample", "example", "instance", "question", "query", "request", "id",
        "idx", "index", "uid")  # fmt: skip

# Numbers that describe a row and rank nobody.
NO_METRIC = frozenset(
    {"rank", "year", "version", "epoch", "step", "steps", "timestamp", "date", "time_stamp", "n", "count", "size",
     "params", "parameters", "num_parameters", "n_params", "n_parameters", "batch_size", "index", "idx", "id",
     "seed", "stderr", "std", "se", "ci", "n_samples", "weight"}
)  # fmt: skip

NO_METRIC_BEGINS = ("n_", "num_", "unnamed", "rank_", "stderr", "std_")

NO_METRIC_ENDS = ("_id", "_count", "_stderr", "_std", "_se", "_rank", "_seed", "_version", "_size", "_at")

# Columns of the long form, a row for each metric.
LONG_NAME = frozenset({"metric", "metric_name", "measure", "measure_name"})

LONG_VALUE = frozenset({"value", "score", "metric_value", "result"})

MAXIMIZE = frozenset(
    {"acc", "accuracy", "f1", "auc", "auroc", "auprc", "roc", "map", "mrr", "ndcg", "precision", "recall", "score",
     "success", "reward", "return", "bleu", "rouge", "rougel", "rouge1", "rouge2", "chrf", "meteor", "em", "exact",
     "match", "r2", "pass", "win", "wins", "correct", "correctness", "iou", "miou", "dice", "throughput", "fps",
     "tps", "qps", "rps", "speedup", "psnr", "ssim", "spearman", "pearson", "cosine", "correlation", "kendall",
     "hit", "hits", "mcc", "kappa", "sharpe", "likelihood", "goodput", "safety", "helpfulness", "elo", "rating",
     "points", "pass1", "acceptance"}
)  # fmt: skip

MINIMIZE = frozenset(
    {"err", "error", "errors", "loss", "rmse", "mae", "mse", "mape", "smape", "mase", "wape", "wql", "crps", "sql",
     "nll", "perplexity", "ppl", "bpb", "latency", "time", "seconds", "duration", "runtime", "elapsed", "cost",
     "costs", "price", "memory", "mem", "wer", "cer", "fid", "brier", "logloss", "energy", "regret", "distance",
     "violation", "violations", "failure", "failures", "toxicity", "lpips", "ece", "power", "watts", "joules",
     "ttft", "tpot", "delay", "overhead", "lag", "ms", "ns", "us", "usd", "hallucination", "mistakes", "collisions",
     "collision"}
)  # fmt: skip

SHARE = frozenset(
    {"acc", "accuracy", "f1", "auc", "auroc", "auprc", "precision", "recall", "em", "exact", "match", "success",
     "pass", "win", "iou", "dice", "map", "mrr", "ndcg", "brier", "ece", "wer", "correct", "correctness", "hit",
     "kendall"}
)  # fmt: skip

UNITS = {"ms": "ms", "milliseconds": "ms", "msec": "ms", "us": "µs", "ns": "ns", "s": "s", "sec": "s", "secs": "s",
         "seconds": "s", "min": "min", "minutes": "min", "mb": "MB", "mib": "MiB", "gb": "GB", "gib": "GiB",
         "bytes": "bytes", "usd": "USD", "eur": "EUR", "joules": "J", "watts": "W", "percent": "%", "pct": "%",
         "fps": "1/s", "qps": "1/s", "rps": "1/s", "tps": "1/s"}  # fmt: skip


def tokens(name: str) -> list[str]:
    """Return the words of a column's name, in lower case.

    >>> tokens("p95LatencyMs")
    ['p95', 'latency', 'ms']
    """
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z][a-z])|(?<=[a-z])(?=[A-Z])", " ", name)
    return [word for word in re.split(r"[^a-z0-9%]+", parted.lower()) if word]


def plain(name: str) -> str:
    """Return a column's name as the lists above write it."""
    return "_".join(tokens(name))


# The roles of a table's columns: entrant, task, seed, item, and which numbers are metrics. By the names of columns,
# then by what their cells can be: a seed is a whole number, and rows that share every name must differ somewhere.

MAX_TASKS = 5_000


def guess_roles(sheet: ResultsSheet, given: Roles) -> Roles:
    """Return the role of each column; given ones are kept, and a role that fits no column, or is to have none, is
    None.
    """
    free = dict.fromkeys(sheet.columns)

    def take(stated: str | None, usual: Sequence[str], *, whole: bool = False) -> str | None:
        if stated == NO_COLUMN:
            return None
        name = stated or _first(sheet, free, usual, whole=whole)
        free.pop(name or "", None)
        return name

    for name in (*given.metrics, *given.item, given.seed, given.condition, given.task):
        free.pop(name or "", None)
    entrant = take(given.entrant, ENTRANT)
    task = take(given.task, TASK)
    stated = {"condition": given.condition, "seed": given.seed}
    kept = {name: None if column == NO_COLUMN else column for name, column in stated.items()}
    roles = replace(given, entrant=entrant, task=task, **kept)  # type: ignore[arg-type]
    if _repeats(sheet, roles):
        roles = replace(roles, condition=take(given.condition, CONDITION))
    if _repeats(sheet, roles):
        roles = replace(roles, seed=take(given.seed, SEED, whole=True))
    if not given.item and _repeats(sheet, roles):
        roles = replace(roles, item=_item(sheet, roles, free))
    for name in roles.item:
        free.pop(name, None)
    return _with_rest(sheet, roles, free)


def _first(sheet: ResultsSheet, names: Iterable[str], usual: Sequence[str], *, whole: bool) -> str | None:
    by_name = {plain(name): name for name in reversed(list(names))}
    found = (by_name[word] for word in usual if word in by_name)
    return next((name for name in found if _fits(sheet, name, whole=whole)), None)


def _fits(sheet: ResultsSheet, name: str, *, whole: bool) -> bool:
    if sheet.has_empty(name):
        return False
    if whole:
        return sheet.is_whole(name) and len(sheet.words(name)) > 1
    return all(is_name(word) for word in sheet.words(name)[:1000])


def _repeats(sheet: ResultsSheet, roles: Roles) -> bool:
    return sheet.n_distinct(roles.names) < len(sheet.frame)


def _item(sheet: ResultsSheet, roles: Roles, free: Iterable[str]) -> tuple[str, ...]:
    """Return the column, or the two, that distinguish rows which are otherwise alike."""
    by_name = {plain(name): name for name in reversed(list(free))}
    candidates = [by_name[word] for word in ITEM if word in by_name and _fits(sheet, by_name[word], whole=False)]
    for item in (*((name,) for name in candidates), *combinations(candidates, 2)):
        if not _repeats(sheet, replace(roles, item=item)):
            return item
    return tuple(candidates[:1])


def _with_rest(sheet: ResultsSheet, roles: Roles, free: Iterable[str]) -> Roles:
    metrics = roles.metrics or tuple(name for name in free if _is_metric(sheet, name))
    others = [name for name in free if name not in metrics and sheet.numbers(name) is None]
    groups = tuple(name for name in others if _is_group(sheet, roles, name))
    recorded = tuple(name for name in others if name not in groups and len(sheet.words(name)) <= MAX_TASKS)
    n_repeated = len(sheet.frame) - sheet.n_distinct(roles.names)
    return replace(roles, metrics=metrics, groups=groups, recorded=recorded, n_repeated=n_repeated)


def _is_metric(sheet: ResultsSheet, column: str) -> bool:
    if sheet.is_flag(column):
        return True
    if not len(sheet.finite(column)):
        return False
    name = plain(column)
    if name in NO_METRIC or name.startswith(NO_METRIC_BEGINS) or name.endswith(NO_METRIC_ENDS):
        return False
    return name not in SEED + ITEM


def _is_group(sheet: ResultsSheet, roles: Roles, name: str) -> bool:
    """Say whether a column is a property of the task: each task has one value of it, and several share one."""
    if roles.task is None or sheet.has_empty(name):
        return False
    n_values, n_tasks = len(sheet.words(name)), len(sheet.words(roles.task))
    return 1 < n_values < n_tasks and sheet.n_distinct((roles.task, name)) == n_tasks


# Guesses a metric from a column of numbers: its name in a manifest, which way is better, its range and unit. A
# direction comes from the words of the name alone: the numbers cannot say it.

SHARE_RANGE, PERCENT, SIGNED_RANGE = (0.0, 1.0), (0.0, 100.0), (-1.0, 1.0)


def guess_metric(sheet: ResultsSheet, column: str, taken: Collection[str], direction: str | None = None) -> MetricGuess:
    """Guess a metric from the name of its column and from its numbers."""
    spoken, finite = tokens(column), sheet.finite(column)
    ends = (0.0, 1.0) if sheet.is_flag(column) or not len(finite) else (float(finite.min()), float(finite.max()))
    is_binary = sheet.is_flag(column) or (sheet.is_whole(column) and {*ends} <= {0.0, 1.0})
    low, high, why = _range(spoken, ends, is_binary=is_binary)
    return MetricGuess(
        name=metric_name(column, taken),
        column=column,
        direction=direction or _direction(spoken),
        low=low,
        high=high,
        # Not its first word: `min_length` is no length in minutes.
        unit=next((UNITS[word] for word in reversed(spoken[1:] or spoken) if word in UNITS), None),
        observed=ends,
        why=why,
    )


def metric_name(column: str, taken: Collection[str] = ()) -> str:
    """Return a name that a metric may have, close to its column's.

    >>> metric_name("exact_match,strict-match"), metric_name("exact_match,none"), metric_name("95th latency (ms)")
    ('exact_match.strict-match', 'exact_match', 'm95th_latency_ms')
    """
    name = re.sub(r",(none|main)$", "", column).replace(",", ".")
    name = re.sub(r"[^A-Za-z0-9_.@=-]+", "_", name).strip("_.") or "metric"
    name = (name if name[0].isalpha() else f"m{name}")[:60]
    at, free = 2, name
    while free in taken:
        free, at = f"{name}_{at}", at + 1
    return free


def _direction(spoken: list[str]) -> str | None:
    """Return the direction that the words of a name say; the last one decides: an accuracy loss is a loss."""
    for word in reversed(spoken):
        if word in MINIMIZE:
            return "minimize"
        if word in MAXIMIZE:
            return "maximize"
    return None


def _range(
    spoken: list[str], observed: tuple[float, float], *, is_binary: bool
) -> tuple[float | None, float | None, str]:
    low, high = observed
    named = set(spoken)
    if is_binary:
        return *SHARE_RANGE, "every value is 0 or 1"
    if low >= -1.0 and high <= 1.0 and low < 0.0:
        return *SIGNED_RANGE, "values lie within -1 and 1, and some are negative"
    if low >= 0.0 and high <= 1.0 and (named & SHARE or not named & MINIMIZE):
        return *SHARE_RANGE, "values lie within 0 and 1"
    if low >= 0.0 and 1.0 < high <= 100.0 and named & {"percent", "pct", "%", *SHARE}:
        return *PERCENT, "values lie within 0 and 100: a percentage?"
    if low >= 0.0:
        return 0.0, None, "no value is negative"
    return None, None, "any number"


@dataclass(frozen=True)
class Writer(ABC):
    """One manifest on its way to text: its evidence, and what a row of that is, are those of the class."""

    evidence: ClassVar[str]
    row: ClassVar[str]

    sheet: ResultsSheet
    roles: Roles
    metrics: Sequence[MetricGuess]
    slug: str
    title: str
    schema: str

    def lines(self) -> list[str]:
        """Return every line of it."""
        return [
            *self._head(),
            "schema_version: 1",
            commented(f"slug: {self.slug}", "the benchmark's name in addresses; it can never change"),
            f"title: {scalar(self.title)}",
            commented(f"description: {scalar(self.sheet.about or '')}", "Markdown: what is measured, by whom, how"),
            commented(f"evidence: {self.evidence}", f"a row per {self.row}"),
            "",
            *self.columns(),
            "",
            "metrics:",
            *[line for metric in self.metrics for line in self._metric(metric)],
            "",
            *self._tasks(),
            *self.grid(),
            "",
            "admission:",
            commented(
                "  prereg: optional",
                "required: every run must be registered first, and is checked against its registration",
            ),
            commented(
                "  started_at: optional",
                "required: a run must state when it began, which must be after its registration",
            ),
            "",
            "leaderboards:",
            *self.boards(),
        ]

    @abstractmethod
    def columns(self) -> list[str]:
        """Return the lines that say what is in which column."""

    @abstractmethod
    def grid(self) -> list[str]:
        """Return the lines of what every entrant must report, apart from the tasks."""

    @abstractmethod
    def boards(self) -> list[str]:
        """Return the lines of the boards."""

    def column(self, key: str, column: str | None, what: str, why: str, without: str = TODO) -> str:
        """Return the line of a role: its column with what is in it, or what is asked or holds without one."""
        if column is None:
            return commented(f"  {key}: {without}", why)
        return commented(f"  {key}: {scalar(column)}", f"{what}: {such_as(self.sheet.words(column))}")

    def _head(self) -> list[str]:
        files = self.sheet.files
        of = ", ".join(files) if len(files) <= MOST_NAMED else f"{len(files):,} files"
        counts = f"{len(self.sheet.frame):,} rows of {of}"
        return [
            f"# yaml-language-server: $schema={self.schema}",
            f"# Drafted by plumbline from {counts}.",
            "# Read it, correct what is wrong, then run `plumbline benchmark check`, which lists every TODO.",
        ]

    def _metric(self, metric: MetricGuess) -> list[str]:
        low, high = metric.observed
        lines = [f"  {metric.name}:"]
        if metric.column != metric.name:
            lines.append(f"    from: {scalar(metric.column)}")
        if metric.direction is None:
            lines.append(commented(f"    direction: {TODO}", "maximize or minimize?"))
        else:
            lines.append(f"    direction: {metric.direction}")
        ends = (("min", metric.low), ("max", metric.high))
        for at, (key, end) in enumerate((key, end) for key, end in ends if end is not None):
            line = f"    {key}: {number(end)}"
            remark = f"found {low:g} to {high:g} ({metric.why}); values outside are refused"
            lines.append(line if at else commented(line, remark))
        return [*lines, *([f"    unit: {scalar(metric.unit)}"] if metric.unit else [])]

    def _tasks(self) -> list[str]:
        if self.roles.task is None:
            return [commented("tasks: [{id: all}]", "one task: no column names another")]
        names = sorted(self.sheet.words(self.roles.task))
        groups = dict(self.task_groups())
        return [
            "# A closed list is the grid: what an entrant lacks counts against it. `{open: true}` takes any task.",
            "tasks:",
            *[task_line(task, {name: of[task] for name, of in groups.items()}) for task in names],
        ]

    def task_groups(self) -> Iterator[tuple[str, dict[str, str]]]:
        """Yield each column that groups tasks, with the group of each task."""
        if self.roles.task is not None:
            by_task = self.sheet.frame.drop_duplicates(self.roles.task).set_index(self.roles.task)
            yield from ((name, by_task[name].to_dict()) for name in self.roles.groups)


# The manifests that a table may become: of rows that hold for a whole task, and of rows that are items. Items are
# listed by name: a mere count would let one choose easy ones.

MAX_NAMED = 20_000

MAX_SEEDS = 1_000

FEW_TASKS = 5

MAX_BOARDS = 10


class TaskWriter(Writer):
    """A row is an entrant on a task; boards average over tasks."""

    evidence: ClassVar[str] = "evaluation_summary"
    row: ClassVar[str] = "entrant and task"

    def columns(self) -> list[str]:
        """Return who, on what, and what is only kept."""
        roles = self.roles
        lines = [
            "columns:",
            self.column("entrant", roles.entrant, "who is compared", "which column names the entrant?"),
            self.column("task", roles.task, "what they are compared on", "one task, which no column names", "null"),
        ]
        if roles.recorded:
            listed = flow_list(roles.recorded, "    ")
            lines.append(commented(f"  recorded: {listed}", "stored and shown, never used in computations"))
        return lines

    def grid(self) -> list[str]:
        """Return nothing: the tasks are the grid."""
        return []

    def boards(self) -> list[str]:
        """Return boards of averages: over tasks, and over their groups."""
        first, *others = self.metrics[:MAX_BOARDS]
        lines = [*self._mean(first, "mean"), *self._group_mean(first), *self._borda(first)]
        return [*lines, *[line for each in others for line in self._mean(each, _board_slug(f"mean-{each.name}"))]]

    def tasks_with(self, metric: MetricGuess) -> list[str] | None:
        """Return the tasks that have a metric, where others have none of it; None where all have it."""
        if self.roles.task is None:
            return None
        finite = self.sheet.finite(metric.column)
        having = self.sheet.frame.loc[finite.index, self.roles.task].dropna().unique().tolist()
        return sorted(having) if 0 < len(having) < len(self.sheet.words(self.roles.task)) else None

    def _mean(self, metric: MetricGuess, name: str) -> list[str]:
        about = "the average over tasks; an entrant that lacks one is listed separately, without a rank"
        keys = {"name": name, "method": "mean", "metric": metric.name, "missing": "drop"}
        return _board(keys, about, self.tasks_with(metric))

    def _group_mean(self, metric: MetricGuess) -> list[str]:
        grouping = next(self.task_groups(), None)
        if grouping is None:
            return []
        column, of = grouping
        groups: dict[str, list[str]] = {}
        for task in self.tasks_with(metric) or sorted(of):
            groups.setdefault(of[task], []).append(task)
        return [
            f"  - name: {_board_slug(f'mean-{column}')}",
            commented("    method: group_mean", f"the mean over groups of tasks, each {column} counting the same"),
            f"    metric: {metric.name}",
            "    groups:",
            *[f"      {scalar(name)}: {flow_list(groups[name], '        ')}" for name in sorted(groups)],
        ]

    def _borda(self, metric: MetricGuess) -> list[str]:
        tasks = self.tasks_with(metric)
        if self.roles.task is None or len(tasks or self.sheet.words(self.roles.task)) < FEW_TASKS:
            return []
        about = "points for everybody ranked behind, task by task; an absent task gives none"
        return _board({"name": "borda", "method": "borda", "metric": metric.name}, about, tasks)


def _board(keys: Mapping[str, str], about: str, tasks: Sequence[str] | None) -> list[str]:
    """Return a board in one line, or with the tasks that it is over in several."""
    if tasks is None:
        return [commented(f"  - {{{', '.join(f'{key}: {value}' for key, value in keys.items())}}}", about)]
    (key, name), *rest = keys.items()
    lines = [f"    {key}: {value}" for key, value in rest]
    listed = commented(f"    tasks: {flow_list(tasks, '      ')}", "the others have no such metric")
    return [commented(f"  - {key}: {name}", about), *lines, listed]


def _board_slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:63].strip("-") or "board"


class ItemWriter(Writer):
    """A row is an item, once for each seed and condition; boards estimate."""

    evidence: ClassVar[str] = "episodes"
    row: ClassVar[str] = "item"

    def columns(self) -> list[str]:
        """Return who, on what, and what tells the rows of both apart."""
        roles = self.roles
        lines = ["episodes:"]
        lines += [self.column("entrant", roles.entrant, "who is compared", "which column names the entrant?")]
        lines += [] if roles.task is None else [self.column("task", roles.task, "the task", "")]
        lines += [self._seed_line(), self._item_line()]
        if roles.condition is None:
            lines.append(commented("  condition: null", "every item is run once, under one condition"))
        else:
            lines.append(self.column("condition", roles.condition, "the condition", ""))
        return lines

    def _seed_line(self) -> str:
        if self.roles.seed is None:
            return commented("  seed: null", "no seeds: intervals resample items")
        return commented(f"  seed: {scalar(self.roles.seed)}", "intervals resample seeds, then items within them")

    def _item_line(self) -> str:
        if self.roles.n_repeated:
            return commented(
                f"  item: [{TODO}]", f"{self.roles.n_repeated:,} rows repeat: which column distinguishes them?"
            )
        item = self.roles.item or (self.roles.seed or "",)
        return commented(f"  item: {flow_list(item, '    ')}", "what identifies a row within a seed and task")

    def grid(self) -> list[str]:
        """Return the seeds, conditions and items that every entrant must report; no lines for an empty grid."""
        lines = [*self._seeds(), *self._conditions(), *self._items()]
        if not lines:
            return []
        return ["", "grid:", *lines, commented("  absent: unranked", "or worst: what is missing counts as the worst")]

    def _seeds(self) -> Iterator[str]:
        if self.roles.seed is None:
            yield commented("  seeds: [0]", "there are none: every row is of seed 0")
            return
        seeds = sorted({int(float(word)) for word in self.sheet.words(self.roles.seed)})
        if len(seeds) > MAX_SEEDS or seeds[0] < 0 or not self._shared((self.roles.seed,)):
            yield "  # Entrants have different seeds, so none are asked for; `seeds: 5` asks each for five of its own."
        else:
            yield commented(f"  seeds: {flow_list(seeds, '    ')}", "every entrant has these")

    def _conditions(self) -> Iterator[str]:
        if self.roles.condition is not None:
            yield f"  conditions: {flow_list(self.sheet.words(self.roles.condition), '    ')}"

    def _shared(self, names: tuple[str, ...]) -> bool:
        """Say whether most entrants have the same of some columns."""
        if self.roles.entrant is None:
            return True
        n_everybody_has_all = self.sheet.n_distinct(names) * len(self.sheet.words(self.roles.entrant))
        return 2 * self.sheet.n_distinct((self.roles.entrant, *names)) > n_everybody_has_all

    def _items(self) -> Iterator[str]:
        if len(self.roles.item) != 1 or self.roles.n_repeated:
            return
        by_task = self._items_by_task()
        if sum(map(len, by_task.values())) > MAX_NAMED:
            yield "  # Too many items to list here: put them with `plumbline benchmark items`, columns task and item."
            yield "  items: file"
            return
        lists = list(by_task.values())
        if all(items == lists[0] for items in lists):
            yield commented(f"  items: {flow_list(lists[0], '    ')}", f"{len(lists[0]):,} in each task and seed")
            return
        yield "  tasks:"
        for task, items in by_task.items():
            yield commented(f"    {scalar(task)}: {{items: {flow_list(items, '      ')}}}", f"{len(items):,}")

    def _items_by_task(self) -> dict[str, list[str]]:
        (item,) = self.roles.item
        if self.roles.task is None:
            return {"all": _in_order(self.sheet.words(item))}
        by_task = self.sheet.frame.dropna(subset=item).groupby(self.roles.task)[item].unique()
        return {task: _in_order(items.tolist()) for task, items in by_task.items()}

    def boards(self) -> list[str]:
        """Return one board: an estimate of each metric, ranked by the first."""
        first = self.metrics[0]
        is_share = (first.low, first.high) == (0.0, 1.0)
        statistic = ("mean", "of 0 and 1: a share") if is_share else ("iqm", "the interquartile mean; or mean")
        return [
            f"  - name: {_board_slug(first.name)}",
            commented("    method: estimate", "each entrant's own score with its interval, ranked with rank sets"),
            f"    metrics: {flow_list([metric.name for metric in self.metrics], '      ')}",
            commented(f"    rank_by: {first.name}", "the others are shown beside it"),
            commented(f"    statistic: {statistic[0]}", statistic[1]),
        ]


def _in_order(items: list[str]) -> list[str]:
    """Return items in the order of their numbers where all are whole ones, else of the alphabet."""
    whole = all(item.isascii() and item.isdigit() and len(item) < 19 for item in items)
    return sorted(items, key=int) if whole else sorted(items)


# Labels without a prediction yet: what a teacher has before the class has sent anything. They are never evidence, so no
# board is shown of them, and they are uploaded again once the benchmark is there.

LABEL_COLUMNS = frozenset({"item", "label", "task", "weight", "group"})

MOST_CLASSES = 20

METRICS_OF_LABELS: Mapping[str, Sequence[tuple[str, str, float | None, float | None]]] = {
    "binary": (("auc", "maximize", 0, 1), ("accuracy", "maximize", 0, 1), ("brier", "minimize", 0, 1)),
    "multiclass": (("accuracy", "maximize", 0, 1),),
    "regression": (("rmse", "minimize", 0, None), ("mae", "minimize", 0, None)),
}
"""The metrics that are offered, the first ranks: name, direction, least and greatest value."""


def is_labels(sheet: ResultsSheet) -> bool:
    """Say whether a sheet has the columns of a file of labels, and no other ones."""
    names = set(sheet.columns)
    return {"item", "label"} <= names <= LABEL_COLUMNS


def _draft_of_labels(sheet: ResultsSheet, stem: str, wishes: Wishes) -> Draft:
    classes = sheet.words("label")
    numbers = sheet.numbers("label")
    is_number = len(classes) > MOST_CLASSES or (numbers is not None and not sheet.is_whole("label"))
    if is_number and numbers is None:
        problem = Problem(
            f"{len(classes):,} different labels, which are no numbers: such a manifest is written by hand",
            column="label",
        )
        raise EvidenceRejected("These labels are neither classes nor numbers.", [problem])
    offered = METRICS_OF_LABELS["regression" if is_number else "binary" if len(classes) == 2 else "multiclass"]
    chosen = [each for each in offered if each[0] in wishes.roles.metrics] or offered
    metrics = [MetricGuess(name, name, direction, low, high, None, (0.0, 1.0), "")
               for name, direction, low, high in chosen]  # fmt: skip
    roles = Roles(task="task" if "task" in sheet.columns else None)
    title = wishes.title or plain_title(stem)
    writer = LabelWriter(sheet, roles, metrics, plain_slug(wishes, stem), title, wishes.schema)
    return _drafted(writer, roles, metrics, (name for name, *_ in offered))


class LabelWriter(Writer):
    """A row is an item with its label; of the metrics the first one ranks."""

    evidence: ClassVar[str] = "predictions"
    row: ClassVar[str] = "entrant and item, scored against the labels of the steward"

    def columns(self) -> list[str]:
        """Return what is predicted, and that the labels are a secret."""
        lines = ["predictions:", "  kind: regression"]
        if self.metrics[0].name not in ("rmse", "mae"):
            classes = _in_order(self.sheet.words("label"))
            lines = ["predictions:", "  kind: classification", f"  classes: {flow_list(classes, '    ')}"]
            if len(classes) == 2:
                lines.append(commented(f"  positive: {scalar(classes[1])}", "the class whose probability is predicted"))
        why = "the steward uploads them once, and nobody can read them here; public: no secret"
        return [
            *lines,
            commented("  labels: private", why),
            "scoring:",
            commented("  public_share: 0.5", "the share of the items that is scored before the close; 1: all of them"),
            commented("  per_day: 5", "how many submissions of one owner are scored in a day"),
        ]

    def grid(self) -> list[str]:
        """Return nothing: the labels name the items."""
        return []

    def boards(self) -> list[str]:
        """Return one board, with every metric beside the one that ranks."""
        names = [each.name for each in self.metrics]
        return [f"  - {{name: main, method: estimate, metrics: {flow_list(names, '    ')}, rank_by: {names[0]}}}"]

    def _metric(self, metric: MetricGuess) -> list[str]:
        ends = (("min", metric.low), ("max", metric.high))
        written = [f"direction: {metric.direction}", *(f"{key}: {number(end)}" for key, end in ends if end is not None)]
        return [f"  {metric.name}: {{{', '.join(written)}}}"]


def writer_of(roles: Roles) -> type[Writer]:
    """Return the writer of the manifest: rows that name items, or repeat their task, are items."""
    return ItemWriter if roles.has_items or roles.n_repeated else TaskWriter


MOST_NAMED = 3

# YAML written by hand, because comments belong to it: scalars in quotes where they need them, lists that are folded.
# What is written is read back by `app.yaml`, whose scalars these are.

WIDTH = 110

# What a plain scalar may hold inside a flow list without meaning something else.
_PLAIN = re.compile(r"[A-Za-z0-9_./(][A-Za-z0-9_./()@+=%~^ -]*")


def scalar(value: str | float | bool | None) -> str:
    """Return a scalar as YAML.

    >>> [scalar(value) for value in ("task", "yes, no", "0", 1.0, None)]
    ['task', '"yes, no"', '"0"', '1.0', 'null']
    """
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, int | float):
        return repr(value)
    return value if _is_plain(value) else json.dumps(value, ensure_ascii=False)


def number(value: float) -> str:
    """Return a number as a person writes it: 1 for 1.0."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def _is_plain(text: str) -> bool:
    if text != text.strip() or not _PLAIN.fullmatch(text):
        return False
    try:
        return isinstance(resolve_plain(text), str)
    except ScalarNotAllowed:
        return False


def flow_list(values: Iterable[str | int], indent: str) -> str:
    """Return a list in brackets, its further lines indented."""
    lines, line = [], "["
    parts = [scalar(value) for value in values]
    for at, part in enumerate(parts):
        end = "]" if at == len(parts) - 1 else ","
        if len(indent) + len(line) + len(part) + 2 > WIDTH and len(line) > 1:
            lines.append(line.rstrip())
            line = " "
        line += f"{part}{end}" if end == "]" else f"{part}, "
    return f"\n{indent}".join([*lines, line if parts else "[]"])


def commented(line: str, comment: str) -> str:
    """Return a line with a comment behind it, or above it where both are long."""
    if len(line) + len(comment) + 4 <= WIDTH:
        return f"{line}  # {comment}"
    indent = line[: len(line) - len(line.lstrip())]
    return f"{indent}# {comment}\n{line}"


def such_as(words: Sequence[str]) -> str:
    """Return a few of many, for a comment."""
    shown = ", ".join(word[:40] for word in words[:MOST_NAMED])
    return f"{len(words):,}, such as {shown}" if len(words) > MOST_NAMED else shown


def task_line(task: str, where: Mapping[str, str]) -> str:
    """Return a task of the list, with what its rows say of it in some columns.

    >>> task_line("SST2", {"type": "Classification"})
    '  - {id: SST2, where: {type: Classification}}'
    """
    words = ", ".join(f"{scalar(name)}: {scalar(value)}" for name, value in where.items())
    return f"  - {{id: {scalar(task)}" + (f", where: {{{words}}}" if words else "") + "}"
