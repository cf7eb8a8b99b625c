"""What OpenML's client keeps of a run: `description.xml`, `predictions.arff`, and `flow.xml` of a flow of its own.

Found by `app.harnesses.known`. A row of the predictions is an item, its repeat the seed: a class is right or wrong
(`predictive_accuracy`), a number is off by so much (`mean_absolute_error`). The summary has the evaluations that the
description states, as means over repeats and folds.
Source of the layout: openml 0.15, `openml/runs/run.py`, `to_filesystem` and `_generate_arff_dict`; ARFF as liac-arff.
"""

import csv
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile
from pathlib import PurePosixPath
from xml.etree import ElementTree

from app.files.text import problem_of_text
from app.files.uploads import ReceivedFile
from app.harnesses.contract import Harness, HarnessRun, Row

DESCRIPTION, PREDICTIONS, FLOW, TRACE = "description.xml", "predictions.arff", "flow.xml", "trace.arff"
SUFFIXES = (".xml", ".arff")
ACCURACY, ERROR = "predictive_accuracy", "mean_absolute_error"
RANKING = {ACCURACY: "maximize", "area_under_roc_curve": "maximize", ERROR: "minimize"}
OML = "{http://openml.org/openml}"
STATED = ("task_id", "flow_id", "flow_name", "setup_string", "run_id", "uploader_name")
MAX_XML_BYTES = 4 * 1024 * 1024
# A document type can name files and grow without end; no description of a run has one.
DECLARED = re.compile(rb"<!\s*(DOCTYPE|ENTITY)", re.IGNORECASE)
ATTRIBUTE = re.compile(r"@attribute\s+(?:'((?:\\.|[^'\\])*)'|\"((?:\\.|[^\"\\])*)\"|(\S+))\s", re.IGNORECASE)
DATA = "@data"


def owns(file: ReceivedFile) -> bool:
    """Say whether a file is called as the client calls those of a run."""
    return PurePosixPath(file.name).name in (DESCRIPTION, PREDICTIONS, FLOW, TRACE)


@dataclass(frozen=True)
class _Run:
    """One folder: its files by name, and what its description says."""

    files: Mapping[str, ReceivedFile]
    entrant: str | None
    task: str
    description: ElementTree.Element


def _runs(run: HarnessRun) -> Iterator[_Run]:
    folders: dict[str, dict[str, ReceivedFile]] = {}
    for file in run.files:
        folders.setdefault(str(PurePosixPath(file.name).parent), {})[PurePosixPath(file.name).name] = file
    run.lacking += ["flow_name", "setup_string", "run_id"]
    for folder, files in folders.items():
        if DESCRIPTION not in files:
            message = f"{DESCRIPTION} of this run is not beside it, which says of which task and flow it is"
            run.refuse(next(iter(files.values())), message, value=folder)
            continue
        description = _xml(run, files[DESCRIPTION])
        flow = _xml(run, files[FLOW]) if FLOW in files else None
        if description is None or (FLOW in files and flow is None):
            continue
        task = _text(description, "task_id")
        if task is None:
            run.refuse(files[DESCRIPTION], "the run names no task", column="task_id")
            continue
        yield _Run(files, _entrant(description, flow), f"task {task}", description)
        _state(run, description, f"task {task}")


def _entrant(description: ElementTree.Element, flow: ElementTree.Element | None) -> str | None:
    named = _text(description, "flow_name") or (None if flow is None else _text(flow, "name"))
    number = _text(description, "flow_id")
    return named or (None if number is None else f"flow {number}")


def _state(run: HarnessRun, description: ElementTree.Element, task: str) -> None:
    for key in STATED:
        run.state(key, _text(description, key), task)
    for setting in description.findall(f"{OML}parameter_setting"):
        run.state(f"parameter {_text(setting, 'name')}", _text(setting, "value"), task)


def _xml(run: HarnessRun, file: ReceivedFile) -> ElementTree.Element | None:
    content = file.path.read_bytes()[: MAX_XML_BYTES + 1]
    if len(content) > MAX_XML_BYTES:
        run.refuse(file, f"larger than {MAX_XML_BYTES // 1024**2} MiB, which no description of a run is")
    elif b"\0" in content:
        run.refuse(file, "not UTF-8")
    elif DECLARED.search(content):
        run.refuse(file, "declares a document type, which is not read")
    else:
        try:
            return ElementTree.fromstring(content)  # noqa: S314 - entities cannot be declared, see above
        except (ElementTree.ParseError, ValueError, LookupError) as error:
            run.refuse(file, f"not XML: {error}", getattr(error, "position", (None,))[0])
    return None


