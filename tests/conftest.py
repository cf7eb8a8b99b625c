"""Loads `tests/fixtures.py`, and with it the whole app, in processes that run tests, not in one that hands them out.

Importing the app takes 2 to 3 s, which everybody who runs `make test-fast` would wait for before the first test.
"""

import gc
import os

import pytest

UNDER_TEST = "MUTANT_UNDER_TEST"
"""What mutmut has in the environment of the tests that it runs."""


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
    if UNDER_TEST in os.environ:
        from tests.mutation.forgetting import forget_everything

        forget_everything()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run tests, and the cases of each, in the order of the files where mutmut names them in any.

    Those of a file share servers, and who may do what is asked on one, of which one case leaves a draft to the next.
    """
    if UNDER_TEST in os.environ:
        items.sort(key=lambda item: (item.location[0], item.location[1] or 0, _case_of(item)))


def _case_of(item: pytest.Item) -> tuple[int, ...]:
    called_with = getattr(item, "callspec", None)
    return () if called_with is None else tuple(called_with.indices.values())


def pytest_runtest_setup() -> None:
    """Let no test leave a result to the next one where mutmut asks which tests reach which line."""
    if UNDER_TEST in os.environ:
        from tests.mutation.forgetting import forget_results

        forget_results()
