"""Problems of one upload as they are found: all are counted, the first MAX_PROBLEMS are kept.

With those that every kind may find: text that cannot be read, missing columns, repeated rows. Filled by every module of
`app.kinds`; `app.kinds.reader` raises what it holds.
"""

import codecs
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from app.errors import MAX_PROBLEMS, Causes, EvidenceRejected, Problem
from app.names import clip_for_message, first_few, name_key, nearest
from app.stats.arrays import IntArray
from app.values.scores import NONE, ScoreTable

MOST_MEANT = 5
"""The different unknown names of an upload for which one that was meant is looked for."""


class Findings:
    """Problems in the order in which they were found."""

    def __init__(self) -> None:
        self.kept: list[Problem] = []
        self.n_problems = 0
        self._causes = Causes()
        self._meant: dict[str, str] = {}

    def add(self, problem: Problem) -> None:
        """Count one problem, and keep it while there is room."""
        self.n_problems += 1
        self._causes.count(problem)
        if len(self.kept) < MAX_PROBLEMS:
            self.kept.append(problem)

    def extend(self, problems: Iterable[Problem]) -> None:
        """Add each of several problems."""
        for problem in problems:
            self.add(problem)

    def add_each(self, positions: Sequence[int], describe: Callable[[int], Problem]) -> None:
        """Count a problem for each position; `describe` is called for those that are kept and for one more.

        The others differ from that one in numbers and names only, so they have its cause.
        """
        room = MAX_PROBLEMS - len(self.kept)
        kept = [describe(position) for position in positions[:room]]
        for problem in kept:
            self._causes.count(problem)
        if len(positions) > len(kept):
            self._causes.count(describe(positions[len(kept)]), len(positions) - len(kept))
        self.kept += kept
        self.n_problems += len(positions)

    def unknown(self, what: str, name: str, known: Sequence[str]) -> str:
        """Return the message about a name that is none of those known: what it is not, which was meant, and a few.

        >>> Findings().unknown("not a task of it", "Lfit", ["lift", "place"])
        'not a task of it; did you mean lift? It has lift, place'
        """
        # To look for what was meant takes long, and a file may have a wrong name in each of its rows.
        if name not in self._meant and len(self._meant) < MOST_MEANT:
            self._meant[name] = nearest(name, known) or ""
        near = self._meant.get(name)
        return f"{what}{f'; did you mean {near}? It has' if near else '; it has'} {first_few(known)}"

    def raise_if_any(self, file_names: Sequence[str]) -> None:
        """Raise EvidenceRejected with every problem, in the order of the files and of their rows."""
        if self.n_problems == 0:
            return
        order = {name: position for position, name in enumerate(file_names)}
        ordered = sorted(self.kept, key=lambda p: (order.get(p.file or "", -1), p.row or 0))
        plural = "problem" if self.n_problems == 1 else "problems"
        raise EvidenceRejected(
            f"The evidence has {self.n_problems} {plural}; nothing was stored.",
            ordered,
            n_problems=self.n_problems,
            causes=self._causes.listed(),
        )


# Checks that a file is UTF-8 text and, if not, says what it looks like and where it stops being text.

BOM = codecs.BOM_UTF8

PIECE = 1 << 20

_UTF_16_OR_32 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)

_OTHER_FORMATS = {
    b"\x1f\x8b": "a gzip; give it the ending .gz",
    b"PK\x03\x04": "a zip archive or an Excel workbook; send .csv, or name an archive .zip",
    b"PAR1": "a Parquet file; send .csv",
    b"%PDF": "a PDF; send .csv",
}


def problem_of_text(path: Path, name: str) -> Problem | None:
    """Return why a file cannot be read as text, or None when it is UTF-8 with something in it."""
    with path.open("rb") as content:
        start = content.read(4096)
    if not start.removeprefix(BOM).strip() and path.stat().st_size <= len(start):
        return Problem("the file is empty", file=name)
    for mark, what in _OTHER_FORMATS.items():
        if start.startswith(mark):
            return Problem(f"the file is {what}", file=name)
    if start.startswith(_UTF_16_OR_32) or _looks_wide(start):
        return Problem("the file is UTF-16 or UTF-32; save it as UTF-8", file=name)
    return _first_bad_byte(path, name)


