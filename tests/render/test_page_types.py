"""Pages and templates belong together without a list: each page is a type, and each type has its template."""

from app.render.html import TEMPLATES, Page, page_types


def test_every_template_of_a_page_has_one_type() -> None:
    """A template that extends the base is a page; `picture.svg` is a drawing as a file."""
    pages = {
        path.name
        for path in TEMPLATES.iterdir()
        if '{% extends "base.html" %}' in path.read_text("utf-8").split("\n")[0]
    }

    assert pages | {"picture.svg"} == set(page_types())
    assert len(page_types()) == len(Page.__subclasses__())
