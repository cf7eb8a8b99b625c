"""What a bench printed, written into docs/performance.md: its part of the page, with commit and machine.

A part is what stands between its two marks; the words around it are written by hand.
"""

import io
import re
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path

from bench.machine import machine

PAGE = Path(__file__).resolve().parents[1] / "docs" / "performance.md"


class Both(io.StringIO):
    """Keeps what is printed, and prints it."""

    def write(self, text: str) -> int:
        """Write to both."""
        sys.__stdout__.write(text)  # type: ignore[union-attr]
        return super().write(text)


def run(part: str, measure: Callable[[], object], page: Path = PAGE) -> None:
    """Measure one part and write what it prints; one that fails leaves what stood there."""
    where, printed = machine(), Both()
    with redirect_stdout(printed):
        measure()
    page.write_text(with_part(page.read_text(), part, f"{where}\n\n{as_markdown(printed.getvalue())}"))


def as_markdown(printed: str) -> str:
    """Return printed lines for the page: with a table as they are, anything else as plain text."""
    text = printed.strip("\n")
    return text if "\n|---" in text else f"```text\n{text}\n```"


def with_part(page: str, part: str, written: str) -> str:
    """Return the page with one part in place of what stood between its marks; one that is new comes last."""
    first, last = f"<!-- bench {part} -->", f"<!-- end of bench {part} -->"
    block = f"{first}\n{written}\n{last}"
    if first not in page:
        return f"{page.rstrip()}\n\n## {part.capitalize()}\n\n{block}\n"
    return re.sub(f"{re.escape(first)}.*?{re.escape(last)}", lambda _: block, page, flags=re.DOTALL)
