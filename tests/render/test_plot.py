"""Tables as plots: geometry from the same rows that the table shows."""

from itertools import pairwise

from app.render.drawings import build_drawings
from app.render.plot import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, LinePlot
from app.values.table import Cell, Column, Table
from tests.cases.html_pages import page_of

COLUMNS = (
    Column("who", "Who", "text"),
    Column("x", "Across"),
    Column("y", "Up"),
    Column("low", "L"),
    Column("high", "H"),
)
LINES = {"kind": "lines", "x": "x", "y": "y", "low": "low", "high": "high", "by": "who"}


def table(*rows: tuple[Cell, ...], plot: dict[str, object] | None = None) -> Table:
    """Return a table that declares a plot of lines."""
    return Table("profiles/a", "Profiles", COLUMNS, rows, (), {"plot": plot or LINES})


def build_plot(table: Table) -> LinePlot | None:
    """Return the one plot of lines that a table declares, if there is something to draw."""
    shown = build_drawings(table).shown
    return shown[0].lines if shown else None


def test_the_ends_of_the_data_are_the_ends_of_the_axes() -> None:
    """The lowest point is at the lower left corner, the highest at the upper right."""
    plot = build_plot(table(("A", 0.0, 0.0, None, None), ("A", 1.0, 1.0, None, None)))

    assert plot is not None
    assert plot.series[0].line == f"M{LEFT:g} {HEIGHT - BOTTOM:g}L{WIDTH - RIGHT:g} {TOP:g}"


def test_lines_beyond_ten_are_counted_and_not_drawn() -> None:
    """Eleven colours cannot be told apart."""
    rows = [(f"E{number}", float(at), 0.5, None, None) for number in range(12) for at in (0, 1)]
    plot = build_plot(table(*rows))

    assert plot is not None
    assert (len(plot.series), plot.n_hidden) == (10, 2)


def test_a_point_without_a_value_is_left_out() -> None:
    """Null is a gap, not zero."""
    plot = build_plot(table(("A", 0.0, None, None, None), ("A", 1.0, 1.0, None, None), ("A", 2.0, 2.0, None, None)))

    assert plot is not None
    assert plot.series[0].line.count("L") == 1


def test_names_in_a_plot_are_escaped() -> None:
    """The page of a plot holds its names as text."""
    page = page_of(table(("<b>A</b>", 0.0, 0.0, None, None), ("C", 1.0, 1.0, None, None)))

    assert "<b>A</b>" not in page
    assert "&lt;b&gt;A&lt;/b&gt;" in page


def marked(*rows: tuple[Cell, ...], **declared: object) -> LinePlot:
    """Return the plot of rows with what else is declared of it."""
    plot = build_plot(table(*rows, plot={**LINES, **declared}))
    assert plot is not None
    return plot


def test_no_line_crosses_what_is_not_there() -> None:
    """A row without a number breaks the line, and a point alone is a dash."""
    rows = [("A", 0.0, 0.0, None, None), ("A", 1.0, 1.0, None, None), ("A", 2.0, None, None, None)]
    line = marked(*rows, ("A", 3.0, 0.5, None, None), gaps=True).series[0].line

    assert line.count("M") == 2
    assert line.count("L") == 1
    assert line.endswith("h6")


def test_curves_have_their_names_and_words_beside_them() -> None:
    """The words of an entry are those of the row whose keys it has; texts that would lie on each other are apart."""
    rows = [(who, at / 4, at / 4, None, None) for who in ("A", "B") for at in range(5)]
    marks = marked(*rows, direct=True, words=[{"who": "B", "text": "AUC 0.9"}]).marks

    assert [mark.text for mark in marks] == ["A", "B, AUC 0.9"]
    assert marks[1].y - marks[0].y >= 14.0


def test_operating_points_are_marked() -> None:
    """A dot where the point is, with its words where there is one curve: at several they would hide each other."""
    rows = [(who, at / 4, at / 4, None, None) for who in ("A", "B") for at in range(5)]
    points = [{"who": "A", "x": 0.5, "y": 0.5, "text": "recall@fpr=0.5"}]
    (alone,) = marked(*rows[:5], points=points).marks
    (among,) = marked(*rows, points=points).marks

    assert (alone.text, alone.dot_y) == ("recall@fpr=0.5", (TOP + HEIGHT - BOTTOM) / 2)
    assert (among.text, among.dot_y) == ("", alone.dot_y)


def test_texts_stay_apart_within_the_drawing() -> None:
    """Ten long ones at the lower end: those that were moved down too far push the others up."""
    rows = [(str(who), at / 4, 0.01 * who, None, None) for who in range(10) for at in range(5)]
    marks = marked(*rows, direct=True, y_range=[0.0, 1.0]).marks
    heights = sorted(mark.y for mark in marks)

    assert len(marks) == 10
    assert min(b - a for a, b in pairwise(heights)) >= 14.0
    assert heights[0] > TOP
    assert heights[-1] <= HEIGHT - BOTTOM


def test_the_names_of_a_front_stand_apart_from_each_other_and_from_the_dots() -> None:
    """However close its dots are, in a column where by definition nobody is."""
    columns = (Column("who", "Who", "text"), Column("x", "Cost"), Column("y", "Score"), Column("front", "F", "flag"))
    rows = (("long-name-one", 1.0, 0.50, True), ("long-name-two", 1.01, 0.501, True), ("b", 30.0, -2.0, False))
    plot = {"kind": "tradeoff", "label": "who", "x": "x", "y": "y", "front": "front"}
    figure = build_drawings(Table("tradeoff/a", "A", columns, rows, (), {"plot": plot})).shown[0].figure

    assert figure is not None
    names = [each.attributes for each in figure.shapes if each.text.startswith("long-name")]
    dots = [each.attributes for each in figure.shapes if each.tag == "circle"]
    assert abs(float(names[0]["y"]) - float(names[1]["y"])) >= 12
    assert max(float(name["x"]) for name in names) < min(float(dot["cx"]) for dot in dots)
    assert min(float(name["x"]) - 13 * 6.6 for name in names) >= LEFT
