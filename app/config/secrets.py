"""Secrets among the settings: which they are, how hard to guess they must be, and reading them from files.

Called by `app.config.settings`.
"""

import re
from collections.abc import Mapping
from pathlib import Path

# Their values are never shown: what is almost a token must not reach a log.
SECRETS = (
    "admin_token",
    "database_url",
    "owner_database_url",
    "direct_database_url",
    "oidc_client_secret",
    "smtp_url",
)
FROM_FILE = "_FILE"
MAX_SECRET_BYTES = 64 * 1024


HARD_TO_GUESS = (
    "expected at least 32 characters, drawn at random: letters, digits and signs without spaces, at least 8 different "
    "ones, none of them more than half of the text, and no repeated piece; openssl rand -hex 32 makes one"
)


def is_plausible_secret(text: str) -> bool:
    """Say whether a text may hold 128 random bits, as 32 hexadecimal digits do; what is only long does not.

    Of 32 random digits fewer than eight are different once in 20 million times.
    """
    is_sendable = re.fullmatch(r"[!-~]{32,}", text) is not None
    is_repeated = text in (text + text)[1:-1]
    return is_sendable and not is_repeated and len(set(text)) >= 8 and max(map(text.count, text)) <= len(text) / 2


def with_secret_files(given: Mapping[str, str], prefix: str) -> tuple[dict[str, str], list[str]]:
    """Return the variables with secrets in the place of the names of files that hold them; and what is wrong.

    `PLUMBLINE_ADMIN_TOKEN_FILE` names a file with the value of `PLUMBLINE_ADMIN_TOKEN`, as Docker and Kubernetes mount.
    """
    values, complaints = dict(given), []
    for secret in SECRETS:
        name = prefix + secret.upper()
        path = values.pop(name + FROM_FILE, "")
        if path and values.get(name):
            complaints.append(f"{name} and {name}{FROM_FILE} are both set: unset one")
        elif path:
            try:
                values[name] = _read_secret(Path(path))
            except (OSError, ValueError) as error:
                reason = error.strerror if isinstance(error, OSError) else error
                complaints.append(f"{name}{FROM_FILE}={path!r}: {reason}")
    return values, complaints


def _read_secret(path: Path) -> str:
    with path.open("rb") as opened:
        content = opened.read(MAX_SECRET_BYTES + 1)
    if len(content) > MAX_SECRET_BYTES:
        raise ValueError(f"the file has more than {MAX_SECRET_BYTES} bytes, so it is no secret")
    try:
        text = content.decode().strip()
    except UnicodeDecodeError:
        raise ValueError("the file is no text") from None
    if not text:
        raise ValueError("the file is empty")
    return text
