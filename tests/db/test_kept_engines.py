"""The engine of the tests' own database is one for all tests of a process."""

from app import main
from tests.fixtures import engine_of


def test_the_engine_of_the_tests_own_database_is_kept(database_url: str) -> None:
    """Else every test of the site compiles every statement anew, four tenths of its time; the app uses it too."""
    kept = engine_of(database_url)

    assert engine_of(database_url) is main.make_engine(database_url) is kept
