"""Every board of a benchmark from its admitted rows: tables, or the reason why a board cannot be computed. No
submission can block the others: where one breaks a board by itself, it is set aside there, and the board says so.
Where several break it only together nobody is blamed: the last good board is shown on.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy.exc import DBAPIError

from app.boards.evidence import NOBODY, BoardEvidence, LeftOut, Pair, board_of, board_without_gaps, setting_aside
from app.boards.tables import Beside
from app.db.models import ASIDE, KEPT, MISSING, TABLE
from app.errors import BoardUnavailable, Unavailable
from app.jobs.faults import Outcome, find_failing, note_fault, said
from app.kinds.contract import PublishedBoards
from app.kinds.registry import kind_of
from app.manifest.model import Leaderboard
from app.names import sentences
from app.store.current import Fault
from app.store.packed_tables import refuse_unstorable
from app.values.table import Table

BESIDE = "tables/unavailable"
LAST_GOOD = "last_good"
"""In the meta of a board that a fault kept from being computed: the snapshot that computed it last, and its time."""


def go_on(_tables: Sequence[Table] = ()) -> None:
    """Do nothing: the default for `before_each` and `after_each`."""


@dataclass(frozen=True)
class LastGood:
    """A board's tables as they were last computed, in which snapshot, from which evidence.

    `stands` says whether all of that evidence still does, none being withdrawn since.
    """

    tables: Sequence[Table]
    snapshot: int
    published_at: datetime
    evidence: frozenset[Pair]
    stands: bool

    @property
    def facts(self) -> dict[str, Any]:
        """What the next publication finds it by."""
        return {"snapshot": self.snapshot, "published_at": self.published_at.isoformat()}


def none_yet(_spec: Leaderboard) -> LastGood | None:
    """Return no last good board: the default where nothing was published before."""
    return None


def required_entrants(specs: Sequence[Leaderboard]) -> frozenset[str]:
    """Return the entrants without which boards cannot be computed, by their manifest."""
    named = (getattr(spec, role, None) for spec in specs for role in ("baseline", "leakage_model"))
    return frozenset(name for name in named if name is not None)


def compute_tables(
    evidence: BoardEvidence,
    *,
    before_each: Callable[[], None] = go_on,
    after_each: Callable[[Sequence[Table]], None] = go_on,
    last_good: Callable[[Leaderboard], LastGood | None] = none_yet,
    faults: list[Fault] | None = None,
) -> list[Table]:
    """Compute every board and the kind's tables; one that cannot be computed, or stored, is replaced by the reason.

    `before_each` is called before each board, and ends the computation by raising; `after_each` with its tables.
    `last_good` gives a board that is shown on where none can be computed; `faults` collects those of the server.
    """
    noted: list[Fault] = [] if faults is None else faults
    boards: list[Table] = []
    for spec in evidence.manifest.leaderboards:
        before_each()
        of_board = _Board(evidence, spec, last_good, noted).tables()
        after_each(of_board)
        boards += of_board
    before_each()
    return _Further(evidence, boards, noted).tables()


def _failing_submissions(
    evidence: BoardEvidence, required: frozenset[str], attempt: Callable[[LeftOut], Outcome]
) -> frozenset[int]:
    """Return the submissions with which `attempt` fails beside the evidence of the required entrants alone."""
    beside = frozenset(s.submission for s in evidence.standings if s.entrant in required)
    everybody = frozenset(s.submission for s in evidence.standings)

    def alone(submission_ids: frozenset[int]) -> Outcome:
        shown = submission_ids | beside
        return attempt(evidence.of_submissions(everybody - shown)) if shown else Outcome.NOTHING

    return find_failing(sorted(everybody - beside, reverse=True), alone)


@dataclass(frozen=True)
class _Further:
    """The tables that the kind adds beside the boards; a fault in them does not prevent publication."""

    evidence: BoardEvidence
    boards: Sequence[Table]
    faults: list[Fault]

    def tables(self) -> list[Table]:
        """Return the boards with the kind's tables, leaving out submissions that make these fail."""
        try:
            return self._make(NOBODY)
        except DBAPIError:
            raise
        except Exception as error:
            fault = note_fault(error, TABLE, f"the tables beside the boards of {self.evidence.manifest.slug}", BESIDE)
            self.faults.append(fault)
            return self._without_failing(fault)

    def _make(self, left_out: LeftOut) -> list[Table]:
        published = PublishedBoards(
            manifest=self.evidence.manifest,
            boards=self.boards,
            rows=partial(self.evidence.scores, left_out),
            described=self.evidence.described,
        )
        tables = kind_of(self.evidence.manifest).benchmark_tables(published)
        looked_at = set(map(id, self.boards))
        for table in tables:
            if id(table) not in looked_at:
                refuse_unstorable(table)
        return tables

    def _attempt(self, left_out: LeftOut) -> Outcome:
        try:
            self._make(left_out)
        except DBAPIError:
            raise
        except Exception:
            return Outcome.FAILED
        return Outcome.COMPUTED

    def _without_failing(self, fault: Fault) -> list[Table]:
        reason = f"Tables could not be computed because of {said(fault)}"
        nothing = [*self.boards, _unavailable_beside(f"{reason}.", fault)]
        failing = _failing_submissions(
            self.evidence, required_entrants(self.evidence.manifest.leaderboards), self._attempt
        )
        left_out = self.evidence.of_submissions(failing)
        if not failing or self._attempt(left_out) is Outcome.FAILED:
            return nothing
        named = sentences([str(s) for s in self.evidence.standings if s.pair in left_out])
        without = _unavailable_beside(f"{reason}. They are without {named}, which break them alone.", fault)
        return [*self._make(left_out), without]


