"""The tests themselves: which of them need a database, and what they leave behind."""

import subprocess
import sys

import pytest

from tests.cases.databases import passing_folder
from tests.cases.running_server import fresh_data_dir, running_server
from tests.fixtures import CLUSTERS, COMMANDS, leads_to


def by_itself() -> None:
    """Start a server."""
    with fresh_data_dir() as data_dir, running_server(data_dir):
        pass


def by_a_detour() -> None:
    """Start it in another function, which is named within a third."""
    [each() for each in (lambda: by_itself(),)]


def by_a_command() -> None:
    """Start a process that needs no database."""
    subprocess.run(["true"], check=True)


def test_a_test_is_marked_by_what_it_starts() -> None:
    """Also where another function of the tests does it: the tiers of the Makefile go by these marks."""
    found = {each.__name__: (leads_to(each, CLUSTERS), leads_to(each, COMMANDS))
             for each in (by_itself, by_a_detour, by_a_command, passing_folder)}  # fmt: skip

    assert found == {
        "by_itself": (True, True),
        "by_a_detour": (True, True),
        "by_a_command": (False, True),
        "passing_folder": (False, False),
    }


def test_what_drives_a_browser_is_no_test_for_a_machine_without_one() -> None:
    """`make test` has to pass there."""
    chosen = ("--collect-only", "-q", "-m", "browser and not processes", "tests/web")
    listed = subprocess.run([sys.executable, "-m", "pytest", *chosen], capture_output=True, text=True, check=False)

    assert listed.returncode == pytest.ExitCode.NO_TESTS_COLLECTED, listed.stdout


def test_the_folder_of_the_database_is_removed() -> None:
    """A run of the tests leaves no cluster behind."""
    with passing_folder() as folder:
        (folder / "cluster").mkdir(parents=True)

    assert not folder.exists()
