"""`plumbline db rebuild`: the packed evidence of every submission, rebuilt from its rows."""

from functools import partial

import typer

from app.cli.database import open_migrated
from app.config import Settings
from app.db.engine import make_engine, make_session_factory, run_in_transaction
from app.store import rows
from plumbline.cli.output import note


def register(group: typer.Typer) -> None:
    """Add the command to `plumbline db`."""
    group.command("rebuild")(rebuild)


def rebuild() -> None:
    """Make the packed evidence anew from the rows, which are the truth; what is the same stays. Safe while it runs."""
    with open_migrated(Settings.from_env(), as_owner=True) as database_url:
        engine = make_engine(database_url, pool_size=1)
        sessions = make_session_factory(engine)
        with sessions() as session:
            numbers = rows.all_submissions(session)
        anew = (partial(rows.rebuild_submission, submission=number) for number in numbers)
        n_changed = sum(run_in_transaction(sessions, each) for each in anew)
        engine.dispose()
    note(f"{len(numbers)} submissions examined, {n_changed} of them repacked.")
