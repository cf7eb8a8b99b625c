"""Reference entrants, which a manifest has others scored relative to: their names belong to the benchmark's stewards.
A steward names somebody else by moving the name to them, which works before there is any evidence as well.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from app.admission.forensics import skeleton
from app.admission.rules import reference_boards
from app.db.models import Benchmark, Entrant, EntrantTransfer, ManifestVersion, Token
from app.errors import Conflict
from app.kinds.parse import parse_manifest
from app.manifest.model import Manifest
from app.names import clip_for_message, first_few, name_key
from app.rights import roles
from app.store.benchmark_rows import refuse_respelled
from app.store.sql import one_of

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


def current(session: Session, benchmark: Benchmark) -> References:
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
    keys = {name_key(name) for name in References.of(after).names - known}
    if not keys:
        return
    query = select(Entrant, Token).join(Token, Token.id == Entrant.owner_id).where(_was_not_moved())
    owned = session.execute(query.where(Entrant.benchmark_id == benchmark.id, one_of(Entrant.name_key, keys)))
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
    keys = {name_key(name) for name in meant}
    query = query.where(Entrant.benchmark_id == benchmark_id, Entrant.owner_id == token_id)
    rows = session.execute(query.where(one_of(Entrant.name_key, keys)))
    return {row.name for row in rows if row.name not in references.names or not row.is_taken}


def _was_not_moved() -> ColumnElement[bool]:
    """Say whether the owner of an entrant was the first to submit it, and no steward moved it to them."""
    moved = select(EntrantTransfer.id).where(EntrantTransfer.entrant_id == Entrant.id)
    return ~moved.where(EntrantTransfer.to_id == Entrant.owner_id).correlate(Entrant).exists()


def _in_words(name: str, reference: str) -> str:
    alike = "" if name == reference else f"looks like {reference}, which "
    return f"{clip_for_message(name)} {alike}is a reference entrant"
