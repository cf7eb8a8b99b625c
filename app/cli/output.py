"""What the commands print: problems and checks as tables, errors in one line; used by every command.

Results go to standard output and everything else to standard error, so that results can be piped.
"""

import sys
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from app.errors import PlumblineError, Problem, Rejected

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
    """Print what goes on, beside the results."""
    make_console(sys.stderr).print(Text(text), style=style, soft_wrap=True)


def show_error(error: PlumblineError) -> None:
    """Print what was wrong, with every problem that the error knows of."""
    note(f"Error: {error}", style="red")
    if isinstance(error, Rejected) and error.problems:
        make_console(sys.stderr).print(problem_table(error.problems))
        if error.n_problems > len(error.problems):
            note(f"… and {error.n_problems - len(error.problems):,} more problems")


def problem_table(problems: Sequence[Problem]) -> Table:
    """Return the problems as a table, without the columns in which all of them are empty."""
    fields = [
        name for name in ("file", "row", "column", "value", "message") if any(p.as_dict()[name] for p in problems)
    ]
    table = Table(*fields)
    for problem in problems:
        table.add_row(*(_cell(problem.as_dict()[name]) for name in fields))
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
