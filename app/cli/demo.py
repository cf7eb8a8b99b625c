"""Loads the examples into an empty server through its HTTP API, as any submitter would.

The loader has a token of its own, which is revoked at the end. A loader's token that is still valid at a start
therefore means that an earlier loading was broken off: it is taken up again by the same token, whose benchmarks and
names those are, under a new text. It is an admin's, because the last steward of a benchmark could not be revoked.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from sqlalchemy.orm import Session

from app.cli.database import sessions_of
from app.db.models import Token
from app.prereg.prereg import sha256_hex
from app.rights.tokens import create_token, free_name, list_tokens, renew_at_once, revoke_token
from app.store.benchmarks import count_benchmarks
from app.yaml import read_yaml
from plumbline.calls import Run, path_of_benchmark, upload_request, verdict_of
from plumbline.cli.output import make_console, note, show_error
from plumbline.cli.remote import RemoteRequest, RemoteServer, ServerRefused

LOADER = "Example loader"

CONFLICT = 409


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
        return self._path(LABELS)

    @property
    def entrants(self) -> Path | None:
        """What its entrants are, where any source says it."""
        return self._path(ENTRANTS)

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


def load_examples(address: str, database_url: str, examples: Sequence[Example], meanwhile: Callable[[], None]) -> bool:
    """Load the examples unless the server holds something else; say whether there was anything to do.

    `meanwhile` is called again and again while the server works.
    """
    with loader_token(database_url) as token:
        if token is None:
            return False
        with RemoteServer(address, token) as remote, _progress() as progress:
            submitted = [number for example in examples for number in _submit_all(remote, example, progress)]
            for example in examples:
                _describe(remote, example)
            _wait_for_all(remote, submitted, progress, meanwhile)
    return True


@contextmanager
def loader_token(database_url: str) -> Iterator[str | None]:
    """Yield a token for loading, or None when there is nothing to load; it is revoked only after success."""
    with sessions_of(database_url) as sessions:
        with sessions.begin() as session:
            text = _loader_text(session)
        yield text
        with sessions.begin() as session:
            for token in _loader_tokens(session):
                revoke_token(session, token.id)


def _loader_text(session: Session) -> str | None:
    """Return the text of the token that loads, or None when there is nothing to load."""
    earlier = _loader_tokens(session)
    if earlier:
        return renew_at_once(session, earlier[0])
    if count_benchmarks(session):
        return None
    return create_token(session, free_name(session, LOADER), "admin")[1]


def _loader_tokens(session: Session) -> list[Token]:
    return [each for each in list_tokens(session) if each.name.startswith(LOADER) and each.revoked_at is None]


def _progress() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=make_console(sys.stderr))


def _submit_all(remote: RemoteServer, example: Example, progress: Progress) -> Iterator[int]:
    """Create the benchmark, register what is cited, submit each set of files; yield the submissions' numbers."""
    name = example.folder.name
    _send_yaml(remote, "/benchmarks", example.manifest)
    if example.labels is not None:
        _send_labels(remote, name, example.labels)
    for submission in progress.track(example.submissions, description=f"Submitting {name}"):
        if submission.prereg is not None:
            _send_yaml(remote, f"/preregs?benchmark={name}", submission.prereg)
        number = _submit(remote, name, submission)
        if number is not None:
            yield number


def _send_yaml(remote: RemoteServer, path: str, file: Path) -> None:
    """Send a document; that an earlier loading has sent it is no error."""
    try:
        remote.send_yaml("POST", path, file.read_bytes(), repeatable=True)
    except ServerRefused as refusal:
        if refusal.status != CONFLICT:
            raise


def _send_labels(remote: RemoteServer, slug: str, labels: Path) -> None:
    with labels.open("rb") as file:
        path = f"{path_of_benchmark(slug)}/labels"
        remote.send(RemoteRequest("PUT", path, files=lambda: [("file", (labels.name, file))]))


def _submit(remote: RemoteServer, slug: str, submission: ExampleSubmission) -> int | None:
    """Submit the files of one submission; None when an earlier loading owns its entrants already."""
    cited = None if submission.prereg is None else sha256_hex(submission.prereg.read_bytes())
    with upload_request(slug, submission.files, Run(prereg_sha256=cited, entrant=submission.entrant)) as request:
        try:
            return int(remote.send_for_json(request)["id"])
        except ServerRefused as refusal:
            if refusal.status != CONFLICT:
                note(f"{', '.join(path.name for path in submission.files)} was refused.")
                show_error(refusal)
            return None


def _describe(remote: RemoteServer, example: Example) -> None:
    """Say what the entrants of an example are, as its file has it."""
    if example.entrants is None:
        return
    with example.entrants.open("rb") as file:
        sent = [("file", (example.entrants.name, file))]
        remote.send(RemoteRequest("POST", f"{path_of_benchmark(example.folder.name)}/entrants", files=lambda: sent))


def _wait_for_all(
    remote: RemoteServer, numbers: Sequence[int], progress: Progress, meanwhile: Callable[[], None]
) -> None:
    for number in progress.track(numbers, description="Publishing"):
        verdict_of(remote, number, tell=lambda _: meanwhile())


# The contents of an example folder: a manifest, registrations, results, and which of them belong together.
#
# Without a submissions.yaml every file of results/ is a submission that cites prereg.yaml.

MAX_BYTES = 64 * 1024

PREREG, SUBMISSIONS, LABELS, ENTRANTS = "prereg.yaml", "submissions.yaml", "labels.csv", "entrants.csv"


def find_examples(folder: Path) -> Sequence[Example]:
    """Return the examples in a folder."""
    return [Example(manifest.parent) for manifest in sorted(folder.glob("*/manifest.yaml"))]
