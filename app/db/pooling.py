"""Whether an address is that of a Postgres or of a pooler in front of one, which keeps no session.

Called by `app.cli.database` before anything relies on the session's locks and notifications.
"""

import psycopg

from app.errors import SettingsError

SEEN = "plumbline.session"
REFUSED = "unsupported startup parameter"


def refuse_pooler(database_url: str, variable: str) -> None:
    """Return when sessions of an address keep their settings, or it does not answer now. Raises SettingsError."""
    try:
        with psycopg.connect(database_url, options=f"-c {SEEN}=on", connect_timeout=5) as connection:
            kept = connection.execute("SELECT current_setting(%s, true)", [SEEN], prepare=False).fetchall()[0][0]
    except psycopg.OperationalError as error:
        # One that is away is reported elsewhere, or waited for.
        kept = None if REFUSED in str(error) else "on"
    if kept != "on":
        raise SettingsError(
            f"{variable} leads to a pooler (pgbouncer), which keeps no session, and plumbline's locks and "
            "notifications are of sessions: set PLUMBLINE_DIRECT_DATABASE_URL to the address of the Postgres "
            "itself; then the pooler serves the requests."
        )
