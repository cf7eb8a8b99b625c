"""The cells of one episode, each read with everything that is wrong with it. For `app.kinds.episodes.read`.

JSON values keep their types: a boolean is true or false, and "true" is text. CSV has only text, so there words are read
as booleans.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.errors import Problem
from app.files.findings import Findings
from app.files.tables import BEYOND, is_storable
from app.harnesses.contract import kept_text
from app.manifest.model import Metric
from app.names import clip_for_message, complain_about_name, is_name

BOOLEANS = {"true": 1.0, "false": 0.0, "True": 1.0, "False": 0.0, "TRUE": 1.0, "FALSE": 0.0}
SEED_LIMIT = 2**63
_WHOLE = re.compile(r"-?[0-9]{1,19}")


@dataclass(frozen=True)
class EpisodeSource:
    """Where episodes come from: a file, by name and position, and what they have in common.

    `is_text` means that every cell is text, as in CSV. `seed` is the seed in the file's name, `boolean` are the columns
    that are true or false in this layout.
    """

    file: str
    position: int
    entrant: str | None
    task: str | None
    is_text: bool = False
    seed: int | None = None
    boolean: frozenset[str] = frozenset()


class EpisodeCells:
    """The cells of one episode; each method notes what is wrong and then returns None, or NaN for a score."""

    def __init__(self, source: EpisodeSource, row: int, cells: Mapping[str, Any], findings: Findings) -> None:
        self._source = source
        self._row = row
        self._cells = cells
        self._findings = findings

    def refuse(self, message: str, column: str, value: Any = None) -> None:
        """Note a problem in a column of this episode."""
        shown = None if value is None else clip_for_message(str(value))
        self._findings.add(Problem(message, self._source.file, self._row, column, shown))

    def has(self, path: str) -> bool:
        """Say whether the episode has a cell at the dotted path."""
        return self._at(path) is not None

    def recorded(self, path: str) -> str | None:
        """Return what the episode records at a path as a text of at most 2,000 characters."""
        cell = self._at(path)
        if cell is None or isinstance(cell, str):
            return None if cell is None else kept_text(cell)
        return kept_text(json.dumps(cell, ensure_ascii=False, default=str))

    def entrant(self, column: str) -> str | None:
        """Return the entrant: the form field's or the bundle's, else that of its column."""
        name = self._source.entrant or self._at(column)
        if name is None:
            self.refuse(f"no entrant; send the form field entrant, or a column {column}", column)
            return None
        return self._named(name, column)

    def task(self, path: str | None, known: Sequence[str] | None) -> str | None:
        """Return the task: the declared column's, else the bundle's, else the only one there is."""
        name = self._at(path) if path is not None else self._source.task
        name = known[0] if name is None and known is not None and len(known) == 1 else name
        column = path or "task"
        if name is None:
            self.refuse("the episode does not name its task", column)
            return None
        named = self._named(name, column)
        if named is None:
            return None
        if known is not None and named not in known:
            self.refuse(self._findings.unknown("not a task of this benchmark", named, known), column, named)
            return None
        return named

    def condition(self, paths: Sequence[str], known: Sequence[str] | None) -> str | None:
        """Return the condition, empty text where the benchmark has none."""
        if not paths:
            return ""
        by_path = {path: name for path in paths if (name := self._at(path)) is not None}
        if not by_path:
            self.refuse("the episode does not say its condition", " or ".join(paths))
            return None
        path, name = next(iter(by_path.items()))
        if any(other != name for other in by_path.values()):
            self.refuse(
                "the episode says two conditions",
                " and ".join(by_path),
                ", ".join(map(str, by_path.values())),
            )
            return None
        named = self._named(name, path)
        if named is not None and known is not None and named not in known:
            self.refuse(self._findings.unknown("not a condition of this benchmark", named, known), path, named)
            return None
        return named

    def seed(self, column: str | None) -> int | None:
        """Return the seed, a whole number that the file's name agrees with; 0 where there are no seeds."""
        if column is None:
            return 0
        seed = self._integer(column)
        promised = self._source.seed
        if seed is not None and promised is not None and seed != promised:
            self.refuse(f"the file is of seed {promised}", column, seed)
            return None
        return seed

    def item(self, paths: Sequence[str]) -> str | None:
        """Return the identifier of the episode among those of its seed, its parts joined by a slash.

        A slash within one of several parts is written `\\/`, so that no two lists of parts become one item.
        """
        parts = [self._at(path) for path in paths]
        if all(type(part) is int for part in parts):
            return "/".join(map(str, parts))
        checked = [self._part_of_item(path, part) for path, part in zip(paths, parts, strict=True)]
        texts = [text for text in checked if text is not None]
        if len(texts) < len(paths):
            return None
        return texts[0] if len(texts) == 1 else "/".join(map(_escape_slashes, texts))

    def _part_of_item(self, path: str, part: Any) -> str | None:
        if type(part) is int:
            return str(part)
        if isinstance(part, str) and is_name(part):
            return part
        complaint = complain_about_name(part) if isinstance(part, str) else "expected a whole number or a name"
        self.refuse(complaint, path, part)
        return None

    @property
    def boolean(self) -> frozenset[str]:
        """The columns that must be true or false in such a file."""
        return self._source.boolean

    def score(self, column: str, metric: Metric, *, is_boolean: bool) -> float:
        """Return the metric's value; NaN for an empty cell, and for a wrong one after noting it."""
        cell = self._at(column)
        if cell is None:
            return math.nan
        if is_boolean and not (isinstance(cell, bool) or (self._source.is_text and cell in BOOLEANS)):
            self.refuse("expected true or false, not a number", column, cell)
            return math.nan
        value = self._number(cell)
        if value is None:
            self.refuse("expected true, false or a number; text is neither", column, cell)
            return math.nan
        if not math.isfinite(value):
            self.refuse("a score must be finite; leave the cell empty when there is none", column, cell)
            return math.nan
        if not is_storable(value):
            self.refuse(BEYOND, column, cell)
            return math.nan
        if metric.above is not None:
            return float(value > metric.above)
        if (metric.min is not None and value < metric.min) or (metric.max is not None and value > metric.max):
            self.refuse(f"expected {_range(metric)}", column, cell)
            return math.nan
        return value

    def _number(self, cell: Any) -> float | None:
        if isinstance(cell, bool | int | float):
            return float(cell)
        if not isinstance(cell, str):
            return None
        # JSON's NaN and Infinity arrive as this text, and are refused as such.
        if cell in ("NaN", "Infinity", "-Infinity"):
            return math.nan
        if not self._source.is_text:
            return None
        # Python's float() also reads digits of other scripts and 1_000, which nobody writes into a table on purpose.
        if cell in BOOLEANS:
            return BOOLEANS[cell]
        try:
            return float(cell) if cell.isascii() and "_" not in cell else None
        except ValueError:
            return None

    def _integer(self, path: str) -> int | None:
        cell = self._at(path)
        if self._source.is_text and isinstance(cell, str) and _WHOLE.fullmatch(cell):
            cell = int(cell)
        if isinstance(cell, bool) or not isinstance(cell, int) or not -SEED_LIMIT <= cell < SEED_LIMIT:
            self.refuse("expected a whole number of 64 bits", path, self._at(path))
            return None
        return cell

    def _named(self, name: Any, column: str) -> str | None:
        if isinstance(name, str) and is_name(name):
            return name
        self.refuse(complain_about_name(name) if isinstance(name, str) else "a name is text", column, name)
        return None

    def _at(self, path: str) -> Any:
        if path in self._cells:
            return self._cells[path]
        if "." not in path:
            return None
        cell: Any = self._cells
        for step in path.split("."):
            if not isinstance(cell, Mapping) or step not in cell:
                return None
            cell = cell[step]
        return cell


def _escape_slashes(part: str) -> str:
    return part.replace("\\", "\\\\").replace("/", "\\/")


def _range(metric: Metric) -> str:
    low = "" if metric.min is None else f"at least {metric.min:g}"
    high = "" if metric.max is None else f"at most {metric.max:g}"
    return " and ".join(part for part in (low, high) if part)
