"""Evidence kind series_metrics, as the other rooms see it. Found by its entry point."""

from collections.abc import Collection

from app.admission.case import Case, Check, KindRules
from app.boards.methods.weighted_rank.records import strata_of_grid
from app.kinds.contract import Kind, PublishedBoards, RowStorage
from app.kinds.series.contract import contract_leaderboard, metadata_table, note_estimands, series_tables
from app.kinds.series.from_lrdbench import RAW
from app.kinds.series.manifest_part import SeriesPart
from app.kinds.series.pages import ENTRIES, PAGES
from app.kinds.series.read import read_series_metrics
from app.kinds.series.rows import SUFFIXES
from app.kinds.series.rules import check_records
from app.kinds.series.summary import own_claims, summarise
from app.manifest.model import Manifest, part_of
from app.values.table import Table


def _records(case: Case) -> list[Check]:
    if case.others_records is None:
        return []
    return check_records(case.scores, case.others_records, strata_of_grid(case.manifest.asked))


def _tables(published: PublishedBoards) -> list[Table]:
    """Return the boards with the tables of lrdbench's contract, and what the estimators are where runs say it."""
    tables, rows = list(published.boards), published.rows()
    if len(rows):
        ranked = [table for table in tables if table.name.startswith("leaderboard/") and table.rows]
        tables += series_tables(published.manifest, rows)
        tables += [contract_leaderboard(ranked)] if ranked else []
    described = published.described()
    return (
        [
            *note_estimands(tables, described),
            metadata_table(described, part_of(published.manifest, SeriesPart).estimators),
        ]
        if described
        else tables
    )


def _enrolled(manifest: Manifest) -> Collection[str] | None:
    return part_of(manifest, SeriesPart).enrolled()


SERIES = Kind(
    name="series_metrics",
    order=2,
    part=SeriesPart,
    read=read_series_metrics,
    pages=PAGES,
    glossary=lambda: ENTRIES,
    summarise=summarise,
    own_claims=own_claims,
    suffixes=SUFFIXES,
    rules=KindRules(run=_records, enrolled=_enrolled),
    rows=RowStorage(in_upload_order=True, have_items=True, file="raw/metrics.csv", raw=RAW),
    benchmark_tables=_tables,
    importers={"lrdbench": "app.kinds.series.from_lrdbench:import_lrdbench"},
)
