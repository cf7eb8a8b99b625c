"""How long a connection waits for a Postgres that vanished silently: a machine that lost power, a cut line.

The system's defaults are a quarter of an hour for sent data and two hours for awaited data. No live connection is cut:
the server's machine acknowledges in time however long a statement takes. Used wherever a process of ours stays
connected; a setting in the address itself wins, and a socket of the same machine knows none of them.
"""

from collections.abc import Mapping

from sqlalchemy import make_url

PATIENCE: Mapping[str, int] = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,
}
"""By libpq's names; the last in milliseconds, the others in seconds."""


def patience_with(database_url: str) -> dict[str, int]:
    """Return the settings of a connection which its address does not have.

    >>> patience_with("postgresql://db/x?keepalives_idle=60&tcp_user_timeout=0")
    {'connect_timeout': 5, 'keepalives_interval': 5, 'keepalives_count': 3}
    """
    given = make_url(database_url).query
    return {name: value for name, value in PATIENCE.items() if name not in given}
