"""Submissions of a benchmark that others are copies of, written straight to the store.

Sending and evaluating a thousand large submissions takes an hour and is not what is timed. A copy has its own numbers,
name, digests and fingerprints, and its own estimates and replicates, moved by a random amount, so no two entrants are
tied. What no publication and no admission of others reads is not copied: score rows, blocks and predictions.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from sqlalchemy import text
from sqlalchemy.orm import Session

from app.boards.measured import Estimate, Measurement
from app.db.models import StoredMeasurement
from app.kinds.registry import measured_kind
from app.stats.calibrated import Calibrated
from app.store import benchmark_rows, benchmarks
from app.store.measured import Place, keep_measurements, load_measurements
from tests.fixtures import Site

N_TEMPLATES, KEPT = 10, 0.9
TABLES = ("submission_event", "submission_check", "submission_table", "submission_file", "entry", "fingerprint")
MAPPING = """
    CREATE TEMPORARY TABLE copied ON COMMIT DROP AS
    SELECT n, last_s + n AS submission, last_e + n AS entrant, was.submission_id AS of_submission,
           was.entrant_id AS of_entrant
    FROM generate_series(1, :more) n,
         (SELECT max(id) AS last_s FROM submission) s, (SELECT max(id) AS last_e FROM entrant) e,
         LATERAL (SELECT submission_id, entrant_id FROM entry WHERE submission_id <= :last
                  ORDER BY submission_id OFFSET n % :templates LIMIT 1) was
"""
CHANGED = {
    "id": "nextval(pg_get_serial_sequence('submission_event', 'id'))",
    "submission_id": "copied.submission",
    "entrant_id": "copied.entrant",
    "results": "encode(sha256((was.results || copied.submission)::bytea), 'hex')",
    "contents": "ARRAY(SELECT each + copied.submission FROM unnest(was.contents) each)",
    "sha256": "encode(sha256((was.sha256 || copied.submission)::bytea), 'hex')",
}


def copy_submissions(site: Site, benchmark_id: int, n_more: int) -> None:
    """Add copies of the first submissions of a benchmark, of one entrant each, which are evaluated and current."""
    with site.sessions() as session:
        # The rows are copies of rows that met every key and trigger.
        session.execute(text("SET LOCAL session_replication_role = replica"))
        _copy_rows(session, n_more)
        manifest = benchmarks.load_declared(session, benchmark_rows.get_benchmark(session, benchmark_id)).manifest
        _copy_measurements(session, measured_kind(manifest).of_best)
        numbers = "pg_get_serial_sequence('{0}', 'id'), (SELECT max(id) FROM {0})"
        for table in ("submission", "entrant"):
            session.execute(text(f"SELECT setval({numbers.format(table)})"))
        changed = "UPDATE benchmark SET data_version = data_version + 1 WHERE id = :id"
        session.execute(text(changed), {"id": benchmark_id})
        session.commit()
        session.connection(execution_options={"isolation_level": "AUTOCOMMIT"}).execute(text("VACUUM ANALYZE"))


def _copy_rows(session: Session, n_more: int) -> None:
    newest = "SELECT max(submission_id) FROM (SELECT submission_id FROM entry ORDER BY 1 LIMIT :n) e"
    last = session.execute(text(newest), {"n": N_TEMPLATES}).scalar_one()
    session.execute(text(MAPPING), {"more": n_more, "last": last, "templates": N_TEMPLATES})
    named = {"id": "copied.entrant", "name": "'copy-' || copied.submission", "name_key": "'copy' || copied.submission"}
    _copy(session, "entrant", "was.id = copied.of_entrant", named)
    sent = {
        "id": "copied.submission",
        "digest": "encode(sha256((was.digest || copied.submission)::bytea), 'hex')",
        "idempotency_key": "NULL",
    }
    _copy(session, "submission", "was.id = copied.of_submission", sent)
    for table in TABLES:
        _copy(session, table, "was.submission_id = copied.of_submission", CHANGED)


def _copy(session: Session, table: str, where: str, changed: dict[str, str]) -> None:
    named = "SELECT attname FROM pg_attribute WHERE attrelid = CAST(:t AS regclass) AND attnum > 0 AND NOT attisdropped"
    columns = [name for (name,) in session.execute(text(f"{named} ORDER BY attnum"), {"t": table})]
    cells = ", ".join(changed.get(name, f'was."{name}"') for name in columns)
    names = ", ".join(f'"{name}"' for name in columns)
    source = f"{table} was JOIN copied ON {where}"
    session.execute(text(f"INSERT INTO {table} ({names}) OVERRIDING SYSTEM VALUE SELECT {cells} FROM {source}"))  # noqa: S608


def _copy_measurements(session: Session, apart: frozenset[str]) -> None:
    copied = session.execute(text("SELECT submission, entrant, of_submission, of_entrant FROM copied")).all()
    sources = {(of_submission, of_entrant) for _, _, of_submission, of_entrant in copied}
    keys: dict[tuple[int, int], list[str]] = {}
    for at in session.query(StoredMeasurement.submission_id, StoredMeasurement.entrant_id, StoredMeasurement.key):
        keys.setdefault((at.submission_id, at.entrant_id), []).append(at.key)
    known = load_measurements(session, [(pair, key) for pair in sources for key in keys[pair]])
    rng, created = np.random.default_rng(0), dict[Place, Measurement]()
    for submission, entrant, *of in copied:
        towards = float(rng.random())
        for key in keys[tuple(of)]:
            created[(submission, entrant), key] = moved(known[tuple(of), key], f"copy-{submission}", towards)
    keep_measurements(session, created, apart)


def moved(measurement: Measurement, name: str, towards: float) -> Measurement:
    """Return a measurement of another entrant: its numbers are a tenth of the way to some number between 0 and 1."""
    return replace(
        measurement,
        entrant=name,
        estimates={metric: _estimate(each, towards) for metric, each in measurement.estimates.items()},
        replicates={metric: _moved(drawn, towards) for metric, drawn in measurement.replicates.items()},
    )


def _estimate(estimate: Estimate, towards: float) -> Estimate:
    ends = {name: _moved(getattr(estimate, name), towards) for name in ("point", "low", "high")}
    return replace(estimate, **ends, calibrated=_calibrated(estimate.calibrated, towards))


def _calibrated(interval: Calibrated | None, towards: float) -> Calibrated | None:
    if interval is None:
        return None
    return replace(interval, **{name: _moved(getattr(interval, name), towards) for name in ("low", "high")})


def _moved(number: Any, towards: float) -> Any:
    return None if number is None else KEPT * number + (1.0 - KEPT) * towards
