"""The pages in a real browser: nothing overflows a phone, nothing is refused by the page's own policy."""

import re
from pathlib import Path

import pytest
from selenium.webdriver import Chrome

from app.render.saved import STATIC
from app.values.table import Column, Table
from tests.cases.browser import browser
from tests.cases.html_pages import page_of
from tests.cases.processes import admin, send, server, wait_until_settled
from tests.cases.running_server import RunningServer

__all__ = ["browser", "server"]
pytestmark = pytest.mark.browser
PHONE = {"width": 375, "height": 800, "deviceScaleFactor": 1, "mobile": True}
WHISKERS = "return [...document.querySelectorAll('svg.w')].map(each => each.getBoundingClientRect().x)"
MOST_LINES_PX = 100


def test_the_pages_fit_a_phone_and_break_no_rule(server: RunningServer, browser: Chrome) -> None:
    """At 375 pixels the body does not scroll sideways, and the console stays silent."""
    number = send(server, "Base", admin(server)).json()["id"]
    wait_until_settled(server, number)
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
    tiny = "/benchmarks/tiny"
    pages = ("/", tiny, f"{tiny}/leaderboards/skill", f"{tiny}/tasks", f"{tiny}/snapshots", f"/submissions/{number}")
    for page in (*pages, "/glossary"):
        browser.get(server.address + page)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 375, page
        complaints = [line["message"] for line in browser.get_log("browser") if "favicon" not in line["message"]]
        assert complaints == [], page


def test_the_reasons_of_checks_are_read_on_a_phone_without_scrolling(server: RunningServer, browser: Chrome) -> None:
    """Rule, outcome and reason stand beside each other within 375 pixels."""
    number = send(server, "Second", admin(server)).json()["id"]
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
    browser.get(f"{server.address}/submissions/{number}")
    wide = "const box = document.querySelector('[aria-label=Checks]'); return box.scrollWidth - box.clientWidth"

    assert browser.execute_script(wide) <= 0


def test_the_axis_of_whiskers_stands_over_them_on_a_phone(browser: Chrome, tmp_path: Path) -> None:
    """The labels in the head of a column and the marks below them begin at one place, also under a wide title."""
    ends = (Column("low", "Low", detail=True), Column("high", "High", detail=True))
    score = Column("score", "A title that is much wider than the whiskers below it", interval=("low", "high"))
    rows = tuple((f"E{number}", number, number - 0.5, number + 0.5) for number in (1.0, 2.0, 3.0))
    table = Table("small", "Small", (Column("entrant", "Entrant", "text"), score, *ends), rows)
    _open_on_a_phone(browser, table, tmp_path)
    places = browser.execute_script(WHISKERS)
    assert len(places) == 1 + len(rows)
    assert max(places) - min(places) < 0.5


def test_long_names_are_told_apart_on_a_phone(browser: Chrome, tmp_path: Path) -> None:
    """Names that differ at their ends are wrapped between their words, not cut where they are still the same."""
    names = ("an-organisation/embedding-large-instruct-v1", "an-organisation/embedding-large-instruct-v2")
    columns = (Column("entrant", "Entrant", "text"), *(Column(f"score{n}", f"A score {n}") for n in range(9)))
    table = Table("small", "Small", columns, tuple((name, *[0.5] * 9) for name in names))
    _open_on_a_phone(browser, table, tmp_path)
    cut = "return [...document.querySelectorAll('tbody th')].filter(each => each.scrollWidth > each.clientWidth).length"
    assert browser.execute_script(cut) == 0
    lines = "return document.querySelector('tbody th').clientHeight"
    assert browser.execute_script(lines) <= MOST_LINES_PX


def _open_on_a_phone(browser: Chrome, table: Table, folder: Path) -> None:
    """Open the page of a table, with its style in it, on a screen of 375 pixels."""
    style = f"<style>{(STATIC / 'plumbline.css').read_text()}</style>"
    page = re.sub('<link rel="stylesheet"[^>]*>', lambda _: style, page_of(table))
    (folder / "page.html").write_text(page)
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
    browser.get(f"file://{folder / 'page.html'}")
