"""A board in a real browser: its rows are what one sees first, on paper and screens of any width, by hand and by key.

The pages are those of boards of 30 and of 324 entrants as they are published; no server is needed to draw them.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from app.render.board import Surroundings
from app.render.html import render_page
from app.render.saved import STATIC
from app.render.table_page import TablePage, TableView
from app.values.table import Cell, Column, Table
from tests.cases.browser import browser

__all__ = ["browser"]
pytestmark = pytest.mark.browser

HOME = "/benchmarks/field/leaderboards"
FRAME = Surroundings(
    title="field-bench",
    home="/benchmarks/field",
    boards=[(title, f"{HOME}/{title.lower()}") for title in ("SQL", "MASE", "WAPE", "WQL", "Another one", "And one")],
    board=f"{HOME}/sql",
    views=[(each, f"{HOME}/sql/{each.lower()}") for each in ("Table", "Map", "Pairs", "Groups", "Compare", "Cost")],
    view=f"{HOME}/sql/table",
    measures="Scaled quantile loss",
    origin="https://boards.example",
    cite="@misc{field}",
)
COLUMNS = (
    Column("rank", "Rank", "integer", interval=("rank_low", "rank_high")),
    Column("entrant", "Entrant", "text"),
    Column("skill", "Skill score", direction="maximize", interval=("skill_low", "skill_high"), digits=3),
    Column("skill_low", "Skill, low", detail=True),
    Column("skill_high", "Skill, high", detail=True),
    Column("wins", "Win rate", direction="maximize", digits=3),
    Column("time", "Time", unit="s per 100 forecasts", direction="minimize", digits=2),
    Column("overlap", "Overlap", digits=2),
    Column("rank_low", "Rank, low", "integer", detail=True),
    Column("rank_high", "Rank, high", "integer", detail=True),
    Column("may_be_first", "May be first", "flag", detail=True),
    Column("attempt", "Attempt", "integer"),
    Column("n_leaked", "Leaked", "integer"),
    Column("flags", "Flags", "text", optional=True),
)
# first row at most so far down, and at least so many rows seen
SEEN = {(1280, 800): (215, 20), (1920, 1080): (215, 30), (375, 812): (330, 6)}
A4_PX = 718
LEAST_TARGET_PX = 24
LEAST_WHISKER_PX = 20
FIRST_ROW = "return document.querySelector('#rows tr').getBoundingClientRect().top"
ROWS_SEEN = """return [...document.querySelectorAll('#rows tr')]
  .filter(row => row.getBoundingClientRect().bottom <= innerHeight).length"""
WIDTH = "return document.documentElement.scrollWidth"
FOCUS = "return document.activeElement.closest('#rows tr')?.id ?? ''"
TARGETS = """const hit = '.site a, .top a, .top summary, .tools a, .tools input, .tools summary';
return [...document.querySelectorAll(hit)]
  .filter(each => each.checkVisibility() && !each.classList.contains('sr') && !each.closest('.sheet'))
  .map(each => [each.textContent, each.getBoundingClientRect().height])
  .filter(([_, height]) => height < arguments[0])"""


TYPES = ("Classification", "Clustering", "PairClassification", "Reranking", "Retrieval", "STS", "Summarization")
GROUPS = dict.fromkeys(TYPES, 5)
OF_GROUPS = tuple(
    column
    for name in GROUPS
    for low, high in [(f"mean:{name}_lower", f"mean:{name}_upper")]
    for column in (
        Column(f"mean:{name}", name, direction="maximize", interval=(low, high), detail=True, digits=3),
        Column(low, f"{name}, low", detail=True, digits=3),
        Column(high, f"{name}, high", detail=True, digits=3),
    )
)


def board(n_rows: int, n_scores: int = 0) -> Table:
    """Return a board whose first fifth may be first, with seven groups of tasks; the last row is far off, and the
    second is flagged.
    """
    more = tuple(Column(f"task{at}", f"Task {at}", digits=1) for at in range(n_scores))
    rows: list[tuple[Cell, ...]] = []
    for rank in range(1, n_rows + 1):
        score = -5.0 if rank == n_rows else 0.9 - 0.5 * rank / n_rows
        name = f"an-organisation-{rank % 7}/a-model-of-some-kind-{rank}-instruct"
        sureness = (rank * 5 <= n_rows, 1, 2 if rank == 3 else 0, "same_rows" if rank == 2 else None)
        rows.append((rank, name, score, score - 0.05, score + 0.05, 0.5 + score / 9, 1.5 * rank, rank / n_rows,
                     1 if sureness[0] else max(rank - 3, 1), min(rank + 9, n_rows), *sureness,
                     *(50.0 + (rank * at) % 37 for at in range(n_scores)),
                     *(end + (rank * (at + 3)) % 101 / 1000 for at in range(len(GROUPS))
                       for end in (0.5, 0.4, 0.6))))  # fmt: skip
    notes = ("A failure counts as the error of Naive.", "Intervals are over tasks.")
    meta = {"rank_by": "skill", "level": 0.95, "n_tasks": 100, "groups": GROUPS}
    return Table("leaderboard/sql", "SQL", (*COLUMNS, *more, *OF_GROUPS), tuple(rows), notes, meta)


def page_of(table: Table, asked: Sequence[tuple[str, str]] = ()) -> str:
    """Return the page of a board in its frame."""
    links = {"entrant": lambda name: f"/benchmarks/field/entrants/{name}"}
    view = TableView("field", f"{HOME}/sql", table, frame=FRAME, row_links=links)
    return render_page(TablePage(title=table.title, view=view, asked=asked)).decode()


def show(browser: Chrome, page: str, folder: Path, width: int, height: int, scheme: str = "light") -> None:
    """Open a page, with its style in it, on a screen of some size."""
    style = f"<style>{(STATIC / 'plumbline.css').read_text()}</style>"
    place = folder / "page.html"
    place.write_text(re.sub('<link rel="stylesheet"[^>]*>', lambda _: style, page))
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": features})
    browser.get(f"file://{place}")


@pytest.mark.parametrize(("size", "scheme", "n_rows"), list(product(SEEN, ("light", "dark"), (30, 324))))
def test_the_rows_are_what_one_sees_first(
    browser: Chrome, tmp_path: Path, size: tuple[int, int], scheme: str, n_rows: int
) -> None:
    """On a desk's screen and on a phone, of a small board and of a large one, within the width of the screen."""
    most_down, least_seen = SEEN[size]
    show(browser, page_of(board(n_rows)), tmp_path, *size, scheme)

    assert browser.execute_script(FIRST_ROW) <= most_down
    assert browser.execute_script(ROWS_SEEN) >= least_seen
    assert browser.execute_script(WIDTH) <= size[0]


