"""docs/prereg.md says every key of the three forms, and its example is a preregistration."""

from app.prereg.prereg import parse_prereg
from bench.reference import DOCS, PREREG, prereg_page


def test_the_page_is_up_to_date() -> None:
    """`python -m bench.reference` writes it anew."""
    assert (DOCS / "prereg.md").read_text("utf-8") == prereg_page()


def test_the_example_is_read() -> None:
    """As the evaluation form."""
    assert parse_prereg(PREREG.encode()).form == "evaluation"
