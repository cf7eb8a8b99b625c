"""Tables packed while others are computed: each once, as it is published, and remembered."""

import hashlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date

import pytest

from app.jobs.publish import Packing
from app.store.packed_tables import pack_table, unpack_table
from app.store.publication import PackedTable
from app.store.snapshots import BASES, key_of_table
from app.values.table import Column, Table

COLUMNS = (Column("rank", "Rank", "integer"), Column("entrant", "Entrant", "text"))
BOARD = Table("leaderboard/main", "Main", COLUMNS, ((1, "A"), (2, "B"), (None, "C")))
PAIRS = Table("pairwise/main", "Pairs", COLUMNS[1:], (("A",),))


@pytest.fixture
def packing() -> Iterator[Packing]:
    """What packs tables, and says in their notes that they are finished."""
    with ThreadPoolExecutor(1) as pool:
        yield Packing(pool, lambda table: replace(table, notes=("Finished.",)))


def test_what_was_begun_and_what_was_not_are_packed_as_they_are_published(packing: Packing) -> None:
    """In the order asked for, whichever was begun first."""
    packing.begin([PAIRS])
    tables = packing.finished([BOARD, PAIRS])

    assert [(table.name, table.notes) for table in tables] == [(t.name, ("Finished.",)) for t in (BOARD, PAIRS)]
    assert packing.contents(tables) == {table.name: PackedTable(pack_table(table)) for table in tables}


def test_a_table_is_known_by_its_bytes(packing: Packing) -> None:
    """As reading it would give, so that the next publication finds without reading what changed since."""
    contents = packing.contents(packing.finished([BOARD, PAIRS]))

    for name, packed in contents.items():
        key = key_of_table(name, None, hashlib.sha256(packed.content).digest())
        assert BASES.get(key) == unpack_table(packed.content)


def test_a_table_that_cannot_be_stored_fails_when_its_bytes_are_asked_for(packing: Packing) -> None:
    """And not before: the publication fails as it did when tables were packed at its end."""
    dated = Table("pairwise/main", "Pairs", COLUMNS[1:], ((date(2026, 1, 1),),))  # type: ignore[arg-type]
    tables = packing.finished([dated])

    with pytest.raises(TypeError, match="holds a date"):
        packing.contents(tables)
