"""Every board of a benchmark from its admitted rows: tables, or the reason why a board cannot be computed.

Called by `app.jobs.publish`. No submission can block the others: where a board can be computed only without one, that
one is set aside there, and the board says so.
"""

import logging
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from sqlalchemy.exc import DBAPIError

from app.boards.measured import Measurement
from app.boards.registry import compute_board, measured_method
from app.boards.tables import Beside
from app.boards.wording import sentences
from app.errors import BoardUnavailable, Unavailable
from app.jobs.culprits import Outcome, find_culprits
from app.jobs.faults import describe_fault
from app.kinds.contract import Described, Published
from app.kinds.known import kind_of, measured_evidence
from app.manifest.leaderboard import Leaderboard
from app.manifest.manifest import Manifest
from app.names import in_words
from app.store.measured import Pair
from app.store.publication_inputs import CurrentEvidence
from app.store.snapshots import refuse_unstorable
from app.values.scores import ScoreTable
from app.values.table import Table

logger = logging.getLogger(__name__)

MOST_ROUNDS = 3
BESIDE = "tables/unavailable"
NO_TABLE = "This table could not be computed, by a fault of this server; its operators find the cause in the log"

LeftOut = frozenset[Pair]
EVERYTHING: LeftOut = frozenset()


def go_on(_tables: Sequence[Table] = ()) -> None:
    """Do nothing: the default for `before_each` and `after_each`."""


@dataclass(frozen=True)
class BoardInputs:
    """What boards are computed from, minus what is left out; functions, because only some boards need the many rows.

    `before_each` is called before each board, and ends the computation by raising; `after_each` with its tables.
    """

    standings: Sequence[CurrentEvidence]
    scores: Callable[[LeftOut], ScoreTable]
    measurements: Callable[[Leaderboard, LeftOut], Sequence[Measurement]]
    described: Callable[[], Described]
    before_each: Callable[[], None] = go_on
    after_each: Callable[[Sequence[Table]], None] = go_on

    def of_submissions(self, numbers: frozenset[int]) -> LeftOut:
        """Return the evidence of some submissions."""
        return frozenset(s.piece.pair for s in self.standings if s.submission_id in numbers)

    def of_entrants(self, names: Sequence[str]) -> LeftOut:
        """Return the current evidence of some entrants."""
        return frozenset(s.piece.pair for s in self.standings if s.entrant in names)

    def newest_first(self) -> list[int]:
        """Return the current submissions, newest first."""
        return sorted({s.submission_id for s in self.standings}, reverse=True)


def compute_tables(manifest: Manifest, inputs: BoardInputs) -> list[Table]:
    """Compute every board and the kind's tables; one that cannot be computed, or stored, is replaced by the reason."""
    boards: list[Table] = []
    for spec in manifest.leaderboards:
        inputs.before_each()
        of_board = _Board(manifest, spec, inputs).tables()
        inputs.after_each(of_board)
        boards += of_board
    inputs.before_each()
    return _Further(manifest, inputs, boards).tables()


@dataclass(frozen=True)
class _Further:
    """The tables that the kind adds beside the boards; a fault in them does not prevent publication."""

    manifest: Manifest
    inputs: BoardInputs
    boards: Sequence[Table]

    def tables(self) -> list[Table]:
        """Return the boards with the kind's tables, leaving out submissions that make these fail."""
        try:
            return self._make(EVERYTHING)
        except DBAPIError:
            raise
        except Exception as error:
            logger.exception("the tables beside the boards of %s could not be computed", self.manifest.slug)
            return self._without_culprits(describe_fault(error))

    def _make(self, left_out: LeftOut) -> list[Table]:
        published = Published(
            manifest=self.manifest,
            boards=self.boards,
            rows=partial(self.inputs.scores, left_out),
            described=self.inputs.described,
        )
        tables = kind_of(self.manifest).benchmark_tables(published)
        looked_at = set(map(id, self.boards))
        for table in tables:
            if id(table) not in looked_at:
                refuse_unstorable(table)
        return tables

    def _attempt(self, numbers: frozenset[int]) -> Outcome:
        try:
            self._make(self.inputs.of_submissions(numbers))
        except DBAPIError:
            raise
        except Exception:
            return Outcome.FAILED
        return Outcome.COMPUTED

    def _without_culprits(self, fault: str) -> list[Table]:
        culprits = find_culprits(self.inputs.newest_first(), self._attempt)
        left_out = self.inputs.of_submissions(culprits)
        reason = f"The computation failed on this server ({fault})"
        if not culprits:
            return [*self.boards, _unavailable_beside(f"{reason}.")]
        named = _named([s for s in self.inputs.standings if s.piece.pair in left_out])
        without = _unavailable_beside(f"{reason}, so these tables are without {named}.")
        return [*self._make(left_out), without]


