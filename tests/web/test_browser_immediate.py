"""Exploring a board with scripts: at once, in place, in the address, and back again; errors are said, not swallowed."""

from collections.abc import Iterator

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.expected_conditions import url_contains, url_to_be
from selenium.webdriver.support.ui import WebDriverWait

from tests.cases.board_in_browser import BOARD, WITHIN_S, board, shows
from tests.cases.browser import browser
from tests.cases.processes import server

__all__ = ["board", "browser", "server"]
pytestmark = pytest.mark.browser
FOCUS = "return document.activeElement.id"
MARK = "window.stayed = true"
STAYED = "return window.stayed === true"
OVERTAKEN = """
window.given_up = [];
document.addEventListener('htmx:sendAbort', event => given_up.push(event.detail.pathInfo.finalRequestPath));
document.getElementById('q').value = 'gr';
document.getElementById('explore').requestSubmit();
document.getElementById('sort-entrant').click();
"""


@pytest.fixture
def reading(board: str, browser: Chrome) -> Iterator[Chrome]:
    """The browser at the board; whatever it does there, nothing is refused by the page's own policy."""
    browser.get(board)
    browser.execute_script(MARK)
    browser.get_log("browser")
    yield browser
    complaints = [line["message"] for line in browser.get_log("browser") if "security" in str(line).lower()]
    assert complaints == []


def test_typing_filters_in_place_and_the_way_back_is_one_step(reading: Chrome, board: str) -> None:
    """The field keeps focus and text, the address is a permalink without empty fields, back and forward restore."""
    reading.find_element(By.ID, "q").send_keys("gr")
    shows(reading, "Great")
    WebDriverWait(reading, WITHIN_S).until(url_to_be(f"{board}/explore?q=gr"))
    reading.switch_to.active_element.send_keys("e")
    WebDriverWait(reading, WITHIN_S).until(url_to_be(f"{board}/explore?q=gre"))
    typed = (reading.execute_script(FOCUS), reading.find_element(By.ID, "q").get_attribute("value"))
    counted = reading.find_element(By.ID, "announcement").get_attribute("textContent")
    permanent = reading.find_element(By.CSS_SELECTOR, "#source a[href*='snapshot=']").get_attribute("href")
    reading.back()
    shows(reading, "Base", "Good", "Great")
    restored = reading.current_url
    reading.forward()
    shows(reading, "Great")

    assert typed == ("q", "gre")
    assert counted == "1 row."
    assert str(permanent).endswith("&q=gre")
    assert restored == board
    assert reading.find_element(By.ID, "q").get_attribute("value") == "gre"
    assert reading.execute_script(STAYED)


def test_ticks_are_kept_while_one_looks_for_more_and_ranked_when_one_says_so(reading: Chrome, board: str) -> None:
    """What is ticked and no longer shown stands under the field; typing chooses nobody, the button all of them."""
    reading.get(f"{board}/explore")
    reading.find_element(By.CSS_SELECTOR, "input[value=Base]").send_keys(Keys.SPACE)
    reading.find_element(By.ID, "q").send_keys("great")
    shows(reading, "Great")
    unchosen = reading.current_url
    reading.find_element(By.CSS_SELECTOR, "input[value=Great]").send_keys(Keys.SPACE)
    kept = reading.find_element(By.ID, "ticked").text.split()
    reading.find_element(By.ID, "q").clear()
    reading.find_element(By.ID, "q").send_keys(Keys.ENTER)
    shows(reading, "Base", "Great")

    assert "entrant=" not in unchosen
    assert kept == ["Ticked", "and", "not", "shown:", "Base"]
    assert reading.current_url in {f"{board}/explore?entrant=Base&entrant=Great",
                                   f"{board}/explore?entrant=Great&entrant=Base"}  # fmt: skip
    assert "not an official board" in reading.find_element(By.CSS_SELECTOR, "#board .alert").text


def test_columns_tasks_and_orders_change_at_once(reading: Chrome, board: str) -> None:
    """A tick of a column or a task is an address; so is the order of a column, and its head keeps the focus."""
    reading.get(f"{board}/explore")
    reading.execute_script(MARK)
    reading.execute_script("document.querySelectorAll('#explore details').forEach(each => { each.open = true; })")
    reading.find_element(By.CSS_SELECTOR, "input[name=task][value=t1]").send_keys(Keys.SPACE)
    WebDriverWait(reading, WITHIN_S).until(url_contains("?task=t1"))
    opened = reading.execute_script("return document.activeElement.closest('details').open")
    reading.find_element(By.ID, "sort-entrant").send_keys(Keys.ENTER)
    WebDriverWait(reading, WITHIN_S).until(url_contains("sort="))
    WebDriverWait(reading, WITHIN_S).until(lambda _: reading.execute_script(FOCUS) == "sort-entrant")

    assert opened
    assert reading.find_element(By.TAG_NAME, "h1").text.endswith(", a reader's choice")
    assert "ranked anew as a reader chose, by " in str(
        reading.find_element(By.ID, "announcement").get_attribute("textContent")
    )
    assert reading.execute_script(STAYED)


def test_an_error_is_said_beside_what_was_shown(reading: Chrome, board: str) -> None:
    """What the server refuses (422) is told as an alert; board, address and field stay, and can be mended."""
    reading.get(f"{board}/explore")
    field = reading.find_element(By.ID, "q")
    field.send_keys("x" * 201)
    trouble = WebDriverWait(reading, WITHIN_S).until(lambda _: reading.find_element(By.ID, "trouble").text)
    shows(reading, "Base", "Good", "Great")
    refused_at = reading.current_url
    field.clear()
    field.send_keys("good")
    shows(reading, "Good")

    assert "200 characters" in trouble
    assert refused_at == f"{board}/explore"
    assert reading.find_element(By.ID, "trouble").text == ""


def test_an_order_asked_for_while_a_filter_is_under_way_keeps_it(reading: Chrome, board: str) -> None:
    """The filter's answer is given up for the order's, and what stands in the field is asked for once more."""
    reading.get(f"{board}/explore")
    reading.execute_script(OVERTAKEN)
    WebDriverWait(reading, WITHIN_S).until(url_contains("q=gr"))
    shows(reading, "Great")
    counted = str(reading.find_element(By.ID, "announcement").get_attribute("textContent"))

    assert "sort=" in reading.current_url
    assert counted.startswith("1 row, by ")
    assert reading.execute_script("return window.given_up") == [f"{BOARD}/explore?q=gr"]
