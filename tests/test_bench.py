"""What benches write into docs/performance.md: their own part, and nothing else."""

from pathlib import Path

import pytest

from bench import written
from bench.__main__ import EVERY
from bench.written import run, with_part

PAGE = "# Performance\n\nBy hand.\n\n<!-- bench rows -->\nold\n<!-- end of bench rows -->\n\nMore by hand.\n"


def test_a_bench_replaces_its_own_part_of_the_page() -> None:
    """What is written by hand stays, whatever signs the new part holds."""
    page = with_part(PAGE, "rows", r"| 1 \1 |")

    assert page == PAGE.replace("old", r"| 1 \1 |")


def test_a_new_part_comes_last_under_its_own_heading() -> None:
    """A second run of it replaces what the first one wrote."""
    once = with_part(PAGE, "plans", "first")

    assert once.startswith(PAGE.rstrip())
    assert "\n## Plans\n" in once
    assert with_part(once, "plans", "second") == once.replace("first", "second")


def test_a_bench_that_fails_leaves_what_stood_there(tmp_path: Path) -> None:
    """What was not measured is not written."""
    page = tmp_path / "performance.md"
    page.write_text(PAGE)

    def fail() -> None:
        raise RuntimeError("what was timed did not happen")

    with pytest.raises(RuntimeError, match="did not happen"):
        run("rows", fail, page)
    assert page.read_text() == PAGE


def test_every_part_has_its_place_on_the_page() -> None:
    """What is measured stands under the words about it, not at the end."""
    page = written.PAGE.read_text("utf-8")

    assert [part for part in EVERY if f"<!-- bench {part} -->" not in page] == []
