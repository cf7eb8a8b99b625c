"""What a database holds, to see that nothing was half stored."""

from tests.fixtures import Site


def stored(site: Site) -> int:
    """Return how many submissions there are."""
    with site.sessions() as session:
        return int(session.connection().exec_driver_sql("SELECT count(*) FROM submission").scalar_one())
