"""Evidence kind series_metrics, as the other rooms see it. Read by `app.kinds.known`."""

from app.kinds.contract import Kind
from app.kinds.series.read import read_series_metrics
from app.kinds.series.run import SUFFIXES

SERIES = Kind(name="series_metrics", read=read_series_metrics, suffixes=SUFFIXES)
