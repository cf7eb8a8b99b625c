"""The bytes of a preregistration on its page: keys stand out, and not a character is lost."""

from app.render.pages import PreregPage

TEXT = "benchmark: tiny  # of course\nmetrics:\n  - name: MASE\n  - 'a: b'\nurl: https://x.example/?a:b\n\tодин: 1\n\n"


def lines() -> list[tuple[str, str, str]]:
    """Return the lines of the text."""
    page = PreregPage(title="p", p={}, text=TEXT, registered_at=None, outcomes=(), claims={})
    return list(page.lines)


def test_no_character_is_lost() -> None:
    """Whatever the lines hold."""
    assert "".join(part for line in lines() for part in line) == TEXT


def test_keys_are_told_from_values() -> None:
    """What only looks like a key inside a text is none."""
    assert [key for _, key, _ in lines()] == ["benchmark", "metrics", "name", "", "url", "один", ""]
