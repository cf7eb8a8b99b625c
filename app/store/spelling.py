"""The spelling of a benchmark's names: a name with the same key as a stored one must be spelt the same.

Called by `app.store.entrants` and `app.store.benchmarks`, which hold the names.
"""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import ARRAY, BindParameter, Text, bindparam, func, literal, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from app.db.models import Entrant, Task
from app.errors import Conflict
from app.names import first_few, name_key

SHOWN = 20


def refuse_respelled(what: str, stored: Iterable[str], wanted: Iterable[str]) -> None:
    """Raise Conflict for names that are stored, or wanted beside, in another spelling, see `name_key`."""
    known = {name_key(name): name for name in stored}
    alike = sorted(f"{name} is {first}" for name in wanted if (first := known.setdefault(name_key(name), name)) != name)
    if alike:
        raise Conflict(
            f"Too like {what} of this benchmark, only the case or the form of the letters differs: "
            f"{first_few(alike, SHOWN, between='; ')}. A name is written in one way."
        )


def add_names(session: Session, to: type[Entrant] | type[Task], benchmark_id: int, names: Iterable[str]) -> None:
    """Create those names that are new in a benchmark, in a fixed order to avoid deadlocks.

    One statement however many there are: a list of values would be compiled anew for each number of them.
    """
    ordered = sorted(names, key=name_key)
    new = func.unnest(_array(map(name_key, ordered)), _array(ordered)).table_valued("name_key", "name", name="new")
    columns = new.render_derived().c
    rows = select(literal(benchmark_id), columns.name_key, columns.name)
    session.execute(insert(to).from_select(["benchmark_id", "name_key", "name"], rows).on_conflict_do_nothing())


def _array(texts: Iterable[str]) -> BindParameter[Any]:
    return bindparam(None, list(texts), type_=ARRAY(Text), unique=True)
