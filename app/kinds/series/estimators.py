"""What a run says about its estimators and about itself: family, target estimand, parameters, and its mode.

Called by `app.kinds.series.read`. It is shown beside the scores; only the mode is compared with the benchmark.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from app.errors import Problem, Rejected
from app.files.findings import Findings
from app.files.flag_cells import FLAGS
from app.files.tables import open_table
from app.files.uploads import ReceivedFile
from app.kinds.series.json_cells import NotAnObject, is_storable, value_of, write
from app.kinds.series.names import VARIANT_MARK
from app.names import clip_for_message
from app.yaml.strict import read_yaml

MAX_MANIFEST_BYTES = 1 << 20
MAX_TEXT = 500
FLAG_COLUMNS = ("supports_ci", "supports_diagnostics")
JSON_COLUMNS = {"assumptions_json": "assumptions", "params_json": "parameters"}
COLUMNS = ("estimator_name", "family", "target_estimand", *FLAG_COLUMNS, *JSON_COLUMNS, "version")

Described = dict[str, dict[str, Any]]


def read_estimator_table(file: ReceivedFile, findings: Findings, warnings: list[Problem], max_rows: int) -> Described:
    """Return tables/estimator_metadata.csv by estimator."""
    table = open_table(file, findings, warnings, max_rows)
    if table is None:
        return {}
    if COLUMNS[0] not in table.header:
        findings.add(Problem(f"the column {COLUMNS[0]} is missing", file.name, column=COLUMNS[0]))
        return {}
    described: Described = {}
    for block in table.blocks([name for name in COLUMNS if name in table.header]):
        cells = {name: texts.to_pylist() for name, texts in block.columns.items()}
        for at, row in enumerate(block.rows.tolist()):
            reader = _Row(file.name, row, {name: texts[at] for name, texts in cells.items()}, findings)
            described[reader.name()] = reader.facts()
    return described


class _Row:
    """One estimator's row; a wrong cell is noted and left out."""

    def __init__(self, file: str, row: int, cells: Mapping[str, str | None], findings: Findings) -> None:
        self._file = file
        self._row = row
        self._cells = cells
        self._findings = findings

    def name(self) -> str:
        return self._cells[COLUMNS[0]] or ""

    def facts(self) -> dict[str, Any]:
        facts: dict[str, Any] = {}
        for column, cell in self._cells.items():
            if cell is None or column == COLUMNS[0]:
                continue
            if column in FLAG_COLUMNS and cell in FLAGS:
                facts[column] = FLAGS[cell]
            elif column in FLAG_COLUMNS:
                self._refuse("neither True nor False", column, cell)
            elif column in JSON_COLUMNS:
                facts[JSON_COLUMNS[column]] = self._json(column, cell)
            elif len(cell) > MAX_TEXT or not cell.isprintable():
                self._refuse(f"text is printable and has at most {MAX_TEXT} characters", column, cell)
            else:
                facts[column] = cell
        return facts

    def _json(self, column: str, cell: str) -> Any:
        try:
            return value_of(cell)
        except NotAnObject as error:
            self._refuse(str(error), column, cell)
            return None

    def _refuse(self, message: str, column: str, value: str) -> None:
        self._findings.add(Problem(message, self._file, self._row, column, clip_for_message(value)))


def read_run_manifest(file: ReceivedFile, warnings: list[Problem]) -> Mapping[str, Any]:
    """Return the run's own manifest; one that cannot be read is ignored with a warning."""
    try:
        document = read_yaml(file.path.read_bytes(), max_bytes=MAX_MANIFEST_BYTES, what=file.name)
    except Rejected as error:
        warnings.append(Problem(f"the run's manifest was ignored: {error.problems[0].message}", file=file.name))
        return {}
    if not isinstance(document, dict) or not is_storable(document):
        warnings.append(Problem("the run's manifest was ignored: expected a mapping of plain values", file=file.name))
        return {}
    return document


def described_by(manifest: Mapping[str, Any]) -> Described:
    """Return what a run's own manifest says about its estimators; each variant is an estimator."""
    listed = manifest.get("estimators")
    return dict(pair for entry in (listed if isinstance(listed, list) else []) for pair in _described(entry))


def _described(entry: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        return
    facts = {key: entry[key] for key in ("family", "target_estimand", "supports_ci") if key in entry}
    common = entry["params"] if isinstance(entry.get("params"), dict) else {}
    variants = entry.get("variants")
    if not isinstance(variants, list):
        yield entry["name"], {**facts, "parameters": common}
        return
    for variant in variants:
        if isinstance(variant, dict) and isinstance(variant.get("name"), str):
            own = variant["params"] if isinstance(variant.get("params"), dict) else {}
            yield f"{entry['name']}{VARIANT_MARK}{variant['name']}", {**facts, "parameters": {**common, **own}}


def problem_of_mode(file: ReceivedFile, manifest: Mapping[str, Any], mode: str | None) -> Problem | None:
    """Return that a run was made in another mode than the benchmark's."""
    stated = manifest.get("mode")
    if stated is None or mode is None or stated == mode:
        return None
    message = f"the run was made in another mode; this benchmark's is {mode}"
    return Problem(message, file.name, column="mode", value=clip_for_message(write(stated)))