def _text(element: ElementTree.Element, key: str) -> str | None:
    return (element.findtext(f"{OML}{key}") or "").strip() or None


def summary(run: HarnessRun) -> Iterator[Row]:
    """Yield a row for each run whose description states evaluations."""
    for each in _runs(run):
        file, values_by_name = each.files[DESCRIPTION], dict[str, list[float]]()
        for at, stated in enumerate(each.description.iterfind(f"{OML}output_data/{OML}evaluation"), start=1):
            name, value = _text(stated, "name"), _number(_text(stated, "value"))
            if name is None or value is None:
                run.refuse(file, "the evaluation has no name and number", at, "evaluation", _text(stated, "value"))
            else:
                values_by_name.setdefault(name, []).append(value)
        if not values_by_name:
            run.refuse(file, "the run states no evaluation", column="output_data")
            continue
        yield Row(file, 1, each.entrant, each.task, {name: sum(n) / len(n) for name, n in values_by_name.items()})


def items(run: HarnessRun) -> Iterator[Row]:
    """Yield a row for each prediction."""
    run.directions |= RANKING
    for each in _runs(run):
        file = each.files.get(PREDICTIONS)
        for row, cells in () if file is None else _records(run, file):
            score = _score(cells)
            seed, item = _number(cells.get("repeat", "0")), _number(cells.get("row_id"))
            if file is None or isinstance(score, str) or item is None or seed is None:
                wrong = score if isinstance(score, str) else "row_id" if item is None else "repeat"
                run.refuse(each.files[PREDICTIONS], f"expected a prediction with {wrong}", row, wrong, cells.get(wrong))
            else:
                number = int(item)
                yield Row(file, row, each.entrant, each.task, score, number, int(seed), {"row_id": number})


def _score(cells: Mapping[str, str]) -> dict[str, float] | str:
    """Return the score of a prediction, or the column that it lacks."""
    predicted, truth = cells.get("prediction"), cells.get("correct")
    if truth is not None:
        return "prediction" if predicted in (None, "?") else {ACCURACY: float(predicted == truth)}
    numbers = {name: _number(cells.get(name)) for name in ("prediction", "truth")}
    lacking = next((name for name, number in numbers.items() if number is None), None)
    return lacking or {ERROR: abs((numbers["prediction"] or 0.0) - (numbers["truth"] or 0.0))}


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _records(run: HarnessRun, file: ReceivedFile) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of an ARFF file with the lines on which they stand."""
    problem = problem_of_text(file.path, file.name)
    if problem is not None:
        run.findings.add(problem)
        return
    with file.path.open(encoding="utf-8-sig") as content:
        lines = enumerate(content, start=1)
        head = list(takewhile(lambda line: line[1].strip().lower() != DATA, lines))
        names = [name for _, line in head if (name := _attribute(line)) is not None]
        n_rows = 0
        for at, line in lines:
            if not line.strip() or line.startswith("%"):
                continue
            n_rows += 1
            cells = _cells(line)
            if cells is None or len(cells) != len(names):
                wrong = "a quote is not closed" if cells is None else f"the row has {len(cells):,} cells"
                run.refuse(file, f"{wrong}; there are {len(names):,} attributes", at)
            else:
                yield at, dict(zip(names, cells, strict=True))
        if not names or not n_rows:
            run.refuse(file, f"no attributes, or no rows behind a line {DATA}: cut off, or not ARFF")


def _cells(line: str) -> list[str] | None:
    """Return the cells of a row; None where a quote is not closed, or a cell is longer than any is."""
    try:
        return next(csv.reader([line], quotechar="'", escapechar="\\", skipinitialspace=True, strict=True), [])
    except csv.Error:
        return None


def _attribute(line: str) -> str | None:
    """Return the name that a line of the head declares."""
    declaration = ATTRIBUTE.match(f"{line.strip()} ")
    return (
        None
        if declaration is None
        else next(part for part in declaration.groups() if part is not None).replace("\\", "")
    )


OPENML = Harness(
    name="openml", title="OpenML", suffixes=SUFFIXES, owns=owns, items=items, summary=summary, preset=RANKING
)