def _looks_wide(start: bytes) -> bool:
    """Say whether every other byte is zero, as in UTF-16 of Western text without a byte order mark."""
    return len(start) > 3 and (start[::2].count(0) > len(start) // 4 or start[1::2].count(0) > len(start) // 4)


def _first_bad_byte(path: Path, name: str) -> Problem | None:
    decoder = codecs.getincrementaldecoder("utf-8")()
    n_read = 0
    with path.open("rb") as content:
        while True:
            piece = content.read(PIECE)
            pending = len(decoder.getstate()[0])
            if b"\0" in piece:
                return _bad_byte(path, name, n_read + piece.index(b"\0"), "a zero byte, which text does not contain")
            try:
                decoder.decode(piece, final=not piece)
            except UnicodeDecodeError as error:
                return _bad_byte(path, name, n_read - pending + error.start, "not UTF-8; save the file as UTF-8")
            if not piece:
                return None
            n_read += len(piece)


def _bad_byte(path: Path, name: str, offset: int, what: str) -> Problem:
    with path.open("rb") as content:
        n_lines = 1
        for at in range(0, offset, PIECE):
            n_lines += content.read(min(PIECE, offset - at)).count(b"\n")
        value = f"0x{content.read(1).hex()}"
    return Problem(f"byte {offset + 1} of the file, in line {n_lines}, is {what}", file=name, row=n_lines, value=value)


# Finds repeats in a submission: an (entrant, task) pair, or an entrant's name in two spellings.


def refuse_repeats(scores: ScoreTable, file_names: Mapping[int, str], column: str | None, findings: Findings) -> None:
    """Add a problem for each row whose entrant and task an earlier row has, naming both places."""
    named = np.flatnonzero((scores.entrant.codes != NONE) & (scores.task.codes != NONE))
    keys = scores.entrant.codes[named] * len(scores.task.words) + scores.task.codes[named]
    order = np.argsort(keys, kind="stable")
    first = _first_of_group(keys[order])
    repeated = np.flatnonzero(first != np.arange(len(order)))
    later, earlier = named[order[repeated]], named[order[first[repeated]]]
    chronological = np.argsort(later)
    pairs = list(zip(later[chronological].tolist(), earlier[chronological].tolist(), strict=True))

    def describe(position: int) -> Problem:
        row, before = pairs[position]
        entrant, task = scores.entrant.at(row), scores.task.at(row)
        place = f"row {scores.row[before]} of {file_names[int(scores.file[before])]}"
        message = f"{entrant} has a row for {task} already: {place}"
        return Problem(message, file_names[int(scores.file[row])], int(scores.row[row]), column, task)

    findings.add_each(range(len(pairs)), describe)


def _first_of_group(ordered_keys: IntArray) -> IntArray:
    """Return for each position of sorted keys the first position with the same key."""
    starts = np.ones(len(ordered_keys), dtype=np.bool_)
    starts[1:] = ordered_keys[1:] != ordered_keys[:-1]
    first: IntArray = np.maximum.accumulate(np.where(starts, np.arange(len(ordered_keys)), 0))
    return first


def problems_of_case(names: Sequence[str], column: str | None) -> Iterator[Problem]:
    """Yield a problem for each name that is another spelling of an earlier one: on a board they are one entrant."""
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(name_key(name), name)
        if other != name:
            message = f"{name} and {other} differ only in case or in the form of their letters; write the name one way"
            yield Problem(message, column=column, value=name)


# Messages for a column that a file lacks: the columns it has, and which was probably meant.

SHOWN, MOST_COMPARED = 20, 200


def missing_column(name: str, header: Sequence[str], file: str | None, *, what: str | None = None) -> Problem:
    """Return the problem of a column that is not there; `what` is what the message calls it."""
    columns = first_few(header, SHOWN, lambda each: clip_for_message(each, 40))
    near = nearest(name, header[:MOST_COMPARED])
    hint = f"; did you mean {clip_for_message(near, 40)}?" if near else ";"
    message = f"{what or f'the column {name} is missing'}{hint} The file has {columns or 'no column'}"
    return Problem(message.replace("; The", "; the"), file, column=name, is_missing=True)
