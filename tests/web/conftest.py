"""What several files of the doors begin with; the app is imported where it is used, as in `tests/conftest.py`."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.fixtures import Site, SiteAfter


@pytest.fixture
def tiny(site_after: "SiteAfter") -> "Site":
    """The benchmark tiny, declared once for all tests of a file, on a copy that a test may change."""
    from tests.cases.walkthrough import declare

    return site_after(declare)
