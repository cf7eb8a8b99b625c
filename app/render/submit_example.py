"""What a benchmark's page shows of an upload: the columns it reads, one example row, a minimal preregistration.

Called by the web; pure, from the manifest alone.
"""

import csv
import io
from dataclasses import dataclass

from app.kinds.example_cells import MODEL
from app.kinds.known import kind_of
from app.kinds.pages import UploadExample
from app.manifest.manifest import Manifest


@dataclass(frozen=True)
class SubmitExample:
    """An upload as its kind of evidence has it, and a preregistration where the benchmark takes our own form."""

    upload: UploadExample
    prereg: str | None

    @property
    def rows(self) -> str:
        """Return the header and one row as CSV."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([column.name for column in self.upload.columns])
        writer.writerow([column.cell for column in self.upload.columns])
        return out.getvalue()


def submit_example(manifest: Manifest) -> SubmitExample:
    """Return what a submitter to a benchmark must know of its files."""
    return SubmitExample(kind_of(manifest).pages.example(manifest), _prereg(manifest))


def _prereg(manifest: Manifest) -> str | None:
    if "evaluation" not in manifest.admission.prereg_forms:
        return None
    metrics = ", ".join(f'"{name}"' if ":" in name else name for name in manifest.metrics)
    return f"benchmark: {manifest.slug}\nentrants: [{MODEL}]\ntasks: all\nmetrics: [{metrics}]\n"
