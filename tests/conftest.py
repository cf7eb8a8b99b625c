"""Loads `tests/fixtures.py`, and with it the whole app, in processes that run tests, not in one that hands them out.

Importing the app takes 2 to 3 s, which everybody who runs `make test-fast` would wait for before the first test.
"""

import gc

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Load the fixtures where tests are collected: in a process by itself, or in each that pytest-xdist starts."""
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", default=0):
        config.pluginmanager.import_plugin("tests.fixtures")
    else:
        gc.enable()
