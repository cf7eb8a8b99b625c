"""What a person can cause and mend, as the server says it and the client reads it: problems with their places."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

MAX_PROBLEMS = 1000


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with an upload, and where: what the submitter must fix.

    `row` counts a table's records as a spreadsheet shows them: the header is row 1. For YAML and JSON documents `row`
    is the line, `column` the dotted path of the key. `is_missing`: the only fault is that the column is absent.
    """

    message: str
    file: str | None = None
    row: int | None = None
    column: str | None = None
    value: str | None = None
    is_missing: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return the five fields as JSON-ready values."""
        return {
            "file": self.file,
            "row": self.row,
            "column": self.column,
            "value": self.value,
            "message": self.message,
        }


@dataclass(frozen=True)
class Cause:
    """Problems of one file and column with a common cause: their number, and the first of them."""

    first: Problem
    n: int = 1

    def as_dict(self) -> dict[str, Any]:
        """Return the count and the first problem as JSON-ready values."""
        return {"n": self.n, **self.first.as_dict()}


# Nobody reads a thousand causes, as when each of a thousand rows has its own message.
MAX_CAUSES = 100
_NUMBERS = re.compile(r"\d+")


class Causes:
    """Problems counted by cause: the same file, column and wording, whatever numbers and values they mention."""

    def __init__(self, problems: Iterable[Problem] = ()) -> None:
        self._by_cause: dict[tuple[str | None, ...], Cause] = {}
        for problem in problems:
            self.count(problem)

    def count(self, problem: Problem, n: int = 1) -> None:
        """Count `n` problems like this one."""
        words = problem.message
        if problem.value:
            words = re.sub(rf"(?<!\w){re.escape(problem.value)}(?!\w)", "", words)
        key = (problem.file, problem.column, _NUMBERS.sub("", words))
        known = self._by_cause.get(key)
        if known is not None:
            self._by_cause[key] = Cause(known.first, known.n + n)
        elif len(self._by_cause) < MAX_CAUSES:
            self._by_cause[key] = Cause(problem, n)

    def listed(self) -> tuple[Cause, ...]:
        """Return the causes, the most frequent first."""
        return tuple(sorted(self._by_cause.values(), key=lambda cause: -cause.n))


class PlumblineError(Exception):
    """Base of every error that a person can cause and mend.

    `recorded` is what the audit keeps in place of a text that names people: a name can be erased, a record cannot.
    """

    def __init__(self, detail: str = "", *, recorded: str | None = None) -> None:
        super().__init__(detail)
        self.recorded = detail if recorded is None else recorded


class Rejected(PlumblineError):
    """Input that is malformed; none of it was stored.

    `problems` holds at most MAX_PROBLEMS of them, `n_problems` counts all, and `causes` summarises them.
    """

    def __init__(
        self,
        detail: str,
        problems: Sequence[Problem],
        *,
        n_problems: int | None = None,
        causes: Sequence[Cause] | None = None,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.problems = tuple(problems[:MAX_PROBLEMS])
        self.n_problems = len(problems) if n_problems is None else n_problems
        self.causes = Causes(problems).listed() if causes is None else tuple(causes)


class EvidenceRejected(Rejected):
    """Uploaded result files could not be read as evidence."""


class FieldRejected(Rejected):
    """A form field or query parameter has a value that is not allowed."""
