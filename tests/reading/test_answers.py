"""What a reader hands back, which may have been taken over by what it read."""

import os
import pickle
from pathlib import Path

import numpy as np
import pytest

from app.errors import Problem
from app.reading import NotAnAnswer, read_answer, write_answer
from app.values.scores import Coded


class Order:
    """Something whose pickle names a function."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("true",)


def test_arrays_and_classes_of_ours_come_back(tmp_path: Path) -> None:
    """As they were, and the arrays can be written to."""
    path = tmp_path / "answer"
    write_answer(
        path, (Coded(("a", "b"), np.array([0, 1, 1])), {"x": Problem("no", row=3)}, np.arange(6.0).reshape(2, 3).T)
    )

    coded, problems, table = read_answer(path)
    coded.codes[0] = 1
    assert (coded.to_list(), problems["x"].row, table.tolist()) == (["b", "b", "b"], 3, [[0, 3], [1, 4], [2, 5]])


@pytest.mark.parametrize("hostile", [Order(), os.system, Path("/"), pickle.loads])
def test_nothing_else_is_rebuilt(tmp_path: Path, hostile: object) -> None:
    """No function is called because a file names it."""
    path = tmp_path / "answer"
    write_answer(path, hostile)

    with pytest.raises(NotAnAnswer):
        read_answer(path)


@pytest.mark.parametrize("content", [b"x", bytes(64), b"\xff" * 64, (1).to_bytes(8, "little") * 9])
def test_a_broken_file_is_no_answer(tmp_path: Path, content: bytes) -> None:
    """It is told from one, whatever it holds."""
    path = tmp_path / "answer"
    path.write_bytes(content)

    with pytest.raises(NotAnAnswer):
        read_answer(path)
