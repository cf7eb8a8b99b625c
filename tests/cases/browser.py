"""Debian's Chromium, for the tests of what a browser makes of the pages."""

import shutil
import tempfile
from collections.abc import Iterator

import pytest
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service

FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
         "--force-prefers-reduced-motion")  # fmt: skip
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
        # A machine that is busy with other tests is slow, not broken.
        driver.set_script_timeout(120)
        yield driver
        driver.quit()