@dataclass(frozen=True)
class _Board:
    """One board being computed."""

    manifest: Manifest
    spec: Leaderboard
    inputs: BoardInputs

    def tables(self) -> list[Table]:
        """Return the board's tables, or one table that says why there are none."""
        try:
            return self._without_gaps()
        except BoardUnavailable as error:
            return [_unavailable(self.spec, error.reason, str(error))]
        except DBAPIError:
            raise
        except Exception as error:
            logger.exception("board %s of %s could not be computed", self.spec.name, self.manifest.slug)
            return self._without_culprits(describe_fault(error))

    def _make(self, left_out: LeftOut, *, with_beside: bool = True) -> list[Table]:
        """Compute the ranks, and apart from them the further tables; check that all can be stored."""
        method = measured_method(self.spec)
        if method is None:
            computed = compute_board(self.manifest, self.spec, self.inputs.scores(left_out))
        else:
            measurements = self.inputs.measurements(self.spec, left_out)
            computed = method.assemble(self.manifest, self.spec, measurements, measured_evidence(self.manifest))
        refuse_unstorable(computed.leaderboard)
        beside = (self._beside(each) for each in computed.beside) if with_beside else ()
        return [computed.leaderboard, *(table for table in beside if table is not None)]

    def _beside(self, further: Beside) -> Table | None:
        """Compute a further table; one that cannot be computed, or stored, says so in its place and takes no rank."""
        try:
            table = further.compute()
            if table is not None:
                refuse_unstorable(table)
        except DBAPIError:
            raise
        except Exception:
            number = secrets.token_hex(4)
            logger.exception("fault %s: the table %s of %s", number, further.name, self.manifest.slug)
            title = f"{self.spec.title or self.spec.name}: {further.name.partition('/')[0].replace('_', ' ')}"
            detail = f"{NO_TABLE} (fault {number})."
            meta = {"unavailable": detail, "unavailable_reason": Unavailable.FAULT.value, "fault": number}
            return Table(further.name, title, (), (), (detail,), meta)
        return table

    def _without_gaps(self) -> list[Table]:
        """Compute the board, setting aside the few entrants whose gaps would prevent it for everybody."""
        aside: list[str] = []
        reasons: list[str] = []
        for _ in range(MOST_ROUNDS):
            try:
                computed = self._make(self.inputs.of_entrants(aside))
            except BoardUnavailable as error:
                aside += error.entrants
                if not error.entrants or not self._are_few(aside):
                    raise
                reasons.append(str(error))
            else:
                return self._noting(computed, self.inputs.of_entrants(aside), " ".join(reasons))
        return self._noting(self._make(self.inputs.of_entrants(aside)), self.inputs.of_entrants(aside), reasons[-1])

    def _are_few(self, entrants: Sequence[str]) -> bool:
        return 2 * len(set(entrants)) <= len({s.entrant for s in self.inputs.standings})

    def _without_culprits(self, fault: str) -> list[Table]:
        culprits = find_culprits(self.inputs.newest_first(), self._attempt)
        if not culprits:
            return [_unavailable(self.spec, Unavailable.FAULT, f"The computation failed on this server ({fault}).")]
        left_out = self.inputs.of_submissions(culprits)
        reason = f"With it the board cannot be computed ({fault}), without it it can."
        return self._noting(self._make(left_out), left_out, reason)

    def _attempt(self, numbers: frozenset[int]) -> Outcome:
        try:
            self._make(self.inputs.of_submissions(numbers), with_beside=False)
        except BoardUnavailable:
            return Outcome.NOTHING
        except DBAPIError:
            raise
        except Exception:
            return Outcome.FAILED
        return Outcome.COMPUTED

    def _noting(self, tables: Sequence[Table], left_out: LeftOut, reason: str) -> list[Table]:
        aside = [s for s in self.inputs.standings if s.piece.pair in left_out]
        if not aside:
            return list(tables)
        named = _named(aside)
        facts = [{"entrant": s.entrant, "submission": s.submission_id, "reason": reason} for s in aside]
        return [_with_note(table, f"Set aside on this board: {named}. {reason}", facts) for table in tables]


def _named(standings: Sequence[CurrentEvidence]) -> str:
    return sentences([f"{in_words(s.entrant)} (submission {s.submission_id})" for s in standings])


def _with_note(table: Table, note: str, facts: Sequence[dict[str, Any]]) -> Table:
    return replace(table, notes=(*table.notes, note), meta={**table.meta, "set_aside": list(facts)})


def _unavailable_beside(detail: str) -> Table:
    meta = {"unavailable": detail, "unavailable_reason": Unavailable.FAULT.value}
    return Table(BESIDE, "Tables beside the boards", (), (), (detail,), meta)


def _unavailable(spec: Leaderboard, reason: Unavailable, detail: str) -> Table:
    meta = {"method": spec.method, "unavailable": detail, "unavailable_reason": reason.value}
    return Table(f"leaderboard/{spec.name}", spec.title or spec.name, (), (), (detail,), meta)
