"""The close of a benchmark of private labels over HTTP: what it shows, what bound its steward."""

import hashlib
import re

import numpy as np
from sqlalchemy import delete, select, text, update

from app.db.models import LabelPart, LabelSet, StoredMeasurement
from app.kinds.predictions.declared import Predictions
from app.kinds.predictions.labels import labels_digest
from app.store.labels import close_due, pack_floats, unpack_floats
from app.values.scores import Labels
from tests.cases.secret_labels import SLUG, begin, board, items, knowing, manifest, send, truth, words
from tests.cases.ydf_http import records
from tests.fixtures import Site

N_ITEMS = 120


def test_the_close_shows_the_private_part(site: Site) -> None:
    """It decides; what was shown before stands beside it, and nothing more is taken."""
    labels = truth(N_ITEMS)
    begin(site, manifest("public_share: 0.25"), words(labels))
    send(site, knowing(labels, 0.9))
    send(site, knowing(labels, 0.6, 6), "B")
    site.work()
    before = board(site)["A"]
    closed = site.http.post(f"/benchmarks/{SLUG}/close", json={"reason": "over"}, headers=site.auth("steward"))
    assert closed.status_code == 200, closed.text
    site.work()
    rows = board(site)

    assert rows["A"]["n_items"] == "90"
    assert rows["A"]["accuracy_public_part"] == before["accuracy"]
    assert rows["B"]["rank"] == "2"
    late = send(site, knowing(labels, 1.0), "C", "bob")
    assert (late.status_code, "nothing more is scored" in late.text) == (409, True)


def test_nothing_before_the_close_depends_on_a_private_label(site: Site) -> None:
    """Every private label is turned over behind the server's back: the same predictions are told the same."""
    labels = truth(N_ITEMS)
    begin(site, manifest("public_share: 0.5", ("accuracy", "auc", "logloss")), words(labels))
    first = send(site, knowing(labels, 0.8)).json()["id"]
    site.work()
    turn_private_labels(site)
    second = send(site, knowing(labels, 0.8), "B", "bob").json()["id"]
    site.work()
    rows = board(site)

    assert {k: v for k, v in rows["A"].items() if k in SCORED} == {k: v for k, v in rows["B"].items() if k in SCORED}
    for table in ("intervals", "classes", "roc", "confusion", "reliability"):
        reported = [site.http.get(f"/submissions/{n}/tables/{table}.csv").text for n in (first, second)]
        assert reported[0].replace("\nA,", "\nB,") == reported[1]
    site.http.post(f"/benchmarks/{SLUG}/close", json={"reason": "over"}, headers=site.auth("steward"))
    site.work()
    assert float(board(site)["A"]["accuracy"]) < 0.5
    assert "NOT match the commitment" in site.http.get(f"/benchmarks/{SLUG}/commitment").text


SCORED = ("rank", "accuracy", "auc", "logloss", "auc_lower", "auc_calibrated_low", "n_items", "covered")


def turn_private_labels(site: Site) -> None:
    """Turn over every private label in the database, which refuses to do so."""
    with site.as_owner() as session:
        session.execute(text("SET LOCAL session_replication_role = replica"))
        label = session.scalars(select(LabelSet.label)).one()
        packed = session.scalars(select(LabelPart.public)).one()
        public = np.unpackbits(np.frombuffer(packed, dtype=np.uint8), count=N_ITEMS).astype(np.bool_)
        turned = np.where(public, unpack_floats(label), 1.0 - unpack_floats(label))
        session.execute(update(LabelSet).values(label=pack_floats(turned)))
        session.execute(delete(StoredMeasurement))


def test_the_commitment_is_opened_at_the_close(site: Site) -> None:
    """Before it says nothing but itself; after it anybody computes it again, and who has the labels their digest. The
    links of the pages of labels lead somewhere: to the benchmark, and to the same table in every format.
    """
    labels = truth(N_ITEMS)
    begin(site, manifest(), words(labels))
    before = about(site)
    site.http.post(f"/benchmarks/{SLUG}/close", json={"reason": "over"}, headers=site.auth("steward"))
    after = about(site)
    lines = "".join(f"{after[f'line {at}']}\n" for at in range(1, 5))
    stored = Labels("t", items(N_ITEMS)[::-1], labels[::-1].astype(np.float64))

    for page in (f"/benchmarks/{SLUG}/commitment", f"/benchmarks/{SLUG}/disclosed"):
        html = site.http.get(page, headers={**site.auth("steward"), "Accept": "text/html"}).text
        links = {link for link in re.findall(r'href="([^"#?]+)"', html) if SLUG in link or link.startswith(".")}
        assert {f"/benchmarks/{SLUG}", *(f"{page}.{end}" for end in ("csv", "json", "parquet"))} <= links
        assert {site.http.get(link, headers=site.auth("steward")).status_code for link in links} == {200}
    assert set(before) == {"commitment", "committed at"}
    assert hashlib.sha256(lines.encode()).hexdigest() == before["commitment"] == after["commitment"]
    assert (
        after["line 4"]
        == f"labels {labels_digest([stored], Predictions(kind='classification', classes=['no', 'yes']))}"
    )
    assert (after["closed by"], after["reason"]) == ("steward", "over")


def about(site: Site) -> dict[str, str]:
    """Return what is said of the commitment."""
    return {row["what"]: row["value"] for row in records(site, f"/benchmarks/{SLUG}/commitment.csv")}


def test_a_benchmark_closes_when_its_time_has_come(site: Site) -> None:
    """From then on nothing is taken, and the sweep has the private part published."""
    labels = truth(N_ITEMS)
    begin(site, manifest("public_share: 0.25"), words(labels))
    send(site, knowing(labels, 0.9))
    site.work()
    past = manifest("public_share: 0.25, closes_at: '2026-01-01T00:00:00Z'")
    assert site.http.put(f"/benchmarks/{SLUG}", content=past, headers=site.auth("steward")).status_code == 200
    late = send(site, knowing(labels, 0.9), "B", "bob").status_code
    with site.sessions.begin() as session:
        close_due(session)
    site.work()

    assert late == 409
    assert board(site)["A"]["n_items"] == "90"
    assert about(site)["closed by"] == "its time"
