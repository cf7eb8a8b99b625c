"""What determines a benchmark's grid besides its manifest: uploaded items, registered axes, earlier versions. Items
belong to the version of the manifest under which they were uploaded, and hold for later versions until others are.

Why: docs/adr/006-grids-and-provisional-boards.md.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from sqlalchemy import Row, func, insert, select
from sqlalchemy.orm import Session

from app.db.models import Entrant, ItemSet, ManifestVersion, Submission
from app.errors import Conflict
from app.kinds.parse import parse_manifest
from app.manifest.model import Chosen, GridFacts, Manifest, RequiredGrid
from app.prereg.fields import Prereg
from app.store import benchmark_rows, preregs
from app.store.benchmarks import Declared
from app.store.disclosed import entrants_of_holders
from app.store.labels import ItemsPut, deciding_part, pack_items, ranks_label_holders, unpack_items
from app.store.sql import one_of


def put_items(
    session: Session, declared: Declared, items: Mapping[str, Sequence[str]], sha256: str, token_id: int
) -> bool:
    """Store the items of the newest version's grid; say whether they are new.

    Raises Conflict where the manifest asks for no file, and where other items hold for what was admitted already.
    """
    benchmark_id, version_id = declared.benchmark.id, declared.version.id
    benchmark_rows.lock_benchmark(session, benchmark_id)
    if declared.manifest.grid is None or not declared.manifest.grid.has_file:
        raise Conflict(f"The manifest of {declared.manifest.slug} asks for no items: it needs grid.items: file.")
    known = describe_items(session, declared)
    if known and {put.sha256 for put in known} == {sha256}:
        return False
    own = _version_with_items(session, benchmark_id, version_id) == version_id
    if own or (known and _is_in_use(session, version_id)):
        raise Conflict(
            f"{declared.manifest.slug} has other items already under version {declared.version.version} of its "
            "manifest, and what is asked of a submission does not change. Add a version, then put the items."
        )
    for task, names in items.items():
        row = {"manifest_version_id": version_id, "task": task, "n_items": len(names), "sha256": sha256}
        session.execute(insert(ItemSet).values({**row, "items": pack_items(names), "put_by": token_id}))
    benchmark_rows.mark_data_changed(session, benchmark_id)
    return True


def _is_in_use(session: Session, version_id: int) -> bool:
    query = select(Submission.id).where(Submission.manifest_version_id == version_id).limit(1)
    return session.scalar(query) is not None


def describe_items(session: Session, declared: Declared) -> list[ItemsPut]:
    """Return what is known of the items that hold for a version of the manifest, by task; one without a name: all."""
    version = _version_with_items(session, declared.benchmark.id, declared.version.id)
    query = select(ItemSet.task, ItemSet.n_items, ItemSet.sha256, ItemSet.put_at)
    rows = session.execute(query.where(ItemSet.manifest_version_id == version).order_by(ItemSet.task))
    return [ItemsPut(*row) for row in rows]


def _version_with_items(session: Session, benchmark_id: int, version_id: int) -> int | None:
    """Return the newest version, up to the given one, under which items were put."""
    query = select(func.max(ItemSet.manifest_version_id)).join(ManifestVersion)
    return session.scalar(query.where(ManifestVersion.benchmark_id == benchmark_id, ManifestVersion.id <= version_id))


def with_items(session: Session, declared: Declared) -> Manifest:
    """Return the manifest with the items that were put for it."""
    return declared.manifest.with_grid_facts(_facts(session, declared))


def _facts(session: Session, declared: Declared) -> GridFacts:
    return replace(_items(session, declared), part=deciding_part(session, declared))


def _items(session: Session, declared: Declared) -> GridFacts:
    if declared.manifest.grid is None or not declared.manifest.grid.has_file:
        return GridFacts()
    version = _version_with_items(session, declared.benchmark.id, declared.version.id)
    query = select(ItemSet.task, ItemSet.items, ItemSet.sha256)
    rows = session.execute(query.where(ItemSet.manifest_version_id == version).order_by(ItemSet.task)).all()
    if not rows:
        return GridFacts()
    return GridFacts({task: unpack_items(items) for task, items, _ in rows}, rows[0].sha256)


def chosen_by(manifest: Manifest, prereg: Prereg | None) -> Chosen:
    """Return the values that a registration names for the axes it may choose."""
    free = () if manifest.grid is None else manifest.grid.registration_may_choose
    named = {axis: getattr(prereg, axis, None) for axis in free}
    return {axis: tuple(values) for axis, values in named.items() if values}


def with_grids(session: Session, declared: Declared, stood: Mapping[str, Sequence[int]]) -> Manifest:
    """Return the manifest with its items and each entrant's registered axes, earlier grids and owner, and who is a
    reference. `stood` are the submissions that are the evidence of entrants.
    """
    numbers = {number for own in stood.values() for number in own}
    query = select(Submission.id, Submission.manifest_version_id, Submission.prereg_sha256)
    known = {each.id: each for each in session.execute(query.where(one_of(Submission.id, numbers)))}
    of = {name: [known[number] for number in numbers] for name, numbers in stood.items()}
    facts = _facts(session, declared)
    earlier = _EarlierGrids(session, declared, declared.manifest.with_grid_facts(facts).asked)
    owners, arrivals = _owners(session, declared.benchmark.id, stood)
    filled = replace(
        facts,
        chosen={name: axes for name, admitted in of.items() if (axes := _chosen(session, declared.manifest, admitted))},
        earlier={name: grids for name, admitted in of.items() if (grids := earlier.of(admitted))},
        owners=owners,
        arrivals=arrivals,
        label_holders=entrants_of_holders(session, declared, stood),
        ranks_label_holders=ranks_label_holders(declared.manifest),
    )
    return declared.manifest.with_grid_facts(filled)


def _owners(session: Session, benchmark_id: int, names: Iterable[str]) -> tuple[dict[str, str], dict[str, int]]:
    """Return the owners of some entrants, and number them by which of them sent an entrant first; nobody's are each
    its own.
    """
    query = select(Entrant.name, Entrant.owner_id).where(Entrant.benchmark_id == benchmark_id)
    owner_of = dict(session.execute(query.where(one_of(Entrant.name, names)).order_by(Entrant.id)).all())
    number: dict[object, int] = {}
    arrivals = {
        name: number.setdefault(name if owner is None else owner, len(number)) for name, owner in owner_of.items()
    }
    return {name: str(owner) for name, owner in owner_of.items() if owner is not None}, arrivals


Admitted = Row[int, int, str | None]
"""A submission: its number, the version of the manifest under which it was admitted, and its registration."""


def _chosen(session: Session, manifest: Manifest, admitted: Sequence[Admitted]) -> Chosen:
    if manifest.grid is None or not manifest.grid.registration_may_choose:
        return {}
    axes: dict[str, tuple[object, ...]] = {}
    cited = dict.fromkeys(each.prereg_sha256 for each in admitted if each.prereg_sha256 is not None)
    parsed = preregs.load_parsed(session, cited)
    for sha256 in cited:
        for axis, values in chosen_by(manifest, parsed[sha256]).items():
            axes[axis] = tuple(dict.fromkeys([*axes.get(axis, ()), *values]))
    return axes


class _EarlierGrids:
    """The grids of earlier versions of a manifest, each read once."""

    def __init__(self, session: Session, declared: Declared, now: RequiredGrid) -> None:
        self._session = session
        self._declared = declared
        self._now = now
        self._known: dict[int, RequiredGrid] = {}

    def of(self, admitted: Sequence[Admitted]) -> tuple[RequiredGrid, ...]:
        """Return the grids under which an entrant was admitted, oldest first; none where today's asks the same."""
        versions = dict.fromkeys(each.manifest_version_id for each in admitted)
        if self._declared.version.id in versions:
            return ()
        before = [self._under(version) for version in sorted(versions)]
        return () if any(_asks_as_much(asked, self._now) for asked in before) else tuple(before)

    def _under(self, version_id: int) -> RequiredGrid:
        if version_id not in self._known:
            stored = self._session.get_one(ManifestVersion, version_id)
            older = Declared(self._declared.benchmark, stored, parse_manifest(stored.yaml))
            asked = older.manifest.with_grid_facts(_facts(self._session, older)).asked
            self._known[version_id] = replace(asked, metrics=self._same_metrics(older.manifest))
        return self._known[version_id]

    def _same_metrics(self, older: Manifest) -> tuple[str, ...]:
        """Return the metrics of an older manifest that are what they are called today: its stored scores are not."""
        today = self._declared.manifest.metrics
        return tuple(
            name for name, metric in older.metrics.items() if name in today and metric.is_read_like(today[name])
        )


def _asks_as_much(before: RequiredGrid, now: RequiredGrid) -> bool:
    same = (before.grid, before.tasks, before.facts.digest) == (now.grid, now.tasks, now.facts.digest)
    return same and set(now.metrics) <= set(before.metrics)
