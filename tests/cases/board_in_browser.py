"""A board of three entrants on a running server, and what a browser shows of it."""

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.support.ui import WebDriverWait

from tests.cases.processes import admin, send, wait_until_settled
from tests.cases.running_server import RunningServer

BOARD = "/benchmarks/tiny/leaderboards/average"
WITHIN_S = 60
NAMES = "return [...document.querySelectorAll('#board tbody th[scope=row]')].map(each => each.innerText.trim())"


@pytest.fixture(scope="module")
def board(server: RunningServer) -> str:
    """The address of a board of three entrants."""
    for name in ("Base", "Good", "Great"):
        wait_until_settled(server, send(server, name, admin(server)).json()["id"])
    return server.address + BOARD


def shows(driver: Chrome, *names: str) -> None:
    """Wait until the board shows these entrants in this order."""
    WebDriverWait(driver, WITHIN_S).until(lambda _: driver.execute_script(NAMES) == list(names))
