"""What several test files share."""


def prereg(*names: str, notes: str = "") -> bytes:
    """Return a registration for the benchmark tiny that lists the names."""
    listed = "any" if not names else "[" + ", ".join(names) + "]"
    return f"benchmark: tiny\nmetrics: [MASE]\nentrants: {listed}\nanalysis: as usual {notes}\n".encode()
