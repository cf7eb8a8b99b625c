"""Every coverage table of docs/statistics.md can be made again: the arguments beside it are those of its own cells."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.chosen import chosen
from bench.interval_coverage import options
from bench.interval_world import World
from bench.interval_worlds import worlds

# The worlds compute what is true by integration.
pytestmark = pytest.mark.heavy

TEXT = (Path(__file__).parents[2] / "docs" / "statistics.md").read_text("utf-8")
BEGIN, END = "\n## Calibrated intervals", "\n### Where they fail"
Labels = tuple[list[str], list[str]]
"""The rows and columns of a table, in order."""


def labels(table: str) -> Labels:
    """Return the labels of a table in Markdown; the bars of a magnitude are no borders."""
    cells = [
        [cell.strip() for cell in line.replace("|normal|", "¦normal¦").strip("|").split("|")]
        for line in table.splitlines()
    ]
    head, _, *rows = [[cell.replace("¦", "|") for cell in line] for line in cells]
    return [row[0] for row in rows], head[1:]


def written() -> Iterator[tuple[list[str], list[Labels]]]:
    """Yield the arguments that the page gives, each with the coverage tables that follow."""
    chapter = TEXT[TEXT.index(BEGIN) : TEXT.index(END)]
    for part in chapter.split("\nArguments: `")[1:]:
        arguments, _, below = part.partition("`\n")
        yield shlex.split(arguments), [labels(table) for table in re.findall(r"(?m)^\| \|(?:.+\n)+", below)]


def labels_of(cells: list[World]) -> Labels:
    """Return the labels of the table that the command prints for a family."""
    return list(dict.fromkeys(each.row for each in cells)), list(dict.fromkeys(each.column for each in cells))


def test_the_arguments_beside_a_table_make_it() -> None:
    """Each family of the simulation has one table, and no table is left without a command."""
    of_family: dict[str, list[World]] = {}
    for world in worlds():
        of_family.setdefault(world.family, []).append(world)
    shown = list(written())
    families = [chosen(options(arguments).families, of_family) for arguments, _ in shown]

    assert [[labels_of(of_family[name]) for name in names] for names in families] == [tables for _, tables in shown]
    assert sorted(name for names in families for name in names) == sorted(of_family)
