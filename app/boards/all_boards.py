"""Every board of a benchmark and every entrant in one table: where each one ranks on each."""

from collections.abc import Sequence

from app.names import count
from app.values.table import Cell, Column, Table


def ranks_table(boards: Sequence[Table]) -> Table:
    """Return an entrant a row and a board a column: the rank with the ranks that it may have.

    Entrants are in the order of the first board, who is not on it follows. The rank is `rank:<board>`, None on a board
    that an entrant is not on or has no rank on. Boards without rows are left out.
    Source: the boards themselves.

    >>> columns = (Column("rank", "Rank", "integer"), Column("entrant", "Entrant", "text"))
    >>> one = Table("leaderboard/one", "One", columns, ((1, "A"), (2, "B")))
    >>> two = Table("leaderboard/two", "Two", columns, ((1, "B"),))
    >>> [(row[0], row[1], row[4]) for row in ranks_table([one, two]).rows]
    [('A', 1, None), ('B', 2, 1)]
    >>> [column.title for column in ranks_table([one]).columns]
    ['Entrant', 'One', 'One, low', 'One, high']
    """
    known = [table for table in boards if {"rank", "entrant"} <= set(table.column_names()) and table.rows]
    order = list(dict.fromkeys(str(row[table.index("entrant")]) for table in known for row in table.rows))
    columns = [Column("entrant", "Entrant", "text")]
    cells: dict[str, list[Cell]] = {name: [name] for name in order}
    for table in known:
        board, names = table.name.partition("/")[2], table.column_names()
        low, high = f"rank:{board}_low", f"rank:{board}_high"
        columns += [
            Column(f"rank:{board}", table.title, "integer", interval=(low, high), glossary="rank_interval"),
            Column(low, f"{table.title}, low", "integer", detail=True, glossary="rank_interval"),
            Column(high, f"{table.title}, high", "integer", detail=True, glossary="rank_interval"),
        ]
        own = {str(each["entrant"]): each for each in table.records()}
        has_ends = {"rank_low", "rank_high"} <= set(names)
        for name, row in cells.items():
            at = own.get(name, {})
            row += [at.get("rank"), *((at.get("rank_low"), at.get("rank_high")) if has_ends else (None, None))]
    notes = (
        f"{count(len(order), 'entrant')} on {count(len(known), 'board')}: a rank, and the ranks that it may have.",
    )
    return Table("ranks", "All boards", tuple(columns), tuple(map(tuple, cells.values())), notes)
