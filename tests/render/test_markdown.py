"""Markdown of strangers as HTML: nothing in it runs, loads or is read by the scripts of the page."""

from html.parser import HTMLParser

from app.render.text import markdown

HOSTILE = (
    '<a hx-get="/account" hx-trigger="load">x</a>',
    '<div data-hx-post="/logout" data-status="/x" id="board">x</div>',
    "<script>alert(1)</script>",
    '[x](javascript:alert(1) "t")',
    '[x](/a "t\\" hx-get=/account y=\\"")',
    "![x](https://elsewhere.example/x.png)",
)


class Tags(HTMLParser):
    """The tags of a document, and the names of their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Note a tag."""
        self.names |= {tag, *(f"@{name}" for name, _ in attributes)}


def test_what_would_act_is_shown_as_text_or_left_out() -> None:
    """Also the attributes that htmx reads, whose requests would be sent as whoever reads the page."""
    tags = Tags()
    tags.feed("".join(map(markdown, HOSTILE)))

    assert tags.names == {"p", "a", "@href", "@title", "@rel"}
