"""Pictures say with words of their own what their marks mean: a saved one has nothing beside it."""

from app.render.drawings import Figure, build_drawings
from app.render.plot import LinePlot
from app.values.table import Cell, Column, Table

MATRIX = (Column("e", "Entrant", "text"), Column("t", "Task", "text"), Column("b", "Beats"), Column("s", "S", "text"))
SQUARES = {"kind": "squares", "y": "e", "x": "t", "share": "b", "state": "s"}
LETTERS = (Column("e", "Entrant", "text"), Column("s", "Score"), Column("l", "Letters", "text"))
RANKS = {"kind": "ranks", "label": "e", "x": "s", "low": "s", "high": "s", "groups": "l"}
HISTORY = (Column("n", "Snapshot", "integer"), Column("e", "Entrant", "text"), Column("r", "Rank", "integer"))
OVER_TIME = {"kind": "lines", "x": "n", "y": "r", "by": "e", "falls": True, "direct": "end"}


def figure(columns: tuple[Column, ...], plot: dict[str, object], *rows: tuple[Cell, ...]) -> Figure:
    """Return the one picture that a table declares."""
    result = build_drawings(Table("a/b", "B", columns, rows, (), {"plot": plot})).shown[0].figure
    assert result is not None
    return result


def lines(*rows: tuple[Cell, ...]) -> LinePlot:
    """Return ranks over snapshots."""
    result = build_drawings(Table("history/b", "B", HISTORY, rows, (), {"plot": OVER_TIME})).shown[0].lines
    assert result is not None
    return result


def test_a_matrix_says_what_its_signs_mean() -> None:
    """Shades always, and of the signs those that occur, each beside itself."""
    drawn = figure(MATRIX, SQUARES, ("A", "t1", 1.0, "value"), ("A", "t2", None, "imputed"), ("B", "t1", 0.0, "leaked"))

    message = {shape.text for shape in drawn.shapes if shape.tag == "text"}

    assert message == {"A", "B", "t1", "t2", "last to first on the task", "imputed", "leaked"}
    assert max(float(shape.attributes["y"]) for shape in drawn.shapes if "y" in shape.attributes) < drawn.height


def test_a_bar_has_its_letter() -> None:
    """At its upper end, as wide as bars are apart; a letter that nobody shares has no bar."""
    drawn = figure(LETTERS, RANKS, ("A", 3.0, "a"), ("B", 2.0, "ab"), ("C", 1.0, "b"), ("D", 0.0, "c"))

    letters = [shape for shape in drawn.shapes if "small" in shape.look]
    bars = [shape for shape in drawn.shapes if shape.look == "together"]

    assert [shape.text for shape in letters] == ["a", "b"]
    assert [str(shape.attributes["d"]).split()[0] for shape in bars] == [
        f"M{shape.attributes['x']}" for shape in letters
    ]


def test_snapshots_are_whole_numbers() -> None:
    """Two snapshots have two ticks and nothing between them; of forty some are named, the first among them."""
    two = lines((3, "A", 1), (4, "A", 2))
    many = lines(*((n, "A", 1) for n in range(1, 41)))

    assert [tick.text for tick in two.x_ticks] == ["3", "4"]
    assert many.x_ticks[0].text == "1"
    assert all(tick.text.isdigit() for tick in many.x_ticks)


def test_each_rank_over_time_is_a_dot() -> None:
    """So a line between two snapshots is told from one that was measured between them."""
    drawn = lines((1, "A", 1), (2, "A", 2), (3, "A", 1), (3, "B", 2))

    assert [series.dots.count("M") for series in drawn.series] == [3, 1]
