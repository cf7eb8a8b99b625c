"""The admin token of the environment is hard to guess, and one that signs nobody in is told at start."""

import secrets
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy.orm import Session

from app.config import HARD_TO_GUESS, Settings
from app.db.engine import make_engine
from app.errors import SettingsError
from app.rights.tokens import create_token, revoke_token
from tests.cases.running_server import running_server

GUESSABLE = {
    "one letter": "a" * 64,
    "a repeated piece": "abcdefgh" * 4,
    "short": secrets.token_hex(15),
    "few letters": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaabcdefgh",
    "two letters": "abbabaabbaababbabaababbaabbabaabb",
    "with a space": secrets.token_hex(16) + " x",
    "not ASCII": secrets.token_hex(16) + "é",
}


@pytest.mark.parametrize("text", GUESSABLE.values(), ids=GUESSABLE.keys())
def test_an_admin_token_that_could_be_guessed_is_refused(text: str) -> None:
    """The message says what is allowed and does not show the text."""
    with pytest.raises(SettingsError) as refused:
        Settings.from_env({"PLUMBLINE_ADMIN_TOKEN": text})

    assert HARD_TO_GUESS in str(refused.value)
    assert text not in str(refused.value)


@pytest.mark.parametrize(
    "make", [partial(secrets.token_hex, 16), partial(secrets.token_hex, 32), secrets.token_urlsafe]
)
def test_a_random_admin_token_is_taken(make: Callable[[], str]) -> None:
    """What openssl rand -hex 16 or our own tokens look like is enough."""
    text = make()

    assert Settings.from_env({"PLUMBLINE_ADMIN_TOKEN": text}).admin_token == text


def test_an_admin_token_of_the_environment_that_was_revoked_is_told_at_start(database_url: str, tmp_path: Path) -> None:
    """It stays revoked, and whoever starts the server learns it from the server and not from a 401."""
    engine = make_engine(database_url, pool_size=1)
    with Session(engine) as session, session.begin():
        create_token(session, "another", "admin")
        token, text = create_token(session, "given", "admin")
        revoke_token(session, token.id)
        number = token.id
    engine.dispose()
    settings = {"PLUMBLINE_DATABASE_URL": database_url, "PLUMBLINE_ADMIN_TOKEN": text}
    with running_server(tmp_path / "data", **settings):
        message = (tmp_path / "serve.log").read_text()

    assert f"PLUMBLINE_ADMIN_TOKEN is token {number} (given), which was revoked on" in message
    assert text not in message
