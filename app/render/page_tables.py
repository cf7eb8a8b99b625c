"""The tables of the pages that are not themselves one table: what their .csv holds. Called by the web; pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from app.manifest.manifest import Manifest
from app.store.benchmark_list import BenchmarkSummary
from app.values.glossary_entry import Entry
from app.values.table import Column, Table


def benchmarks_table(listed: Sequence[BenchmarkSummary]) -> Table:
    """Return every benchmark with its boards, their names joined by a blank."""
    columns = (
        Column("slug", "Slug", "text"),
        Column("title", "Title", "text"),
        Column("evidence", "Evidence", "text"),
        Column("n_entrants", "Entrants", "integer"),
        Column("n_submissions", "Submissions", "integer"),
        Column("snapshot", "Snapshot", "integer"),
        Column("published_at", "Published", "time"),
        Column("leaderboards", "Leaderboards", "text"),
    )
    rows = tuple(
        (
            b.names.slug,
            b.names.title,
            b.evidence,
            b.n_entrants,
            b.n_submissions,
            b.snapshot_number,
            b.published_at.isoformat() if b.published_at else None,
            " ".join(board["name"] for board in b.names.leaderboards),
        )
        for b in listed
    )
    return Table("benchmarks", "Benchmarks", columns, rows)


def boards_table(manifest: Manifest) -> Table:
    """Return a benchmark's leaderboards as its manifest declares them, metrics joined by a blank."""
    columns = (
        Column("leaderboard", "Leaderboard", "text"),
        Column("title", "Title", "text"),
        Column("method", "Method", "text"),
        Column("metrics", "Metrics", "text"),
        Column("n_tasks", "Tasks", "integer"),
    )
    everything = manifest.task_ids()
    n_all = None if everything is None else len(everything)
    rows = tuple(
        (
            board.name,
            board.title or board.name,
            board.method,
            " ".join(board.metric_names()),
            n_all if board.tasks is None else len(board.tasks),
        )
        for board in manifest.leaderboards
    )
    return Table("leaderboards", f"Leaderboards of {manifest.title}", columns, rows)


def checks_table(described: Mapping[str, Any]) -> Table:
    """Return the checks of a submission as its JSON describes it."""
    names = ("rule", "outcome", "reason")
    columns = tuple(Column(name, name.capitalize(), "text") for name in names)
    rows = tuple(tuple(check[name] for name in names) for check in described["checks"])
    return Table("checks", f"Checks of submission {described['id']}", columns, rows)


def citing_table(described: Mapping[str, Any]) -> Table:
    """Return the submissions that cite a preregistration as its JSON describes it."""
    columns = (
        Column("sha256", "Preregistration", "text"),
        Column("registered_at", "Registered", "time"),
        Column("submission", "Submission", "integer"),
        Column("status", "Status", "text"),
    )
    about = (described["sha256"], described["registered_at"])
    rows = tuple((*about, citing["id"], citing["status"]) for citing in described["submissions"])
    return Table("submissions", "Submissions that cite the preregistration", columns, rows)


def changes_table(slug: str, listed: Sequence[Mapping[str, Any]], between: Mapping[str, Any] | None = None) -> Table:
    """Return one row for each change of each snapshot as the JSON lists them, or for each change between two.

    `was` is the submission before, or of a changed manifest the version before.
    """
    shown_keys = ("kind", "entrant", "board", "submission", "version", "was", "from", "to")
    columns = (
        Column("snapshot", "Snapshot", "integer"),
        Column("published_at", "Published", "time"),
        Column("kind", "Change", "text"),
        Column("entrant", "Entrant", "text"),
        Column("board", "Leaderboard", "text"),
        Column("submission", "Submission", "integer"),
        Column("version", "Version of the manifest", "integer"),
        Column("was", "Before", "integer"),
        Column("from", "Rank before", "integer"),
        Column("to", "Rank", "integer"),
    )
    if between is not None:
        listed = [{**each, "changes": between["changes"]} for each in listed if each["number"] == between["to"]]
    rows = tuple(
        (snapshot["number"], snapshot["published_at"], *(change.get(name) for name in shown_keys))
        for snapshot in listed
        for change in snapshot["changes"]
    )
    return Table("changes", f"Changes of {slug}", columns, rows)


def glossary_table(entries: Sequence[Entry]) -> Table:
    """Return every explained term with its formula and source."""
    names = ("anchor", "term", "text", "formula", "source")
    columns = tuple(Column(name, name.capitalize(), "text") for name in names)
    rows = tuple((e.anchor, e.term, e.text, e.formula, e.source) for e in entries)
    return Table("glossary", "Glossary", columns, rows)
