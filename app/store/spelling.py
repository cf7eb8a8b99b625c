"""One name, one spelling: what has the key of a stored name must be written as it is.

Called by `app.store.entrants` and `app.store.benchmarks`, which hold the names.
"""

from collections.abc import Iterable

from app.errors import Conflict
from app.names import name_key

SHOWN = 20


def refuse_respelled(what: str, stored: Iterable[str], wanted: Iterable[str]) -> None:
    """Raise Conflict for names that are stored, or wanted beside, in another spelling, see `name_key`."""
    known = {name_key(name): name for name in stored}
    alike = sorted(f"{name} is {first}" for name in wanted if (first := known.setdefault(name_key(name), name)) != name)
    if alike:
        more = f"; and {len(alike) - SHOWN} more" if len(alike) > SHOWN else ""
        raise Conflict(
            f"Too like {what} of this benchmark, only the case or the form of the letters differs: "
            f"{'; '.join(alike[:SHOWN])}{more}. A name is written in one way."
        )
