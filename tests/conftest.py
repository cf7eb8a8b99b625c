"""Loads `tests/fixtures.py`, and with it the whole app, in processes that run tests, not in one that hands them out.

Importing the app takes 2 to 3 s, which everybody who runs `make test-fast` would wait for before the first test.
"""

import gc

import pytest


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Load the fixtures where tests are collected: in a process by itself, or in each that pytest-xdist starts.

    After pytest-cov, which begins here and is to see the app being imported.
    """
    config = session.config
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", default=0):
        config.pluginmanager.import_plugin("tests.fixtures")
    else:
        gc.enable()