@pytest.mark.parametrize("width", [320, 400, 1280])
def test_what_qualifies_the_first_place_is_shown_whole(browser: Chrome, tmp_path: Path, width: int) -> None:
    """On a phone the flags of the first, at the end of long sentences, and what is missing were not to be seen."""
    table = board(30)
    counted = (*table.columns, Column("n_absent", "Absent", "integer"))
    said = ["A leads.", "All others are ruled out as first, at 95 %. " * 8, "Flagged: A (rows of B)."]
    lacking = replace(table, columns=counted, rows=tuple((*row, 1) for row in table.rows),
                      meta={**table.meta, "statement": said})  # fmt: skip
    show(browser, page_of(lacking), tmp_path, width, 800)

    assert browser.execute_script("const [each] = arguments[0]; return each.scrollHeight - each.clientHeight", [
        browser.find_element("id", "says")]) <= 1  # fmt: skip
    shown = browser.find_element("css selector", ".chips")
    assert "30 missing" in shown.text
    assert browser.execute_script(WIDTH) <= width


@pytest.mark.parametrize("width", [320, 375, 1280])
def test_nothing_scrolls_sideways_and_every_target_can_be_hit(browser: Chrome, tmp_path: Path, width: int) -> None:
    """Also at 320 pixels, which is a desk's screen magnified four times (WCAG 1.4.10, 2.5.8)."""
    show(browser, page_of(board(30)), tmp_path, width, 800)

    assert browser.execute_script(WIDTH) <= width
    assert browser.execute_script(TARGETS, LEAST_TARGET_PX) == []


def test_the_first_row_is_at_most_six_keys_away(browser: Chrome, tmp_path: Path) -> None:
    """The second stop of the page leads to the table, over heads and menus."""
    show(browser, page_of(board(30)), tmp_path, 1280, 800)
    keys = [Keys.TAB, Keys.TAB, Keys.ENTER, Keys.TAB]
    for key in keys:
        ActionChains(browser).send_keys(key).perform()

    assert browser.execute_script(FOCUS).startswith("row-")
    assert len(keys) <= 6


def test_paper_has_every_column(browser: Chrome, tmp_path: Path) -> None:
    """On A4 the last column is on the page."""
    show(browser, page_of(board(30)), tmp_path, A4_PX, 1000)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    last = browser.execute_script(
        "return Math.max(...[...document.querySelectorAll('.ranks th')].map(e => e.getBoundingClientRect().right))"
    )
    assert last <= A4_PX


def test_a_row_is_found_by_its_anchor_and_pinned_by_its_name(browser: Chrome, tmp_path: Path) -> None:
    """The row of an address stands out; a pinned one stands above the first."""
    name = "an-organisation-6/a-model-of-some-kind-20-instruct"
    show(browser, page_of(board(30), [("pin", name)]), tmp_path, 1280, 800)
    browser.get(f"{browser.current_url}#row-{name}")
    colours = "return [...document.querySelectorAll('#rows tr > th')].map(e => getComputedStyle(e).backgroundColor)"
    shown = browser.execute_script(colours)

    assert shown.count(shown[19]) == 1
    assert name in browser.execute_script("return document.querySelector('tbody.pinned').textContent")


def test_a_row_far_off_is_an_arrow_and_stretches_no_axis(browser: Chrome, tmp_path: Path) -> None:
    """The whiskers of the others are as wide as they would be without it."""
    show(browser, page_of(board(30)), tmp_path, 1280, 800)
    wide = "return document.querySelector('#rows td.reach line').getBoundingClientRect().width"
    arrows = "return [...document.querySelectorAll('#rows tr')].at(-1).querySelector('td.reach text').textContent"

    assert browser.execute_script(wide) > LEAST_WHISKER_PX
    assert browser.execute_script(arrows) == "◂"
