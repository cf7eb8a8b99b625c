"""The plots that a table declares, each drawn once for every task, class or entrant by which it is split.

Called by the pages of tables. `meta["plot"]` is a mapping or a list of them; `facet` names the columns whose
combinations have a plot each, `facet_words` the words before the values of such a column, and `by` the column whose
values are the series within a plot; where it `is_paged`, further plots hold those that do not fit.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from app.render.heatmap import Heatmap, build_heatmap
from app.render.pictures.bars import draw_bars
from app.render.pictures.figure import Figure
from app.render.pictures.ranks import draw_ranks
from app.render.pictures.squares import draw_squares
from app.render.pictures.tradeoff import draw_tradeoff
from app.render.plot import MAX_SERIES, LinePlot, build_plot, series_numbers
from app.render.plot_axes import Declared
from app.values.table import Table

MAX_DRAWN = 12
FIGURES: Mapping[str, Callable[[Table, Declared], Figure | None]] = {
    "bars_by_name": draw_bars,
    "ranks": draw_ranks,
    "squares": draw_squares,
    "tradeoff": draw_tradeoff,
}
"""The pictures other than plots with two axes, by the kind under which a table declares them."""


@dataclass(frozen=True)
class Drawing:
    """One plot, heatmap or figure, with its title ("" for the only one of its table)."""

    title: str
    lines: LinePlot | None = None
    heatmap: Heatmap | None = None
    figure: Figure | None = None

    @property
    def size(self) -> tuple[float, float]:
        """Return how wide and how high the picture is."""
        drawn = self.lines or self.figure
        return (0.0, 0.0) if drawn is None else (drawn.width, drawn.height)

    @property
    def is_saved(self) -> bool:
        """Say whether it can be saved as a picture; a heatmap is a table."""
        return self.heatmap is None


@dataclass(frozen=True)
class Drawings:
    """The drawings of a table that are shown, and how many more there are."""

    shown: Sequence[Drawing] = ()
    n_more: int = 0


def build_drawings(table: Table) -> Drawings:
    """Return the drawings that a table declares, without empty ones, at most MAX_DRAWN of them."""
    facets = [(declared, title, part) for declared in _declared(table) for title, part in _facets(table, declared)]
    numbers: Mapping[str, int] = {}
    drawings: list[Drawing] = []
    n_more = 0
    for declared, title, part in facets:
        if len(drawings) == MAX_DRAWN:
            n_more += 1
            continue
        numbers = series_numbers(table, declared)
        drawing = _draw(part, declared, title, numbers)
        drawings += [drawing] if drawing else []
    return Drawings(drawings, n_more)


def _declared(table: Table) -> Sequence[Declared]:
    plots = table.meta.get("plot", ())
    return [plots] if isinstance(plots, Mapping) else list(plots)


def _facets(table: Table, declared: Declared) -> Iterator[tuple[str, Table]]:
    """Yield the rows of each combination with its title; a column with one value alone is not named."""
    at = [table.index(name) for name in declared.get("facet", ())]
    varying = [position for position in at if len({row[position] for row in table.rows}) > 1]
    before = [declared.get("facet_words", {}).get(table.columns[position].name, "") for position in varying]
    rows: dict[tuple[str, ...], list[int]] = {}
    for number, row in enumerate(table.rows):
        rows.setdefault(tuple(str(row[position]) for position in varying), []).append(number)
    parts = [(values, page) for values, numbers in rows.items() for page in _pages(table, declared, numbers)]
    for values, numbers in parts:
        words = (f"{word} {value}".strip() for word, value in zip(before, values, strict=True))
        title = ", ".join((*([declared["title"]] if "title" in declared else []), *words))
        yield title, replace(table, rows=tuple(table.rows[number] for number in numbers))


def _pages(table: Table, declared: Declared, numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yield the rows of one plot; where it `is_paged` as many series to each as there are colours."""
    if not declared.get("is_paged"):
        yield numbers
        return
    at = table.index(declared["by"])
    names = list(dict.fromkeys(str(table.rows[number][at]) for number in numbers))
    for start in range(0, len(names), MAX_SERIES):
        page = set(names[start : start + MAX_SERIES])
        yield [number for number in numbers if str(table.rows[number][at]) in page]


def _draw(part: Table, declared: Declared, title: str, numbers: Mapping[str, int]) -> Drawing | None:
    if declared["kind"] == "heatmap":
        heatmap = build_heatmap(part, declared)
        return None if heatmap is None else Drawing(title, heatmap=heatmap)
    if declared["kind"] in FIGURES:
        figure = FIGURES[declared["kind"]](part, declared)
        return None if figure is None else Drawing(title, figure=figure)
    lines = build_plot(part, declared, numbers)
    return None if lines is None else Drawing(title, lines=lines)
