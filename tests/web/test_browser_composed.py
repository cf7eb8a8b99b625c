"""Filter, order and columns in a browser: each keeps the others, in the address, with and without scripts, and back."""

from collections.abc import Iterator
from urllib.parse import parse_qsl, urlsplit

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.expected_conditions import url_contains
from selenium.webdriver.support.ui import WebDriverWait

from tests.cases.board_in_browser import WITHIN_S, board, shows
from tests.cases.browser import browser
from tests.cases.processes import server

__all__ = ["board", "browser", "server"]
pytestmark = pytest.mark.browser
BY_NAME = ("sort", "entrant")
BACKWARDS = [BY_NAME, ("order", "desc")]


@pytest.fixture
def unscripted(browser: Chrome) -> Iterator[Chrome]:
    """The browser without scripts."""
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    yield browser
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def asked(driver: Chrome) -> list[tuple[str, str]]:
    """Return what the address asks for, without fields that were left empty."""
    return sorted(parse_qsl(urlsplit(driver.current_url).query))


def backwards(driver: Chrome) -> None:
    """Sort by the names of entrants, the last first, by the head of their column."""
    for order in ("asc", "desc"):
        driver.find_element(By.LINK_TEXT, "Entrant").send_keys(Keys.ENTER)
        WebDriverWait(driver, WITHIN_S).until(url_contains(f"order={order}"))


def tick(driver: Chrome, field: str) -> None:
    """Open the menu that a field is in, which closes every other one, and tick it."""
    ticked = driver.find_element(By.CSS_SELECTOR, field)
    open_all = "for (let at = arguments[0]; at; at = at.parentElement) if (at.tagName === 'DETAILS') at.open = true"
    driver.execute_script(open_all, ticked)
    ticked.send_keys(Keys.SPACE)


def test_a_filter_of_a_sorted_board_keeps_the_order_and_back_returns_to_it(browser: Chrome, board: str) -> None:
    """From the published board: the form beside its rows leads to the same order of the rows that are left."""
    browser.get(board)
    backwards(browser)
    shows(browser, "Great", "Good", "Base")
    browser.find_element(By.ID, "q").send_keys("g")
    shows(browser, "Great", "Good")
    filtered = asked(browser)
    browser.back()
    shows(browser, "Great", "Good", "Base")
    returned = asked(browser)
    browser.forward()
    shows(browser, "Great", "Good")

    assert filtered == sorted([("q", "g"), *BACKWARDS])
    assert returned == sorted(BACKWARDS)
    assert browser.find_element(By.ID, "q").get_attribute("value") == "g"


def test_order_filter_task_and_columns_are_chosen_one_after_another(browser: Chrome, board: str) -> None:
    """On the explored board, whose form stays while its rows are replaced; the way back leads through every step."""
    browser.get(f"{board}/explore")
    browser.find_element(By.ID, "q").send_keys("g")
    shows(browser, "Good", "Great")
    backwards(browser)
    shows(browser, "Great", "Good")
    tick(browser, "input[name=task][value=t1]")
    WebDriverWait(browser, WITHIN_S).until(url_contains("task=t1"))
    shows(browser, "Great", "Good")
    tick(browser, "input[name=column][value=entrant]")
    WebDriverWait(browser, WITHIN_S).until(url_contains("column=entrant"))
    chosen = asked(browser)
    heads = len(browser.find_elements(By.CSS_SELECTOR, "#board table.auto thead th"))
    browser.find_element(By.ID, "toggle").send_keys(Keys.ENTER)
    WebDriverWait(browser, WITHIN_S).until(url_contains("detail=1"))
    shows(browser, "Great", "Good")
    ticked = browser.find_elements(By.CSS_SELECTOR, "input[name=column]:checked")
    whole = asked(browser)
    browser.back()
    WebDriverWait(browser, WITHIN_S).until(url_contains("column=entrant"))
    shows(browser, "Great", "Good")

    assert chosen == sorted([("q", "g"), ("task", "t1"), ("column", "entrant"), *BACKWARDS])
    assert heads == 1
    assert whole == sorted([("q", "g"), ("task", "t1"), ("detail", "1"), *BACKWARDS])
    assert ticked == [], "the form that is shown says what is asked for"
    assert asked(browser) == chosen


def test_without_scripts_the_forms_keep_the_order_too(unscripted: Chrome, board: str) -> None:
    """From the published board to the explored one, and there from one filter to the next."""
    unscripted.get(f"{board}?sort=entrant&order=desc")
    unscripted.find_element(By.ID, "q").send_keys("g", Keys.ENTER)
    WebDriverWait(unscripted, WITHIN_S).until(url_contains("/explore?"))
    first = asked(unscripted)
    unscripted.find_element(By.ID, "q").send_keys("o", Keys.ENTER)
    WebDriverWait(unscripted, WITHIN_S).until(url_contains("q=go"))
    second = asked(unscripted)
    unscripted.find_element(By.LINK_TEXT, "Entrant").send_keys(Keys.ENTER)
    WebDriverWait(unscripted, WITHIN_S).until(url_contains("order=asc"))

    assert first == sorted([("q", "g"), *BACKWARDS])
    assert second == sorted([("q", "go"), *BACKWARDS])
    assert urlsplit(unscripted.current_url).query == "q=go&sort=entrant&order=asc"
