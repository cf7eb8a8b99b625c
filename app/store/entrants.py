"""Entrants: names, who owns them, which submission is the evidence that counts, and which of them are references.

A reference is what others are scored relative to: its name belongs to the benchmark's stewards, who name somebody else
by moving the name to them, which works before there is any evidence as well.

Why: docs/adr/014-owners-and-reservations.md.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, ScalarSelect, func, select
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.orm import Session

from app.admission.forensics import skeleton
from app.admission.rules import reference_boards
from app.db.models import (
    Benchmark,
    Entrant,
    EntrantTransfer,
    Entry,
    ManifestVersion,
    Submission,
    Token,
)
from app.errors import Conflict, NotFound
from app.kinds.parse import parse_manifest
from app.manifest.model import Manifest
from app.names import clip_for_message, first_few, name_key
from app.rights import roles
from app.store import reservations
from app.store.benchmark_rows import add_names, refuse_respelled
from app.store.sql import one_of


@dataclass(frozen=True)
class Move:
    """A steward moved an entrant from one owner to another."""

    before: Token | None
    to: Token
    by: Token
    at: datetime
    reason: str


@dataclass(frozen=True)
class Ownership:
    """The owner of an entrant, and its transfers, oldest first."""

    owner: Token | None
    moves: tuple[Move, ...]


def find_entrant(session: Session, benchmark_id: int, name: str) -> Entrant:
    """Return an entrant. Raises NotFound."""
    entrant = session.scalar(select(Entrant).where(Entrant.benchmark_id == benchmark_id, Entrant.name == name))
    if entrant is None:
        raise NotFound(f"There is no entrant {name} in this benchmark.")
    return entrant


def names(session: Session, benchmark_id: int) -> Sequence[str]:
    """Return the name of every entrant that evidence was ever submitted for."""
    return session.scalars(select(Entrant.name).where(Entrant.benchmark_id == benchmark_id)).all()


def is_gone() -> ColumnElement[bool]:
    """Return, of entries with their submissions by entrant, that some are withdrawn and none stands or waits."""
    stands = func.bool_or(Entry.state.in_(("pending", "current")))
    return func.bool_or(Submission.status == "withdrawn") & ~stands


def names_brought() -> ScalarSelect[Any]:
    """Return, as a column of a query of submissions, the names of the entrants that each brought."""
    names = select(func.array_agg(aggregate_order_by(Entrant.name, Entrant.name)))
    entries = names.join(Entry, Entry.entrant_id == Entrant.id)
    return entries.where(Entry.submission_id == Submission.id).scalar_subquery()


def is_named(names: Iterable[str]) -> ColumnElement[bool]:
    """Return the condition that an entrant has one of some names, in whatever spelling, see `app.names.name_key`."""
    return one_of(Entrant.name_key, {name_key(name) for name in names})


def owners_of(session: Session, benchmark_id: int, names: Iterable[str]) -> dict[str, int | None]:
    """Return the owner of each of some entrants, None for one that nobody owns yet."""
    query = select(Entrant.name, Entrant.owner_id)
    return dict(session.execute(query.where(Entrant.benchmark_id == benchmark_id, one_of(Entrant.name, names))).all())


def lock_entrant(session: Session, benchmark_id: int, name: str) -> Entrant:
    """Return an entrant whose row stays locked until the transaction ends. Raises NotFound."""
    return lock_numbered(session, [find_entrant(session, benchmark_id, name).id])[0]


def lock_numbered(session: Session, entrant_ids: Iterable[int]) -> Sequence[Entrant]:
    """Return entrants as they are now, locked until the transaction ends, in the order in which everyone locks."""
    query = select(Entrant).where(one_of(Entrant.id, entrant_ids)).order_by(Entrant.id).with_for_update(key_share=True)
    return session.scalars(query.execution_options(populate_existing=True)).all()


def lock_entrants(session: Session, benchmark_id: int, names: Iterable[str]) -> dict[str, Entrant]:
    """Create new entrants and lock all of them, so that two submissions of one entrant take turns.

    Raises Conflict when a name is a stored one in another spelling, see `app.names.name_key`.
    """
    wanted = sorted(names)
    add_names(session, Entrant, benchmark_id, wanted)
    query = select(Entrant).where(Entrant.benchmark_id == benchmark_id, is_named(wanted))
    entrants = session.scalars(query.order_by(Entrant.id).with_for_update(key_share=True)).all()
    refuse_respelled("an entrant", {entrant.name for entrant in entrants}, wanted)
    return {entrant.name: entrant for entrant in entrants}


def refuse_foreign(entrants: Iterable[Entrant], token_id: int) -> None:
    """Raise Conflict naming every entrant that belongs to another submitter."""
    foreign = sorted(e.name for e in entrants if e.owner_id is not None and e.owner_id != token_id)
    if foreign:
        raise Conflict(
            f"Owned by another submitter: {first_few(foreign, 20)}. Only the owner of an entrant may submit for it; "
            "a steward can move ownership."
        )


def refuse_not_theirs(
    session: Session, benchmark: Benchmark, names: Iterable[str], known: Iterable[Entrant], token_id: int
) -> None:
    """Raise Conflict naming every entrant that belongs to another submitter or to stewards, or is reserved for one.

    `known` are the stored ones of the names. No registration reserves a reference entrant, not even one that was
    registered before the manifest named the reference.
    """
    wanted, named = sorted(names), newest_references(session, benchmark)
    refuse_reference(session, benchmark, named, wanted, token_id)
    refuse_foreign(known, token_id)
    reservations.refuse_reserved(session, benchmark, named.without(wanted), token_id)


def set_first_owner(entrants: Iterable[Entrant], token_id: int) -> None:
    """Make the token the owner of those entrants that have none."""
    for entrant in entrants:
        if entrant.owner_id is None:
            entrant.owner_id = token_id


def transfer(session: Session, entrant: Entrant, to: Token, by: Token, reason: str) -> None:
    """Move a locked entrant to another owner and record it; moving it to its own owner changes nothing.

    Raises Conflict when the token is revoked: nobody could submit for the entrant.
    """
    if to.revoked_at is not None:
        why = f"is revoked, so nobody could submit for {entrant.name}."
        raise Conflict(f"Token {to.id} of {to.name} {why}", recorded=f"Token {to.id} {why}")
    if entrant.owner_id == to.id:
        return
    session.add(
        EntrantTransfer(entrant_id=entrant.id, from_id=entrant.owner_id, to_id=to.id, by_id=by.id, reason=reason)
    )
    entrant.owner_id = to.id
    session.flush()


def read_ownership(session: Session, entrant: Entrant) -> Ownership:
    """Return an entrant's owner and its transfers, oldest first."""
    query = select(EntrantTransfer).where(EntrantTransfer.entrant_id == entrant.id).order_by(EntrantTransfer.id)
    transfers = session.scalars(query).all()
    named = {entrant.owner_id, *(number for t in transfers for number in (t.from_id, t.to_id, t.by_id))}
    tokens = {token.id: token for token in session.scalars(select(Token).where(Token.id.in_(named - {None})))}
    moves = tuple(
        Move(None if t.from_id is None else tokens[t.from_id], tokens[t.to_id], tokens[t.by_id], t.at, t.reason)
        for t in transfers
    )
    return Ownership(None if entrant.owner_id is None else tokens[entrant.owner_id], moves)


