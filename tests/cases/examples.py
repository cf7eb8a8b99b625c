"""The examples, sent to a site as `plumbline serve` sends them to a server."""

from app.cli.demo import Example, ExampleSubmission
from app.prereg.prereg import sha256_hex
from tests.fixtures import Site

YAML = {"Content-Type": "application/yaml"}


def load(site: Site, example: Example) -> None:
    """Send an example as `plumbline serve` does: manifest, labels, registrations, submissions."""
    slug, headers = example.folder.name, site.auth("steward")
    created = site.http.post("/benchmarks", content=example.manifest.read_bytes(), headers=headers | YAML)
    assert created.status_code == 201, created.text
    if example.labels is not None:
        labels = {"file": (example.labels.name, example.labels.read_bytes())}
        put = site.http.put(f"/benchmarks/{slug}/labels", files=labels, headers=headers)
        assert put.status_code == 201, put.text
    for submission in example.submissions:
        submit(site, slug, submission)


def submit(site: Site, slug: str, submission: ExampleSubmission) -> None:
    """Send one submission, after the registration that it cites."""
    form = {} if submission.entrant is None else {"entrant": submission.entrant}
    if submission.prereg is not None:
        plan = submission.prereg.read_bytes()
        site.http.post(f"/preregs?benchmark={slug}", content=plan, headers=site.auth("steward") | YAML)
        form["prereg_sha256"] = sha256_hex(plan)
    files = [("files", (path.name, path.read_bytes())) for path in submission.files]
    sent = site.http.post(f"/benchmarks/{slug}/submissions", files=files, data=form, headers=site.auth("steward"))
    assert sent.status_code == 202, sent.text
