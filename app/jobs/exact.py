"""The final board of private labels without rounding, for stewards alone.

It is the published computation, from the same current evidence: only the precision at which scores leave it
differs.
"""

from dataclasses import replace

from sqlalchemy.orm import Session

from app.boards.measured import MeasuredMethod
from app.boards.registry import measured_method
from app.errors import BoardUnavailable
from app.jobs.publish import finished, measuring_of, read_everything
from app.kinds.known import measured_evidence
from app.manifest.model import Leaderboard
from app.store.publication import Inputs
from app.store.snapshots import with_names
from app.values.table import Table

NOTE = (
    "Exact: nothing here is rounded, so it is for stewards alone. Ranks are of the private part, as on the published "
    "board; the columns of the public part and of all items stand beside."
)


def exact_board(session: Session, benchmark_id: int, spec: Leaderboard) -> Table:
    """Return a board of a closed benchmark with exact scores: of the private part, the public part and all items.

    What was measured for it is kept, so that the next look at it is quick.
    """
    inputs = _exactly(read_everything(session, benchmark_id))
    method = measured_method(spec)
    if method is None:
        raise TypeError(f"{spec.method} does not measure entrants one by one, as every board of private labels does")
    try:
        board = _computed(session, inputs, spec, method)
    except BoardUnavailable as error:
        meta = {"method": spec.method, "unavailable": str(error), "unavailable_reason": error.reason.value}
        board = Table(f"leaderboard/{spec.name}", spec.title or spec.name, (), (), (str(error),), meta)
    title, notes = f"{spec.title or spec.name}, exact", (NOTE, *board.notes)
    return replace(board, name=f"exact/{spec.name}", title=title, notes=notes)


def _exactly(inputs: Inputs) -> Inputs:
    manifest = inputs.declared.manifest
    exact = manifest.with_grid_facts(replace(manifest.asked.facts, is_exact=True))
    return replace(inputs, declared=replace(inputs.declared, manifest=exact))


def _computed(session: Session, inputs: Inputs, spec: Leaderboard, method: MeasuredMethod) -> Table:
    measuring, manifest = measuring_of(session, inputs), inputs.declared.manifest
    measured = measuring.measure(spec)
    measuring.keep(session)
    board = method.assemble(manifest, spec, measured, measured_evidence(manifest)).leaderboard
    return with_names(session, finished(inputs, board))
