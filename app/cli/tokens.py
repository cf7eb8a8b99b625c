"""`plumbline token`: makes, lists and revokes tokens directly in the database, on the server's own machine."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Literal

import typer
from rich.table import Table
from sqlalchemy.orm import Session

from app.cli.database import open_database
from app.cli.output import note, say, show
from app.config import Settings
from app.db.engine import make_engine
from app.db.migrate import upgrade
from app.store.tokens import create_token, list_tokens, revoke_token


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    group = typer.Typer(no_args_is_help=True, help="Create, list and revoke the tokens of those who may write.")
    group.command("create")(create)
    group.command("list")(list_all)
    group.command("revoke")(revoke)
    app.add_typer(group, name="token")


@contextmanager
def open_session() -> Iterator[Session]:
    """Yield a session on the newest schema; what it did is committed when nothing went wrong."""
    with open_database(Settings.from_env()) as database_url:
        upgrade(database_url)
        engine = make_engine(database_url, pool_size=1)
        try:
            with Session(engine) as session, session.begin():
                yield session
        finally:
            engine.dispose()


def create(
    name: Annotated[str, typer.Argument(help="Who or what will use it; shown beside what it submits.")],
    *,
    role: Annotated[
        Literal["submitter", "steward", "admin"], typer.Option(help="What its holder may do.")
    ] = "submitter",
) -> None:
    """Make a token and print it. It is not kept and cannot be shown again."""
    with open_session() as session:
        token, text = create_token(session, name, role)
        made = f"Token {token.id} for {name}, role {role}. It is shown only now:"
    note(made)
    say(text)


def list_all() -> None:
    """List the tokens, without their text."""
    table = Table("id", "name", "role", "made", "revoked")
    with open_session() as session:
        for token in list_tokens(session):
            revoked = "" if token.revoked_at is None else f"{token.revoked_at:%Y-%m-%d %H:%M}"
            table.add_row(str(token.id), token.name, token.role, f"{token.created_at:%Y-%m-%d %H:%M}", revoked)
    show(table)


def revoke(token_id: Annotated[int, typer.Argument(help="The number that `token list` shows.")]) -> None:
    """Make a token useless from now on."""
    with open_session() as session:
        token = revoke_token(session, token_id)
        done = f"Token {token.id} of {token.name} is revoked."
    note(done)
