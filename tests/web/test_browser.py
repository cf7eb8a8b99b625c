"""The pages in a real browser: nothing overflows a phone, nothing is refused by the page's own policy."""

import shutil
import tempfile
from collections.abc import Iterator

import pytest
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service

from tests.cases.processes import admin, send, server, wait_until_settled
from tests.cases.running_server import RunningServer

__all__ = ["server"]
pytestmark = pytest.mark.browser
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync")
QUIET = ("--disable-background-networking", "--disable-component-update")


@pytest.fixture(scope="module")
def browser() -> Iterator[Chrome]:
    """Debian's Chromium, with a profile of its own."""
    options = ChromeOptions()
    options.binary_location = shutil.which("chromium") or "chromium"
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with tempfile.TemporaryDirectory() as profile:
        for flag in (*FLAGS, *QUIET, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        driver = Chrome(options=options, service=Service(shutil.which("chromedriver")))
        yield driver
        driver.quit()


def test_the_pages_fit_a_phone_and_break_no_rule(server: RunningServer, browser: Chrome) -> None:
    """At 375 pixels the body does not scroll sideways, and the console stays silent."""
    number = send(server, "Base", admin(server)).json()["id"]
    wait_until_settled(server, number)
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 375, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    )
    tiny = "/benchmarks/tiny"
    pages = ("/", tiny, f"{tiny}/leaderboards/skill", f"{tiny}/tasks", f"{tiny}/snapshots", f"/submissions/{number}")
    for page in (*pages, "/glossary"):
        browser.get(server.address + page)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 375, page
        complaints = [line["message"] for line in browser.get_log("browser") if "favicon" not in line["message"]]
        assert complaints == [], page
