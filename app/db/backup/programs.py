"""The programs of Postgres that make and restore copies: found, and run with one sentence where they fail.

Called by the other modules beside it. The wheel brings those of one major version; for a newer server its own must be
installed, because no program of Postgres copies a server newer than itself.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from app.db.embedded.binaries import own_programs
from app.db.embedded.trouble import ADVICE
from app.errors import EmbeddedDatabaseError, PlumblineError

DEBIAN = Path("/usr/lib/postgresql")


class BackupError(PlumblineError):
    """A copy could not be made, is not whole, or cannot be restored there."""


def find_program(name: str, major: int) -> Path:
    """Return the oldest installed program of this name that is of a major version or newer.

    Raises BackupError, which says what to install.
    """
    versions = [(version, path) for path in _candidates(name) if (version := major_of(path)) is not None]
    suitable = [each for each in versions if each[0] >= major]
    if not suitable:
        seen = ", ".join(sorted({str(version) for version, _ in versions})) or "none"
        raise BackupError(
            f"This needs the program {name} of Postgres {major} or newer, and here is {seen}: install the package "
            f"postgresql-client-{major}."
        )
    return min(suitable)[1]


def _candidates(name: str) -> Iterator[Path]:
    with suppress(EmbeddedDatabaseError):
        yield own_programs() / name
    if (on_path := shutil.which(name)) is not None:
        yield Path(on_path)
    yield from sorted(DEBIAN.glob(f"*/bin/{name}"))


def major_of(program: Path) -> int | None:
    """Return the major version that a program says it is of, or None where it does not run."""
    try:
        answer = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)  # noqa: S603
    except OSError:
        return None
    number = re.search(r"\(PostgreSQL\) (\d+)", answer.stdout)
    return None if number is None else int(number[1])


def run(what: str, command: Sequence[str | Path], database_url: str | None = None) -> str:
    """Run a program to its end and return what it printed. Raises BackupError with the first line of its complaint.

    The address of a database becomes its argument `--dbname`, without the password: that is in the environment.
    """
    arguments, environ = [*command], dict(os.environ)
    if database_url is not None:
        arguments.insert(1, f"--dbname={without_password(database_url, environ)}")
    done = subprocess.run(  # noqa: S603 - only programs of Postgres
        arguments, env=environ | {"LC_ALL": "C"}, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise BackupError(f"{what}: {complaint(done.stderr or done.stdout)}.")
    return done.stdout


def without_password(database_url: str, environ: dict[str, str]) -> str:
    """Return an address as the libraries of Postgres take it, with its password put into the environment."""
    parts = conninfo_to_dict(database_url)
    if (password := parts.pop("password", None)) is not None:
        environ["PGPASSWORD"] = str(password)
    return make_conninfo("", **parts)


def complaint(printed: str) -> str:
    """Return the line of an error in what a program printed, and advice where the system gave the reason."""
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    cause = next((line for line in lines if "error:" in line or "FATAL:" in line), lines[-1] if lines else "no reason")
    advice = next((advice for sign, advice in ADVICE.items() if sign in printed), None)
    return f"{cause.rstrip('.')}; {advice}" if advice else cause.rstrip(".")
