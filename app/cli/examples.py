"""The contents of an example folder: a manifest, registrations, results, and which of them belong together.

Read by `app.cli.demo`. Without a submissions.yaml every file of results/ is a submission that cites prereg.yaml.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.yaml.strict import read_yaml

MAX_BYTES = 64 * 1024
PREREG, SUBMISSIONS, LABELS = "prereg.yaml", "submissions.yaml", "labels.csv"


@dataclass(frozen=True)
class ExampleSubmission:
    """One submission: its files, the entrant that they do not name, and the registration that it cites."""

    files: Sequence[Path]
    entrant: str | None
    prereg: Path | None


@dataclass(frozen=True)
class Example:
    """A folder with a manifest and results."""

    folder: Path

    @property
    def manifest(self) -> Path:
        """The benchmark's manifest."""
        return self.folder / "manifest.yaml"

    @property
    def labels(self) -> Path | None:
        """The labels of a prediction benchmark."""
        path = self.folder / LABELS
        return path if path.exists() else None

    @property
    def submissions(self) -> Sequence[ExampleSubmission]:
        """The submissions, in the order in which they are sent."""
        declared = self.folder / SUBMISSIONS
        if declared.exists():
            listed = read_yaml(declared.read_bytes(), max_bytes=MAX_BYTES, what=str(declared))
            return [self._submission(entry) for entry in listed]
        prereg = self._path(PREREG)
        results = sorted(path for path in (self.folder / "results").iterdir() if path.is_file())
        return [ExampleSubmission([path], None, prereg) for path in results]

    def _submission(self, entry: Mapping[str, Any]) -> ExampleSubmission:
        files = [self.folder / name for name in entry["files"]]
        return ExampleSubmission(files, entry.get("entrant"), self._path(entry.get("prereg", PREREG)))

    def _path(self, name: str) -> Path | None:
        path = self.folder / name
        return path if path.exists() else None


def find_examples(folder: Path) -> Sequence[Example]:
    """Return the examples in a folder."""
    return [Example(manifest.parent) for manifest in sorted(folder.glob("*/manifest.yaml"))]
