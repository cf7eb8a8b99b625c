"""Several plots of one table: split by task, class and entrant, with one colour for a name in all of them."""

import re
from typing import Any

from app.render.drawings import MAX_DRAWN, build_drawings
from app.render.plot import LEFT, RIGHT, WIDTH
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
HEAT_COLUMNS = (
    Column("entrant", "Entrant", "text"),
    Column("truth", "Truth", "text"),
    Column("predicted", "Predicted", "text"),
    Column("weight", "Examples", digits=0),
)
HEAT = {"kind": "heatmap", "x": "predicted", "y": "truth", "value": "weight", "facet": ["entrant"]}


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


def test_values_may_have_a_word_before_them() -> None:
    """A value alone may not say what it tells apart."""
    plot = {**LINES, "title": "Mean", "facet_words": {"class": "by"}}

    assert titles(table(*line("A", "t", "truth"), *line("A", "t", "guess"), plot=plot)) == [
        "Mean, by truth",
        "Mean, by guess",
    ]


def test_a_table_may_declare_several_plots() -> None:
    """Each with its own title before what splits it."""
    plots = [{**LINES, "title": "Up"}, {**LINES, "y": "x", "title": "Across"}]
    drawn = table(*line("A", "t", "yes"), *line("A", "u", "yes"), plot=plots)

    assert titles(drawn) == ["Up, t", "Up, u", "Across, t", "Across, u"]


def test_plots_beyond_twelve_are_counted() -> None:
    """Nobody looks at fifteen plots of one table."""
    drawn = build_drawings(table(*(row for at in range(15) for row in line("A", f"t{at}", "yes"))))

    assert (len(drawn.shown), drawn.n_more) == (MAX_DRAWN, 3)


def test_a_name_has_one_colour_in_all_plots() -> None:
    """B is alone in the second plot and keeps its colour."""
    drawn = build_drawings(table(*line("A", "t", "yes"), *line("B", "t", "yes"), *line("B", "u", "yes")))
    numbers = [[(s.name, s.number) for s in drawing.lines.series] for drawing in drawn.shown if drawing.lines]

    assert numbers == [[("A", 0), ("B", 1)], [("B", 1)]]


def test_colours_stay_within_ten_when_there_are_more_names() -> None:
    """Each plot then numbers its own lines."""
    rows = [row for at in range(12) for row in line(f"E{at}", f"t{at}", "yes")]
    drawn = build_drawings(table(*rows))

    assert {s.number for drawing in drawn.shown if drawing.lines for s in drawing.lines.series} == {0}


def test_a_heatmap_is_split_too() -> None:
    """One confusion matrix for each entrant, each shaded by its own largest number."""
    rows = (("A", "no", "no", 9.0), ("A", "yes", "no", 1.0), ("B", "no", "no", 2.0))
    drawn = build_drawings(Table("confusion/b", "Confusion", HEAT_COLUMNS, rows, (), {"plot": [HEAT]}))

    assert [drawing.title for drawing in drawn.shown] == ["A", "B"]
    assert [drawing.heatmap.rows[0][1][0].shade for drawing in drawn.shown if drawing.heatmap] == [8, 8]  # type: ignore[union-attr]


def test_short_names_stand_over_the_columns_of_a_heatmap() -> None:
    """Longer ones stand upright; numbers stand for names only where these do not fit at all."""
    tables = [
        Table("c", "C", HEAT_COLUMNS, (("A", "no", name, 9.0),), (), {"plot": HEAT})
        for name in ("no", "DFA::short_scales", "x" * 61)
    ]
    maps = [build_drawings(table).shown[0].heatmap for table in tables]

    assert [(m.is_named, m.is_upright) for m in maps if m] == [(True, False), (True, True), (False, False)]


def test_a_heatmap_is_whole_at_fifty_six_strata() -> None:
    """As many as lrdbench's medium stress suite has, each a row by its name."""
    rows = tuple(("A", f"stratum {at}", name, 0.5) for at in range(56) for name in ("RS", "DFA", "GPH"))
    heat = build_drawings(Table("c", "C", HEAT_COLUMNS, rows, (), {"plot": HEAT})).shown[0].heatmap

    assert heat is not None
    assert [label for label, _ in heat.rows] == [f"stratum {at}" for at in range(56)]
    assert heat.columns == ("RS", "DFA", "GPH")


def test_bars_stand_on_zero() -> None:
    """The length of a bar is its value, so the axis begins at zero."""
    bars = {"kind": "bars", "x": "x", "y": "y"}
    drawn = build_drawings(table(("A", "t", "c", 0.0, 5.0), ("A", "t", "c", 1.0, 10.0), plot=bars))
    plot = drawn.shown[0].lines

    assert plot is not None
    assert plot.y_ticks[0].text == "0"


def test_bars_stay_beside_the_axis() -> None:
    """The first and the last bar are as wide as the others and inside of the frame."""
    bars = {"kind": "bars", "x": "x", "y": "y"}
    rows = [("A", "t", "c", float(at), 5.0) for at in range(4)]
    plot = build_drawings(table(*rows, plot=bars)).shown[0].lines

    assert plot is not None
    edges = [float(at) for at in re.findall(r"[MH]([0-9.]+)", plot.series[0].line)]
    assert len(edges) == 8
    assert min(edges) > LEFT
    assert max(edges) < WIDTH - RIGHT
    assert len({round(right - left) for left, right in zip(edges[::2], edges[1::2], strict=True)}) == 1


def test_the_page_names_each_plot() -> None:
    """The title stands over the plot as text, and in what is read out."""
    page = page_of(table(*line("A", "<t>", "yes"), *line("A", "u", "yes")))

    assert '<p class="facet">&lt;t&gt;</p>' in page
    assert 'aria-label="ROC, u: Up by Across;' in page


def test_the_page_counts_what_it_does_not_draw() -> None:
    """One line says how many more there are."""
    drawn = table(*(row for at in range(14) for row in line("A", f"t{at}", "yes")))
    page = page_of(drawn)

    assert "2 more plots would not fit here" in page


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
    """It is below the last digit, and never nothing."""
    columns = (Column("entrant_a", "A", "text"), Column("p_value", "p", digits=4))
    page = page_of(Table("tests/b", "T", columns, (("A", 1e-9), ("B", 0.25))))

    assert "&lt; 0.0001" in page
    assert "0.2500" in page
