"""Reading and submitting in a real browser: no barrier that axe finds, no script needed, the walk of a submitter."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.expected_conditions import (
    number_of_windows_to_be,
    presence_of_element_located,
    url_contains,
    url_to_be,
)
from selenium.webdriver.support.ui import WebDriverWait
from selenium_axe_python import Axe

from tests.cases import patient
from tests.cases.browser import browser
from tests.cases.layout import SCHEMES, WIDTHS, kept_layout, look, moved, show
from tests.cases.processes import admin, send, server, wait_until_settled
from tests.cases.running_server import RunningServer
from tests.cases.walkthrough import PREREG

__all__ = ["browser", "server"]
pytestmark = pytest.mark.browser
TINY = "/benchmarks/tiny"
BOARD = f"{TINY}/leaderboards/average"
PUBLIC = (
    "/",
    "/search?q=g",
    "/glossary",
    "/docs",
    "/login",
    "/nowhere",
    TINY,
    BOARD,
    f"{BOARD}?detail=1&sort=rank",
    f"{BOARD}/pairwise",
    f"{BOARD}/against?a=Good&b=Base",
    f"{BOARD}/letters",
    f"{BOARD}/tradeoff",
    f"{BOARD}/matrix",
    f"{BOARD}/history",
    f"{BOARD}/explore?task=t1&q=o",
    f"{TINY}/tasks",
    f"{TINY}/tasks/t1",
    f"{TINY}/entrants/Good",
    f"{TINY}/claims",
    f"{TINY}/registrations",
    f"{TINY}/submitters",
    f"{TINY}/snapshots",
    "/submissions/1",
)
KEY_PAGES = (
    "/",
    TINY,
    BOARD,
    f"{BOARD}/explore?task=t1&entrant=Good&entrant=Base",
    f"{BOARD}/matrix",
    f"{BOARD}/against?a=Good&b=Base",
    f"{TINY}/entrants/Good",
    "/submissions/1",
)
OWN = ("/account", "/account/submissions", "/submit/tiny", "/desk/tiny", "/audit", "/disputes/1")
WITHIN_S = 30
ROWS = b"model,task,MASE\nFormed,t1,0.1\nFormed,t2,0.2\nFormed,t3,0.3\n"


@pytest.fixture(scope="module")
def published(server: RunningServer) -> RunningServer:
    """The server with two published entrants, one of which was withdrawn and came again."""
    headers = admin(server)
    first = send(server, "Good", headers).json()["id"]
    wait_until_settled(server, first)
    reason = {"reason": "the wrong weights"}
    patient.post(f"{server.address}/submissions/{first}/withdraw", json=reason, headers=headers).raise_for_status()
    for name in ("Base", "Good"):
        wait_until_settled(server, send(server, name, headers).json()["id"])
    return server


def barriers(driver: Chrome, address: str) -> list[str]:
    """Return what axe finds against a page, in the dark by its colours: each rule with the first that breaks it."""
    show(driver, "light")
    driver.get(address)
    axe = Axe(driver)
    axe.inject()
    result = axe.run()["violations"]
    show(driver, "dark")
    result += axe.run(options={"runOnly": ["color-contrast"]})["violations"]
    return [f"{address}: {each['id']} at {each['nodes'][0]['target']}" for each in result]


def sign_in(driver: Chrome, at: RunningServer, leads_to: str = "/account") -> None:
    """Fill in the form as an admin, and wait for where it leads."""
    driver.delete_all_cookies()
    driver.get(f"{at.address}/login?next={leads_to}")
    driver.find_element(By.NAME, "token").send_keys(admin(at)["Authorization"].removeprefix("Bearer "))
    driver.find_element(By.CSS_SELECTOR, "main button").send_keys(Keys.ENTER)
    WebDriverWait(driver, WITHIN_S).until(url_to_be(f"{at.address}{leads_to}"))


def first_rows(driver: Chrome) -> str:
    """Return the text of the first table."""
    return str(driver.find_element(By.CSS_SELECTOR, "tbody").text)


def test_axe_finds_no_barrier(published: RunningServer, browser: Chrome) -> None:
    """On no kind of page, light and dark, for strangers and for who is signed in."""
    browser.delete_all_cookies()
    actual = [barrier for page in PUBLIC for barrier in barriers(browser, published.address + page)]
    sign_in(browser, published)
    actual += [barrier for page in OWN for barrier in barriers(browser, published.address + page)]

    assert actual == []


def test_a_submitter_walks_from_the_form_to_the_board(
    published: RunningServer, browser: Chrome, tmp_path: Path
) -> None:
    """The check opens beside the form, which keeps the files; the submission is watched until it is published."""
    rows, prereg = tmp_path / "rows.csv", tmp_path / "prereg.yaml"
    rows.write_bytes(ROWS)
    prereg.write_bytes(PREREG)
    sign_in(browser, published, "/submit/tiny")
    browser.find_element(By.NAME, "files").send_keys(str(rows))
    browser.find_element(By.NAME, "prereg").send_keys(str(prereg))
    form = browser.current_window_handle
    browser.find_element(By.CSS_SELECTOR, "button[value=check]").send_keys(Keys.ENTER)
    WebDriverWait(browser, WITHIN_S).until(number_of_windows_to_be(2))
    browser.switch_to.window(next(each for each in browser.window_handles if each != form))
    WebDriverWait(browser, WITHIN_S).until(url_contains("/tries/"))
    checked = browser.find_element(By.TAG_NAME, "main").text
    browser.close()
    browser.switch_to.window(form)
    browser.find_element(By.CSS_SELECTOR, "button[value=submit]").send_keys(Keys.ENTER)
    WebDriverWait(browser, WITHIN_S).until(url_contains("/submissions/"))
    browser.execute_script("window.stayed = true")
    WebDriverWait(browser, 2 * WITHIN_S).until(presence_of_element_located((By.CSS_SELECTOR, "h1 .published")))
    stayed = browser.execute_script("return window.stayed")
    browser.get(published.address + BOARD)
    # The page before is served until the new one is made.
    WebDriverWait(browser, WITHIN_S).until(lambda _: browser.refresh() or "Formed" in first_rows(browser))

    assert stayed
    assert "It would be admitted" in checked
    assert "Formed would have rank 1" in checked


def test_key_pages_look_as_they_were_looked_at(published: RunningServer, browser: Chrome) -> None:
    """On phones, laptops and wide screens, light and dark: blocks stay in place, colours too, and nothing overlaps."""
    browser.delete_all_cookies()
    seen: dict[str, Any] = {"boxes": {}, "colors": {scheme: {} for scheme in SCHEMES}}
    wrong = []
    for page in KEY_PAGES:
        browser.get(published.address + page)
        for width, scheme in product(WIDTHS, SCHEMES):
            show(browser, scheme, width)
            looks = look(browser)
            place = f"{page} {width}"
            wrong += [f"{place} {scheme}: {each}" for each in looks["wrong"]]
            wrong += [f"{place} {scheme}: {each}" for each in moved(seen["boxes"].setdefault(place, looks["boxes"]),
                                                                    looks["boxes"])]  # fmt: skip
            seen["colors"][scheme] |= looks["colors"]
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    kept = kept_layout(seen)
    wrong += [
        f"{place}: {each}" for place, boxes in seen["boxes"].items() for each in moved(kept["boxes"][place], boxes)
    ]

    assert wrong == []
    assert seen["colors"] == kept["colors"]