@dataclass(frozen=True)
class _Board:
    """One board being computed."""

    evidence: BoardEvidence
    spec: Leaderboard
    last_good: Callable[[Leaderboard], LastGood | None]
    faults: list[Fault]

    def tables(self) -> list[Table]:
        """Return the board's tables, or one table that says why there are none."""
        try:
            return self._make(NOBODY)
        except BoardUnavailable as error:
            return [_unavailable(self.spec, error.reason, str(error))]
        except DBAPIError:
            raise
        except Exception as error:
            return self._without_failing(self._noted(error))

    def _noted(self, error: Exception) -> Fault:
        return note_fault(error, KEPT, f"board {self.spec.name} of {self.evidence.manifest.slug}", self.spec.name)

    def _make(self, left_out: LeftOut) -> list[Table]:
        """Compute the ranks, and apart from them the further tables; check that all can be stored."""
        computed = board_without_gaps(self.evidence, self.spec, left_out)
        refuse_unstorable(computed.leaderboard)
        beside = map(self._beside, computed.beside)
        return [computed.leaderboard, *(table for table in beside if table is not None)]

    def _beside(self, further: Beside) -> Table | None:
        """Compute a further table; one that cannot be computed, or stored, says so in its place and takes no rank."""
        try:
            table = further.compute()
            if table is not None:
                refuse_unstorable(table)
        except DBAPIError:
            raise
        except Exception as error:
            fault = note_fault(error, TABLE, f"the table {further.name} of {self.evidence.manifest.slug}", further.name)
            self.faults.append(fault)
            title = f"{self.spec.title or self.spec.name}: {further.name.partition('/')[0].replace('_', ' ')}"
            detail = f"This table could not be computed because of {said(fault)}."
            meta = {"unavailable": detail, "unavailable_reason": Unavailable.FAULT.value, "fault": fault.number}
            return Table(further.name, title, (), (), (detail,), meta)
        return table

    def _without_failing(self, fault: Fault) -> list[Table]:
        """Compute the board without those who break it alone; where that fails too, show the last good one on."""
        failing = _failing_submissions(self.evidence, required_entrants([self.spec]), self._attempt)
        left_out = self.evidence.of_submissions(failing)
        self.faults.extend(replace(fault, what=ASIDE, submission_id=number) for number in sorted(failing))
        reason = f"By itself it cannot be computed on this board because of {said(fault)}."
        if failing:
            try:
                return self._noting(self._make(left_out), left_out, reason, fault)
            except BoardUnavailable as error:
                return self._noting([_unavailable(self.spec, error.reason, str(error))], left_out, reason, fault)
            except DBAPIError:
                raise
            except Exception as error:
                fault = self._noted(error)
        return self._noting(self._kept(fault), left_out, reason, fault)

    def _kept(self, fault: Fault) -> list[Table]:
        """Return the last good board, marked, without what was withdrawn since; or the reason where there is none."""
        last = self.last_good(self.spec)
        why = f"because of {said(fault)}"
        if last is None:
            return [self._missing(fault, f"This board could not be computed {why}.", {})]
        since = f"{last.published_at:%Y-%m-%d %H:%M} UTC"
        tables, note = last.tables, f"Not recomputed since {since} (snapshot {last.snapshot}) {why}."
        if not last.stands:
            try:
                tables = self._make(self.evidence.not_in(last.evidence))
            except DBAPIError:
                raise
            except Exception:
                detail = f"This board could not be computed {why}. That of {since} has evidence withdrawn since."
                return [self._missing(fault, detail, {LAST_GOOD: last.facts})]
            note = f"Without evidence that came after {since} (snapshot {last.snapshot}), {why}."
        self.faults.append(fault)
        meta = {"fault": fault.number, LAST_GOOD: last.facts}
        return [replace(each, notes=(note, *each.notes), meta={**each.meta, **meta}) for each in tables]

    def _missing(self, fault: Fault, detail: str, meta: dict[str, Any]) -> Table:
        self.faults.append(replace(fault, what=MISSING))
        table = _unavailable(self.spec, Unavailable.FAULT, detail)
        return replace(table, meta={**table.meta, "fault": fault.number, **meta})

    def _attempt(self, left_out: LeftOut) -> Outcome:
        try:
            refuse_unstorable(board_of(self.evidence, self.spec, left_out).leaderboard)
        except BoardUnavailable:
            return Outcome.NOTHING
        except DBAPIError:
            raise
        except Exception:
            return Outcome.FAILED
        return Outcome.COMPUTED

    def _noting(self, tables: Sequence[Table], left_out: LeftOut, reason: str, fault: Fault) -> list[Table]:
        return [setting_aside(each, self.evidence, left_out, reason, fault=fault.number) for each in tables]


def _unavailable_beside(detail: str, fault: Fault) -> Table:
    meta = {"unavailable": detail, "unavailable_reason": Unavailable.FAULT.value, "fault": fault.number}
    return Table(BESIDE, "Tables beside the boards", (), (), (detail,), meta)


def _unavailable(spec: Leaderboard, reason: Unavailable, detail: str) -> Table:
    meta = {"method": spec.method, "unavailable": detail, "unavailable_reason": reason.value}
    return Table(f"leaderboard/{spec.name}", spec.title or spec.name, (), (), (detail,), meta)
