"""What a page weighs with its script and its stylesheet: below 60 kB compressed, however long its tables are."""

import gzip
import re

import numpy as np
import pytest

from app.render.saved import assets
from app.values.table import Column, Table
from tests.cases.html_pages import page_of

MOST_BYTES = 60_000
NAMES = [f"an-organisation-{n % 37}/embedding-model-{n * 7919 % 1000}-v{n % 5}" for n in range(2000)]


def compressed(content: bytes) -> int:
    """Return how many bytes are sent."""
    return len(gzip.compress(content, 6, mtime=0))


def weight(page: str) -> int:
    """Return how many bytes a page is with everything that it loads."""
    loaded = re.findall(r'(?:src|href)="(/static/[^"]+)"', page)
    assert len(loaded) == 3
    return compressed(page.encode()) + sum(compressed(assets()[address][0]) for address in loaded)


def board_of(n_entrants: int, n_scores: int) -> Table:
    """Return a board with a rank interval, and scores with intervals of which no two are alike."""
    rng = np.random.default_rng(1)
    ends = [Column("rank_low", "Low", "integer", detail=True), Column("rank_high", "High", "integer", detail=True)]
    columns = [
        Column("rank", "Rank", "integer", interval=("rank_low", "rank_high")),
        Column("entrant", "Entrant", "text"),
    ]
    for n in range(n_scores):
        columns.append(Column(f"score{n}", f"Score {n}", interval=(f"low{n}", f"high{n}")))
        ends += [Column(f"low{n}", "Low", detail=True), Column(f"high{n}", "High", detail=True)]
    scores = rng.random((n_entrants, n_scores)).tolist()
    rows = [
        (at + 1, NAMES[at], *own, max(1, at - 9), at + 9, *(end for score in own for end in (score - 0.1, score + 0.1)))
        for at, own in enumerate(scores)
    ]
    return Table("leaderboard/large", "Large", (*columns, *ends), tuple(rows))


@pytest.mark.parametrize(("n_entrants", "n_scores"), [(30, 3), (2000, 2), (2000, 15)])
def test_a_board_is_light_however_many_are_on_it(n_entrants: int, n_scores: int) -> None:
    """The rows of one page, with whiskers in every column."""
    assert weight(page_of(board_of(n_entrants, n_scores))) < MOST_BYTES


def test_every_pair_of_thirty_is_light() -> None:
    """The square and each pair once."""
    rng, names = np.random.default_rng(2), NAMES[:30]
    columns = (
        Column("entrant_a", "A", "text"), Column("entrant_b", "B", "text"),
        Column("win_rate", "Share won", interval=("low", "high")),
        Column("low", "Low", detail=True), Column("high", "High", detail=True),
        Column("p_value", "p"), Column("separable", "Separable", "flag"),
    )  # fmt: skip
    pairs = [(a, b, share, share - 0.1, share + 0.1, share / 2, share > 0.5)
             for a in names for b in names if a != b for share in [float(rng.random())]]  # fmt: skip

    assert weight(page_of(Table("pairwise/large", "Pairs", columns, tuple(pairs)))) < MOST_BYTES
