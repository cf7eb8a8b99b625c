"""docs/prereg.md says every key of the three forms, and its example is a preregistration."""

import os
from pathlib import Path

from app.prereg.prereg import parse_prereg
from app.prereg.reference import EXAMPLE, prereg_page

PAGE = Path(__file__).parents[2] / "docs" / "prereg.md"


def test_the_page_is_up_to_date() -> None:
    """REWRITE_DOCS=1 writes it anew."""
    if os.environ.get("REWRITE_DOCS"):
        PAGE.write_text(prereg_page(), "utf-8")

    assert PAGE.read_text("utf-8") == prereg_page()


def test_the_example_is_read() -> None:
    """As the evaluation form."""
    assert parse_prereg(EXAMPLE.encode()).form == "evaluation"
