"""The boards of a series benchmark in the one leaderboard table of lrdbench's output contract.

Called by `app.kinds.series.kind`.
"""

from collections.abc import Sequence

from app.values.table import Column, Table

METRIC = "metric__"


def contract_leaderboard(boards: Sequence[Table]) -> Table:
    """Return boards of weighted ranks with the contract's columns, one board's rows after the other's.

    The columns of components are those of all boards, null where a board does not have one. Which board a row is of is
    shown in a last column where there are several; the contract has no name for it.
    """
    of_boards = [column for board in boards for column in board.columns if column.name.startswith(METRIC)]
    metrics = {column.name: column for column in of_boards if not column.detail}
    names = [identity.removeprefix(METRIC).partition("@")[0] for identity in metrics]
    columns = (
        Column("estimator_name", "Estimator", "text"),
        Column("rank", "Rank", "integer"),
        Column("score", "Score", direction="minimize", digits=3),
        *(
            Column(f"{METRIC}{name}" if names.count(name) == 1 else identity, column.title, digits=4)
            for name, (identity, column) in zip(names, metrics.items(), strict=True)
        ),
        *((Column("leaderboard_name", "Board", "text"),) if len(boards) > 1 else ()),
    )
    rows = tuple(
        (row["entrant"], row["rank"], row["score"], *(row.get(identity) for identity in metrics),
         *((board.name.partition("/")[2],) if len(boards) > 1 else ()))
        for board in boards
        for row in board.records()
    )  # fmt: skip
    return Table("tables/leaderboard", boards[0].title if len(boards) == 1 else "Leaderboards", columns, rows)