def entries_of(session: Session, entrant_id: int) -> Sequence[Entry]:
    """Return every piece of evidence an entrant ever had, the newest first."""
    query = select(Entry).where(Entry.entrant_id == entrant_id)
    return session.scalars(query.order_by(Entry.submission_id.desc())).all()


SHOWN = 10


@dataclass(frozen=True)
class References:
    """The names of a manifest's reference entrants."""

    names: frozenset[str]

    @classmethod
    def of(cls, manifest: Manifest) -> "References":
        """Return those of a manifest."""
        return cls(frozenset(reference_boards(manifest)))

    def without(self, names: Iterable[str]) -> list[str]:
        """Return the names that are no reference's in any spelling."""
        keys = {name_key(name) for name in self.names}
        return [name for name in names if name_key(name) not in keys]

    def meant_by(self, names: Iterable[str]) -> dict[str, str]:
        """Return which names are, or look like, a reference's, with the name of that."""
        if not self.names:
            return {}
        keys = {name_key(name): name for name in self.names}
        looks = {skeleton(name): name for name in self.names}
        meant = {name: keys.get(name_key(name)) or looks.get(skeleton(name)) for name in names}
        return {name: reference for name, reference in meant.items() if reference is not None}


def newest_references(session: Session, benchmark: Benchmark) -> References:
    """Return the reference entrants that the newest manifest names, whatever version an upload was written for."""
    newest = select(ManifestVersion.yaml).where(ManifestVersion.benchmark_id == benchmark.id)
    yaml = session.scalars(newest.order_by(ManifestVersion.version.desc()).limit(1)).one()
    return References.of(parse_manifest(yaml))


