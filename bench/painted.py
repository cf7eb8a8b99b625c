"""How long a reader waits to see a board of 2,000 entrants, and to have it filtered: `python -m bench.painted`.

A server of its own, made-up scores on 20 tasks, headless Chromium. Printed are medians of seven looks without the
browser's cache: when the first byte was there, when the last one, when something was painted (first contentful paint),
and when the page was whole. The first look at an address has the page made, the later ones take it as it was kept;
where the number of a page or the text of a filter is another each time, each look has its page made.
"""

import shutil
import statistics
from collections.abc import Iterator

import httpx2
import numpy as np
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

from bench.server import UNLIMITED, headers, settle
from tests.cases.browser import FLAGS, QUIET
from tests.cases.running_server import fresh_data_dir, running_server

N_ENTRANTS, N_TASKS, N_LOOKS = 2_000, 20, 7
BOARD = "/benchmarks/many/leaderboards/mean"
MANIFEST = f"""\
schema_version: 1
slug: many
title: Two thousand entrants
evidence: evaluation_summary
columns: {{entrant: model, task: task, leaked: null}}
metrics: {{error: {{direction: minimize, min: 0}}}}
tasks: [{", ".join(f"{{id: t{at}}}" for at in range(N_TASKS))}]
admission: {{prereg: optional}}
leaderboards: [{{name: mean, method: mean, metric: error}}]
"""
TIMES = """
const page = performance.getEntriesByType('navigation')[0];
const paint = performance.getEntriesByName('first-contentful-paint')[0];
return paint && page.loadEventEnd && [page.responseStart, page.responseEnd, paint.startTime, page.loadEventEnd];
"""
NAMES = ("first byte", "last byte", "painted", "whole")


def scores() -> bytes:
    """Return a CSV with an error for each entrant and task."""
    rng = np.random.default_rng(1)
    skill = rng.uniform(0.5, 1.5, N_ENTRANTS)
    errors = skill[:, None] * rng.lognormal(0.0, 0.3, (N_ENTRANTS, N_TASKS))
    rows = [f"org{e % 40}/model-{e:04d},t{t},{errors[e, t]:.5f}" for e in range(N_ENTRANTS) for t in range(N_TASKS)]
    return "\n".join(["model,task,error", *rows, ""]).encode()


def looks(driver: Chrome, address: str) -> Iterator[list[float]]:
    """Yield the times of a page, in milliseconds, for each look at it."""
    for number in range(N_LOOKS):
        driver.get("about:blank")
        driver.execute_cdp_cmd("Network.clearBrowserCache", {})
        driver.get(address.format(number + 2))
        yield WebDriverWait(driver, 60).until(lambda page: page.execute_script(TIMES))


def measure(address: str) -> Iterator[str]:
    """Yield a line for each page."""
    options = ChromeOptions()
    options.binary_location = shutil.which("chromium") or "chromium"
    for flag in (*FLAGS, *QUIET, "--window-size=1280,900"):
        options.add_argument(flag)
    driver = Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        for page in ("", "?page={}", "/explore", "/explore?q=model-01", "/explore?q=model-0{}", "/explore?q=org3{}/"):
            first, *later = looks(driver, f"{address}{BOARD}{page}")
            medians = [statistics.median(each) for each in zip(*later, strict=True)]
            yield f"{BOARD}{page}: first {_in_words(first)}; then {_in_words(medians)}"
    finally:
        driver.quit()


def _in_words(times: list[float]) -> str:
    return ", ".join(f"{name} {time:.0f} ms" for name, time in zip(NAMES, times, strict=True))


def main() -> None:
    """Start a server, publish the board and look at it."""
    with fresh_data_dir() as data_dir, running_server(data_dir, **UNLIMITED) as server:
        created = httpx2.post(f"{server.address}/benchmarks", content=MANIFEST, headers=headers(server), timeout=60)
        created.raise_for_status()
        sent = httpx2.post(
            f"{server.address}/benchmarks/many/submissions",
            files={"files": ("scores.csv", scores())},
            headers=headers(server),
            timeout=300,
        )
        settle(server, sent)
        for line in measure(server.address):
            print(line, flush=True)


if __name__ == "__main__":
    main()
