"""What the pages of a benchmark of series say. Read by `app.kinds.series.kind`."""

from app.kinds.pages import PageFacts, Pages
from app.kinds.series.example import example
from app.kinds.series.manifest_part import SeriesPart
from app.kinds.series.reading_guide import guide_of
from app.manifest.manifest import Manifest, part_of
from app.values.table import Column


def _facts(manifest: Manifest) -> PageFacts:
    return PageFacts(guide=guide_of(part_of(manifest, SeriesPart).mode))


PAGES = Pages(
    example=example,
    facts=_facts,
    links=(
        ("Failures", "tables/failures"),
        ("Records", "tables/records"),
        ("Strata", "tables/per_stratum_metrics"),
        ("Contract tables", "tables.zip"),
    ),
    # Of one estimator in one stratum there are several records.
    item_column=Column("record_id", "Record", "text"),
    has_contract_tables=True,
)
