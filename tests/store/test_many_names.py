"""A file may name more entrants and tasks than a statement has parameters."""

from collections.abc import Callable

from sqlalchemy.orm import Session

from app.db.models import Benchmark
from app.receiving.upload import _newest_of
from app.store.preregs import load_parsed
from app.store.reservations import refuse_reserved
from app.store.series import others_records
from app.store.submissions import _n_before, earlier_of
from tests.fixtures import Site

NAMES = [f"m{at}" for at in range(65_536)]
"""One more than a statement of Postgres has parameters."""

LOOK_UPS: dict[str, Callable[[Session], object]] = {
    "attempts": lambda session: _n_before(session, 1, NAMES, NAMES),
    "reservations": lambda session: refuse_reserved(session, Benchmark(slug="none"), NAMES, 1),
    "fingerprints": lambda session: earlier_of(session, 1, NAMES),
    "versions": lambda session: _newest_of(session, 1, NAMES),
    "records": lambda session: others_records(session, 1, NAMES),
    "registrations": lambda session: load_parsed(session, NAMES),
}


def test_65536_names_are_looked_up(site: Site) -> None:
    """It was answered that the database does not answer, and to try again soon, for ever."""
    with site.sessions() as session:
        answers = {what: look_up(session) for what, look_up in LOOK_UPS.items()}

    assert answers.pop("attempts") == dict.fromkeys(NAMES, 0)
    assert not any(answers.values())
