"""Secrets that stand in files, as Docker and Kubernetes mount them."""

from pathlib import Path

import pytest

from app.cli.serve import NOT_HANDED_ON
from app.config import GONE, Settings, variable_names
from app.errors import SettingsError

TOKEN = "0123456789abcdef0123456789abcdex"


@pytest.mark.parametrize(
    ("variable", "field", "value"),
    [
        ("PLUMBLINE_ADMIN_TOKEN", "admin_token", TOKEN),
        ("PLUMBLINE_DATABASE_URL", "database_url", "postgresql://a:b@c/d"),
        ("PLUMBLINE_DIRECT_DATABASE_URL", "direct_database_url", "postgresql://a:b@c/d"),
        ("PLUMBLINE_SMTP_URL", "smtp_url", "smtp://user:password@mail.example.org:587"),
        ("PLUMBLINE_OIDC_CLIENT_SECRET", "oidc_client_secret", "the provider's secret"),
    ],
)
def test_a_secret_is_read_from_its_file(tmp_path: Path, variable: str, field: str, value: str) -> None:
    """The newline at its end is no part of it."""
    (tmp_path / "secret").write_text(f"{value}\n")
    settings = Settings.from_env({f"{variable}_FILE": str(tmp_path / "secret")})

    assert getattr(settings, field) == value


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (None, "No such file or directory"),
        (b"", "the file is empty"),
        (b"\xff\xfe", "the file is no text"),
        (b"x" * 70_000, "so it is no secret"),
        (b"short", "PLUMBLINE_ADMIN_TOKEN: Value error"),
    ],
)
def test_a_file_without_a_secret_is_refused(tmp_path: Path, content: bytes | None, complaint: str) -> None:
    """What is wrong with it, and never what stands in it."""
    path = tmp_path / "secret"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(SettingsError, match=complaint) as refused:
        Settings.from_env({"PLUMBLINE_ADMIN_TOKEN_FILE": str(path)})
    assert "short" not in str(refused.value)


@pytest.mark.parametrize("url", ["mail://plumbline:hunter2@mail.example.org", "smtp://plumbline:hunter2"])
def test_an_address_of_mail_that_is_none_is_not_shown(url: str) -> None:
    """Its password would be in the log of every start that was refused."""
    with pytest.raises(SettingsError, match="PLUMBLINE_SMTP_URL: Value error, expected smtp://") as refused:
        Settings.from_env({"PLUMBLINE_SMTP_URL": url})
    assert "hunter2" not in str(refused.value)


def test_a_secret_is_said_once(tmp_path: Path) -> None:
    """Which of two would be meant?"""
    (tmp_path / "secret").write_text(TOKEN)
    with pytest.raises(SettingsError, match="are both set"):
        Settings.from_env({"PLUMBLINE_ADMIN_TOKEN": TOKEN, "PLUMBLINE_ADMIN_TOKEN_FILE": str(tmp_path / "secret")})


def test_only_secrets_have_files() -> None:
    """Any other name that ends so is a misspelt setting."""
    with pytest.raises(SettingsError, match="PLUMBLINE_PORT_FILE is not a setting"):
        Settings.from_env({"PLUMBLINE_PORT_FILE": "/etc/port"})


@pytest.mark.parametrize("ending", ["", "_FILE"])
@pytest.mark.parametrize("name", sorted(GONE))
def test_a_setting_that_is_gone_is_refused_with_what_to_use_instead(name: str, ending: str) -> None:
    """Not with the nearest name, and without its value."""
    with pytest.raises(SettingsError) as refused:
        Settings.from_env({name + ending: "postgresql://u:hunter2@h/d"})

    assert str(refused.value) == f"{name}{ending} is not a setting any more: {GONE[name]}"
    assert name not in variable_names()


def test_the_admins_token_is_handed_to_no_other_process() -> None:
    """Only `serve` itself needs it."""
    assert {"PLUMBLINE_ADMIN_TOKEN", "PLUMBLINE_ADMIN_TOKEN_FILE"} <= NOT_HANDED_ON


@pytest.mark.parametrize("name", ["DATABASE_URL", "OWNER_DATABASE_URL", "DIRECT_DATABASE_URL"])
def test_an_empty_address_of_a_database_is_refused(name: str) -> None:
    """It would mean the embedded one, which a script whose variable came out empty does not mean."""
    with pytest.raises(SettingsError, match=f"PLUMBLINE_{name} is empty: unset it for the embedded database"):
        Settings.from_env({f"PLUMBLINE_{name}": ""})