def refuse_reference(
    session: Session, benchmark: Benchmark, references: References, names: Iterable[str], token_id: int
) -> None:
    """Refuse names of references, and names that look like one, to all but stewards and those whom they named.

    Who owned a name that merely looks like one may go on with it. Raises Conflict, for a steward too where a name is a
    reference's in another spelling.
    """
    meant = references.meant_by(names)
    if meant and not roles.decides(session, benchmark.id, token_id):
        _refuse_all_but(session, benchmark, meant, _own(session, benchmark.id, references, meant, token_id))
    refuse_respelled("an entrant", references.names, [name for name in meant if not references.without([name])])


def _refuse_all_but(session: Session, benchmark: Benchmark, meant: Mapping[str, str], own: set[str]) -> None:
    if not (refused := sorted(meant.keys() - own)):
        return
    said = first_few(refused, SHOWN, lambda name: _in_words(name, meant[name]), "; ")
    stewards = ", ".join(steward.name for steward in roles.list_stewards(session, benchmark.id)) or "an admin"
    why = f"{said}. Others are scored relative to it, so the name belongs to the stewards of {benchmark.slug}"
    what = f"They can submit it, or give you its name (PUT /benchmarks/{benchmark.slug}/entrants/NAME/owner)."
    raise Conflict(f"{why} ({stewards}). {what}", recorded=f"{why}. {what}")


def refuse_owned(session: Session, benchmark: Benchmark, before: Manifest, after: Manifest) -> None:
    """Refuse a manifest that newly names a reference which somebody owns who is no steward, nor was given the name.

    Raises Conflict.
    """
    known = References.of(before).names
    named_now = References.of(after).names - known
    if not named_now:
        return
    query = select(Entrant, Token).join(Token, Token.id == Entrant.owner_id).where(_was_not_moved())
    owned = session.execute(query.where(Entrant.benchmark_id == benchmark.id, is_named(named_now)))
    strangers = [row for row in owned.all() if not roles.decides(session, benchmark.id, row[1].id)]
    if strangers:
        why = "The manifest has others scored relative to an entrant that belongs to no steward:"
        what = "Move it to a steward first, or to a steward and back to whom it shall belong."
        said = first_few(strangers, SHOWN, lambda row: f"{row[0].name} of {row[1].name}", "; ")
        recorded = first_few(strangers, SHOWN, lambda row: f"{row[0].name} of token {row[1].id}", "; ")
        raise Conflict(f"{why} {said}. {what}", recorded=f"{why} {recorded}. {what}")


def _own(session: Session, benchmark_id: int, references: References, meant: Iterable[str], token_id: int) -> set[str]:
    """Return the names that a token may use: references that were moved to it, and what looks like one and is its."""
    query = select(Entrant.name, _was_not_moved().label("is_taken"))
    query = query.where(Entrant.benchmark_id == benchmark_id, Entrant.owner_id == token_id)
    rows = session.execute(query.where(is_named(meant)))
    return {row.name for row in rows if row.name not in references.names or not row.is_taken}


def _was_not_moved() -> ColumnElement[bool]:
    """Say whether the owner of an entrant was the first to submit it, and no steward moved it to them."""
    moved = select(EntrantTransfer.id).where(EntrantTransfer.entrant_id == Entrant.id)
    return ~moved.where(EntrantTransfer.to_id == Entrant.owner_id).correlate(Entrant).exists()


def _in_words(name: str, reference: str) -> str:
    alike = "" if name == reference else f"looks like {reference}, which "
    return f"{clip_for_message(name)} {alike}is a reference entrant"
