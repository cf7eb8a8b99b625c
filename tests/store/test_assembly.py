"""Score tables out of blocks: how much memory the rows of a large board take."""

import numpy as np

from app.store.row_blocks import RowBlock
from app.store.rows import EntrantBlock, by_entrant


def block(tasks: list[int]) -> RowBlock:
    """Return rows whose value is the number of their task."""
    at, number = np.arange(len(tasks)), np.array(tasks)
    return RowBlock(
        columns=("x",), values=number[:, None] * 1.0, position=at, file=at, row=at, task=number, leaked=at < 0
    )


def test_rows_are_put_in_order_though_a_code_alone_takes_16_bits() -> None:
    """The number of a cell is larger than any code: of 300 tasks and 300 entrants it does not fit into as many bits."""
    backwards = list(range(299, -1, -1))
    table = by_entrant(
        [EntrantBlock(1, at, f"m{at:03}", block(backwards)) for at in range(300)],
        {at: f"t{at:03}" for at in range(300)},
        ["x"],
    )

    assert (table.entrant.codes.itemsize, table.task.codes.itemsize) == (2, 2)
    assert table.entrant.codes.tolist() == np.repeat(np.arange(300), 300).tolist()
    assert table.task.codes.tolist() == table.values[:, 0].tolist() == np.tile(np.arange(300), 300).tolist()
