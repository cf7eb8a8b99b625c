"""Evidence kind series_metrics, as the other rooms see it. Read by `app.kinds.known`."""

from app.admission.case import Case, KindRules
from app.admission.check import Check
from app.kinds.contract import Kind, Rows
from app.kinds.series.glossary import ENTRIES
from app.kinds.series.pages import PAGES
from app.kinds.series.part import SeriesPart
from app.kinds.series.read import read_series_metrics
from app.kinds.series.rules import check_records
from app.kinds.series.run import SUFFIXES
from app.kinds.series.summary import own_claims, summarise


def _records(case: Case) -> list[Check]:
    return [] if case.standing is None else check_records(case.scores, case.standing)


SERIES = Kind(
    name="series_metrics",
    part=SeriesPart,
    read=read_series_metrics,
    pages=PAGES,
    glossary=ENTRIES,
    summarise=summarise,
    own_claims=own_claims,
    suffixes=SUFFIXES,
    rules=KindRules(run=_records),
    rows=Rows(form="records"),
)
