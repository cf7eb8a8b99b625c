"""What the commands print: problems and checks as tables, errors in one line.

Results go to standard output and everything else to standard error, so that results can be piped.
"""

import sys
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from plumbline.errors import Cause, PlumblineError, Rejected

# A log has no width of its own; a table that is folded at 80 columns is hard to read in it.
LOG_WIDTH = 160
OUTCOME_STYLES = {"passed": "green", "failed": "bold red", "warned": "yellow"}


def make_console(stream: TextIO) -> Console:
    """Return a console that neither colours nor folds what a program will read."""
    return Console(
        file=stream, width=None if stream.isatty() else LOG_WIDTH, highlight=False, markup=False, emoji=False
    )


def say(text: str, *, style: str | None = None) -> None:
    """Print one result."""
    make_console(sys.stdout).print(Text(text), style=style, soft_wrap=True)


def note(text: str, *, style: str | None = None) -> None:
    """Print progress and remarks to stderr, apart from the results."""
    make_console(sys.stderr).print(Text(text), style=style, soft_wrap=True)


def noticed(warning: Mapping[str, Any]) -> str:
    """Return a warning about an upload, with its place in the files."""
    return "Note: " + ": ".join(warning[part] for part in ("file", "column", "message") if warning[part])


def show_error(error: PlumblineError) -> None:
    """Print an error with all of its problems."""
    note(f"Error: {error}", style="red")
    if isinstance(error, Rejected) and error.problems:
        make_console(sys.stderr).print(cause_table(error.causes))
        n_shown = sum(cause.n for cause in error.causes)
        if error.n_problems > n_shown:
            note(f"… and {error.n_problems - n_shown:,} more problems")


def cause_table(causes: Sequence[Cause]) -> Table:
    """Return a line for each cause, without the columns in which all are empty: how many problems it made, the first.

    One cause in 900 rows is one line; where each problem has its own there is a line for each.
    """
    several = ["n"] if any(cause.n > 1 for cause in causes) else []
    kept = [name for name in ("file", "row", "column", "value", "message") if any(c.as_dict()[name] for c in causes)]
    fields = [*several, *kept]
    table = Table(*("problems" if name == "n" else f"first {name}" if several and name in ("row", "value") else name
                    for name in fields))  # fmt: skip
    for cause in causes:
        table.add_row(*(_cell(cause.as_dict()[name]) for name in fields))
    return table


def check_table(checks: Sequence[Mapping[str, Any]]) -> Table:
    """Return the admission checks of a submission as a table."""
    table = Table("outcome", "rule", "reason")
    for check in checks:
        outcome = str(check["outcome"])
        table.add_row(Text(outcome, OUTCOME_STYLES.get(outcome, "")), _cell(check["rule"]), _cell(check["reason"]))
    return table


def show(table: Table) -> None:
    """Print a table as a result."""
    make_console(sys.stdout).print(table)


def _cell(value: object) -> Text:
    return Text("" if value is None else str(value))
