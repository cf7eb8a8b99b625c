"""Several plots of one table: split by task, class and entrant, with one colour for a name in all of them."""

from typing import Any

from app.render.against import format_p
from app.render.drawings import build_drawings
from app.values.table import Cell, Column, Table
from tests.cases.html_pages import page_of

COLUMNS = (
    Column("entrant", "Entrant", "text"),
    Column("task", "Task", "text"),
    Column("class", "Class", "text"),
    Column("x", "Across"),
    Column("y", "Up"),
)
LINES = {"kind": "lines", "x": "x", "y": "y", "by": "entrant", "facet": ["task", "class"]}


def table(*rows: tuple[Cell, ...], plot: Any = LINES) -> Table:
    """Return a table of points of entrants by task and class."""
    return Table("roc/b", "ROC", COLUMNS, rows, (), {"plot": plot})


def line(entrant: str, task: str, name: str) -> list[tuple[Cell, ...]]:
    """Return a line from corner to corner."""
    return [(entrant, task, name, at, at) for at in (0.0, 1.0)]


def titles(drawn: Table) -> list[str]:
    """Return what tells the plots of a table from each other."""
    return [drawing.title for drawing in build_drawings(drawn).shown]


def test_each_combination_has_its_plot() -> None:
    """Task and class, in the order of the rows."""
    drawn = table(*line("A", "t", "yes"), *line("A", "t", "no"), *line("A", "u", "yes"))

    assert titles(drawn) == ["t, yes", "t, no", "u, yes"]


def test_a_column_with_one_value_is_not_named() -> None:
    """Every plot is of that class: the title would say nothing."""
    assert titles(table(*line("A", "t", "yes"), *line("A", "u", "yes"))) == ["t", "u"]
    assert titles(table(*line("A", "t", "yes"))) == [""]


def test_a_name_has_one_colour_in_all_plots() -> None:
    """B is alone in the second plot and keeps its colour."""
    drawn = build_drawings(table(*line("A", "t", "yes"), *line("B", "t", "yes"), *line("B", "u", "yes")))
    numbers = [[(s.name, s.number) for s in drawing.lines.series] for drawing in drawn.shown if drawing.lines]

    assert numbers == [[("A", 0), ("B", 1)], [("B", 1)]]


def test_the_page_names_each_plot() -> None:
    """The title stands over the plot as text, and in what is read out."""
    page = page_of(table(*line("A", "<t>", "yes"), *line("A", "u", "yes")))

    assert '<p class="facet">&lt;t&gt;</p>' in page
    assert 'aria-label="ROC, u: Up by Across;' in page


def test_intervals_of_several_metrics_are_written_and_not_drawn() -> None:
    """No one scale fits an AUC and a log-loss."""
    columns = (
        Column("metric", "Metric", "text"),
        Column("value", "Value", interval=("low", "high"), digits=2),
        Column("low", "Low", detail=True),
        Column("high", "High", detail=True),
    )
    rows = (("auc", 0.9, 0.8, 0.95), ("logloss", 2.0, 1.0, 3.0))
    page = page_of(Table("intervals/b", "I", columns, rows))

    assert '<td class="number">0.90 (0.80 to 0.95)</td>' in page
    assert 'class="w axis"' not in page


def test_an_optional_column_without_a_value_is_left_out_of_the_page() -> None:
    """A column of dashes tells nothing; one value is enough to show it."""
    columns = (Column("entrant", "Entrant", "text"), Column("note", "Note", "text", optional=True))
    pages = [page_of(Table("intervals/b", "I", columns, (("A", None), ("B", note)))) for note in (None, "short")]

    assert ["Note" in page for page in pages] == [False, True]


def test_a_small_p_value_is_not_shown_as_zero() -> None:
    """It is below the last digit, and never nothing; above it two digits are shown: 0.0003 was not twice 0.0002."""
    columns = (Column("entrant_a", "A", "text"), Column("p_value", "p", digits=4), Column("p_holm", "p", digits=4))
    page = page_of(Table("tests/b", "T", columns, (("A", 1e-9, 0.25), ("B", 0.00016, 0.00032))))

    assert "&lt; 0.0001" in page
    assert "0.2500" in page
    assert [f">{p}<" in page for p in ("0.00016", "0.00032")] == [True, True]
    assert [format_p(p) for p in (0.0001, 0.00016, 0.0012)] == ["≤ 0.0001", "= 0.00016", "= 0.0012"]


def test_a_heatmap_shades_by_the_largest_value_of_each_plot() -> None:
    """The largest is darkest, zero is blank, one of many is still seen; a combination without a row is not a zero."""
    columns = (
        Column("who", "Who", "text"),
        Column("t", "T", "text"),
        Column("where", "Where", "text"),
        Column("n", "N"),
    )
    plot = {"kind": "heatmap", "x": "where", "y": "who", "value": "n", "facet": ["t"]}
    rows = (("A", "t", "s1", 100), ("A", "t", "s2", 0), ("A", "t", "s3", 1), ("B", "t", "s1", 1), ("A", "u", "s1", 2))
    maps = [each.heatmap for each in build_drawings(Table("c", "C", columns, rows, (), {"plot": plot})).shown]
    shades = [[[cell and cell.shade for cell in cells] for _, cells in each.rows] for each in maps if each is not None]

    assert shades == [[[8, 0, 1], [1, None, None]], [[8]]]
