"""Boards that are in no manifest yet: kept beside the benchmark, so that nothing public names them. For `app.web`."""

from collections.abc import Sequence

from sqlalchemy import delete, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from app.db.models import DraftBoard
from app.errors import Conflict, NotFound
from app.names import clip_for_message

MOST = 50


def put(session: Session, benchmark_id: int, name: str, yaml: bytes, by_id: int) -> bool:
    """Keep a draft in place of the one of its name, and say whether it is a new one. Raises Conflict for too many."""
    names = {each.name for each in list_drafts(session, benchmark_id)}
    if name not in names and len(names) >= MOST:
        raise Conflict(f"There are {MOST} drafts already; remove one first.")
    values = {"benchmark_id": benchmark_id, "name": name, "yaml": yaml, "put_by": by_id}
    changed = {"yaml": yaml, "put_by": by_id, "put_at": func.clock_timestamp()}
    keys = ["benchmark_id", "name"]
    session.execute(insert(DraftBoard).values(values).on_conflict_do_update(index_elements=keys, set_=changed))
    return name not in names


def list_drafts(session: Session, benchmark_id: int) -> Sequence[DraftBoard]:
    """Return the drafts of a benchmark, by name."""
    query = select(DraftBoard).where(DraftBoard.benchmark_id == benchmark_id).order_by(DraftBoard.name)
    return session.scalars(query).all()


def get_draft(session: Session, benchmark_id: int, name: str) -> DraftBoard:
    """Return a draft. Raises NotFound."""
    draft = session.get(DraftBoard, (benchmark_id, name))
    if draft is None:
        raise NotFound(f"There is no draft board {clip_for_message(name)} here.")
    return draft


def remove(session: Session, draft: DraftBoard) -> None:
    """Remove a draft; nobody else was shown it."""
    session.execute(delete(DraftBoard).where(
        DraftBoard.benchmark_id == draft.benchmark_id, DraftBoard.name == draft.name))  # fmt: skip
