"""What the pages of a benchmark of evaluation summaries say. Read by `app.kinds.summary.kind`."""

from app.kinds.pages import Pages
from app.kinds.summary.example import example

PAGES = Pages(example=example)
