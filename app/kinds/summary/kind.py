"""Evidence kind evaluation_summary, as the other rooms see it. Found by its entry point."""

from app.files.opened import SUFFIXES
from app.kinds.contract import Kind, RowStorage
from app.kinds.summary.manifest_part import SummaryPart
from app.kinds.summary.pages import PAGES
from app.kinds.summary.read import HUB_SUFFIXES, read_evaluation_summary
from app.kinds.summary.summary import summarise
from app.values.scores import OVERLAP_UNSAID

QUANTITIES = ("training_time_s", "inference_time_s", "n_forecasts", OVERLAP_UNSAID)

SUMMARY = Kind(
    name="evaluation_summary",
    order=0,
    part=SummaryPart,
    read=read_evaluation_summary,
    summarise=summarise,
    suffixes=(*SUFFIXES, *HUB_SUFFIXES),
    pages=PAGES,
    rows=RowStorage(beside=QUANTITIES),
    importers={"fev": "app.kinds.summary.from_fev:import_fev"},
)
