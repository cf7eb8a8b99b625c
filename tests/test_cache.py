"""What a process remembers: what was used last, within so many bytes."""

from app.cache import Cache


def test_what_was_used_last_is_remembered_longest() -> None:
    """Within so many bytes; what alone has more is not remembered."""
    known: Cache[str] = Cache(10)
    for name in "abc":
        known.keep(name.encode(), name, 4)
        known.get(b"a")
    assert known.held() == {b"a": "a", b"c": "c"}

    known.keep(b"d", "d", 11)
    assert (known.get(b"d"), known.get(b"a")) == (None, "a")
