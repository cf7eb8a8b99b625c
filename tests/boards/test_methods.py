"""The ranking methods that there are: the modules of their folder, each of which is one."""

from pathlib import Path
from typing import get_args

import pytest

from app.boards import methods as folder
from app.boards.registry import methods

MEDIAN = """
from typing import Literal

from app.boards.methods import mean
from app.boards.tables import TableMethod


class Median(mean.Mean):
    method: Literal["median"]


METHOD = TableMethod(Median, mean.compute)
"""


@pytest.mark.parametrize("name", list(methods()))
def test_a_method_is_named_as_its_module(name: str) -> None:
    """The word of a manifest's `method` is the name of the file or the folder where the method is."""
    spec = methods()[name].spec

    assert get_args(spec.model_fields["method"].annotation) == (name,)
    assert spec.__module__.startswith(f"{folder.__name__}.{name}")


def test_a_file_in_the_folder_is_a_method(tmp_path: Path) -> None:
    """A method is one file: nothing else has to name it."""
    (tmp_path / "median.py").write_text(MEDIAN, "utf-8")
    folder.__path__.append(str(tmp_path))
    try:
        known = methods.__wrapped__()
    finally:
        folder.__path__.remove(str(tmp_path))

    assert list(known) == [*methods(), "median"]


def test_a_file_that_is_no_method_is_refused(tmp_path: Path) -> None:
    """A module in the folder without METHOD is a mistake of whoever put it there, and no method that is left out."""
    (tmp_path / "aside.py").write_text("", "utf-8")
    folder.__path__.append(str(tmp_path))
    try:
        with pytest.raises(AttributeError, match="METHOD"):
            methods.__wrapped__()
    finally:
        folder.__path__.remove(str(tmp_path))
