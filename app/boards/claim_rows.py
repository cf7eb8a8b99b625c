"""The rows of the table of claims: what was claimed, and how the evidence decides it. For `app.boards.claims`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from app.manifest.manifest import Manifest
from app.values.frame import Ends, Frame, FrameField, with_interval
from app.values.table import Cell, Column, Table

N_RESAMPLES, LEVEL = 2000, 0.95
Side = Literal["greater", "less"]


@dataclass(frozen=True)
class Contrast:
    """One claim to decide: in `metric`, first minus second is at least (or at most) the threshold.

    Without a second side, the mean of the first side itself is compared with the threshold.
    """

    claim: str
    source: str
    first: str
    second: str | None
    metric: str
    threshold: float
    direction: Side

    @property
    def sides(self) -> tuple[str, ...]:
        """Return the names of both sides, or of the only one."""
        return (self.first,) if self.second is None else (self.first, self.second)


@dataclass(frozen=True)
class Asked:
    """The submission, or the two submissions, that decide a contrast; None for what was not submitted."""

    submission: int | None = None
    second_submission: int | None = None
    status: str | None = None


@dataclass(frozen=True)
class Decision:
    """One row of the table: a contrast for one entrant, with the result from its pairs."""

    contrast: Contrast
    asked: Asked
    entrant: str | None = None
    verdict: str = "inconclusive"
    difference: Ends = (None, None, None)
    detectable: float | None = None
    n_pairs: int = 0
    n_unmatched: tuple[int | None, int | None] = (None, None)
    n_clusters: int = 0
    iqm: Ends = (None, None, None)
    note: str | None = None


DIFFERENCE = Column("difference", "First minus second", glossary="difference", digits=3)


IQM = Column("iqm", "IQM of differences", detail=True, glossary="iqm", digits=3)


FRAME: Frame[Decision] = Frame(
    [
        FrameField(Column("claim", "Claim", "text", glossary="claim"), lambda row: row.contrast.claim),
        FrameField(Column("source", "Declared by", "text"), lambda row: row.contrast.source),
        FrameField(Column("entrant", "Entrant", "text"), lambda row: row.entrant),
        FrameField(Column("metric", "Metric", "text"), lambda row: row.contrast.metric),
        FrameField(Column("verdict", "Verdict", "text", glossary="verdict"), lambda row: row.verdict),
        FrameField(
            Column("status", "Status", "text", optional=True, glossary="claim_status"), lambda row: row.asked.status
        ),
        *with_interval(DIFFERENCE, lambda row: row.difference, ends_title="Difference"),
        FrameField(Column("direction", "Expected", "text"), lambda row: row.contrast.direction),
        FrameField(Column("threshold", "Threshold", glossary="verdict", digits=3), lambda row: row.contrast.threshold),
        FrameField(Column("detectable", "Detectable", glossary="detectable", digits=3), lambda row: row.detectable),
        FrameField(Column("n_pairs", "Pairs", "integer", glossary="pairs"), lambda row: row.n_pairs),
        FrameField(
            Column("n_unmatched_first", "Unmatched, first", "integer", glossary="pairs"),
            lambda row: row.n_unmatched[0],
        ),
        FrameField(
            Column("n_unmatched_second", "Unmatched, second", "integer", glossary="pairs"),
            lambda row: row.n_unmatched[1],
        ),
        FrameField(Column("n_clusters", "Clusters", "integer", glossary="counts"), lambda row: row.n_clusters),
        *with_interval(IQM, lambda row: row.iqm, ends_title="IQM"),
        FrameField(Column("first", "First", "text"), lambda row: row.contrast.first),
        FrameField(Column("second", "Second", "text"), lambda row: row.contrast.second),
        FrameField(Column("submission", "Submission", "integer"), lambda row: row.asked.submission),
        FrameField(
            Column("second_submission", "Submission of the second", "integer", optional=True),
            lambda row: row.asked.second_submission,
        ),
        FrameField(Column("note", "Note", "text"), lambda row: row.note),
    ]
)


COLUMNS = FRAME.columns


def undelivered_claim(contrast: Contrast, missing: Sequence[str], asked: Asked) -> tuple[Cell, ...]:
    """Return the row of a contrast that cannot be decided, because evidence of `missing` was not delivered.

    `missing` is empty where the deciding evidence was superseded or withdrawn first. The numbers are None.

    >>> asked = Contrast("faster", "manifest", "A", "B", "error", 0.0, "less")
    >>> row = undelivered_claim(asked, ["B"], Asked(1))
    >>> row[0], row[4], row[-1]
    ('faster', 'inconclusive', 'not delivered: B')
    """
    return FRAME.cells(undelivered(contrast, missing, asked))


def undelivered(contrast: Contrast, missing: Sequence[str], asked: Asked) -> Decision:
    """Return the decision on a contrast whose evidence is missing, or was withdrawn or superseded; numbers are None.

    >>> asked = Contrast("faster", "manifest", "A", "B", "error", 0.0, "less")
    >>> undelivered(asked, [], Asked(1, status="withdrawn")).note
    'withdrawn before it was decided'
    """
    note = not_delivered(missing) if missing else f"{asked.status} before it was decided"
    return Decision(contrast, asked, note=note)


def past_claim(record: Mapping[str, Cell], status: str) -> tuple[Cell, ...]:
    """Return the row of a claim that was decided earlier, with the current status of its submissions.

    Cells missing from the record are None.

    >>> row = past_claim({"claim": "faster", "status": "current"}, "superseded")
    >>> row[0], row[1], row[5]
    ('faster', None, 'superseded')
    """
    return tuple(status if column.name == "status" else record.get(column.name) for column in COLUMNS)


def claims_table(manifest: Manifest, rows: Sequence[tuple[Cell, ...]]) -> Table:
    """Return the claims of a benchmark or of a submission as a table; each row has a cell for each of COLUMNS.

    >>> from app.boards.example import benchmark
    >>> from app.manifest.manifest import Leaderboard
    >>> board = Leaderboard(name="main", method="mean", uncertainty={"n_resamples": 100})
    >>> claims_table(benchmark(board), []).title
    'Claims of Small'
    """
    meta = {"interval": "paired percentile bootstrap over clusters, and over pairs within them", "level": LEVEL,
            "n_resamples": N_RESAMPLES, "rng_seed": 0, "stream": "independent"}  # fmt: skip
    note = "The mean difference decides; the interquartile mean of paired yes-or-no differences hides small gaps."
    return Table("claims", f"Claims of {manifest.title}", COLUMNS, tuple(rows), (note,) if rows else (), meta)


def not_delivered(names: Sequence[str]) -> str:
    """Say which of the names have no evidence.

    >>> not_delivered(["A", "B"])
    'not delivered: A, B'
    """
    return f"not delivered: {', '.join(names)}"
