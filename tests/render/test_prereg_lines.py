"""The bytes of a preregistration on its page: keys stand out, and not a character is lost."""

from app.render.pages import prereg_lines

TEXT = "benchmark: tiny  # of course\nmetrics:\n  - name: MASE\n  - 'a: b'\nurl: https://x.example/?a:b\n\tодин: 1\n\n"


def test_no_character_is_lost() -> None:
    """Whatever the lines hold."""
    assert "".join(part for line in prereg_lines(TEXT) for part in line) == TEXT


def test_keys_are_told_from_values() -> None:
    """What only looks like a key inside a text is none."""
    assert [key for _, key, _ in prereg_lines(TEXT)] == ["benchmark", "metrics", "name", "", "url", "один", ""]
