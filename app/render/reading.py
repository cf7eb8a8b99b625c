"""What a reader must know beside a table's numbers: what is missing, which differences are settled, what words mean.

Called by the pages with the table in their hands; pure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from app.names import first_few, in_words
from app.render.glossary import glossary_entries
from app.render.text import format_number
from app.values.forensics import FLAGS
from app.values.glossary_entry import Entry
from app.values.table import Cell, Column, Table

# In the order in which a row passes through them.
COUNTS = (
    ("n_attempted", "attempted", "coverage"),
    ("n_included", "included", "coverage"),
    ("n_absent", "absent", "coverage"),
    ("n_failed", "without a value", "coverage"),
    ("n_not_asked", "not asked", "coverage"),
    ("num_failures", "failed", "num_failures"),
    ("n_imputed", "imputed", "n_imputed"),
    ("n_leaked", "leaked", "n_leaked"),
)
ALWAYS = ("attempted", "included", "absent")
NAMED = 5
REASONS = ("unranked_because", "label")
"""The columns that say why an entrant has no rank."""


@dataclass(frozen=True)
class Count:
    """One total of a board: `text` results were `word`; `glossary` is the anchor that explains it."""

    text: str
    word: str
    glossary: str


def tally(table: Table) -> list[Count]:
    """Return the totals over a board's rows of what was asked, what became of it, and what was not asked.

    Nothing absent is worth saying; of what else may go wrong only what did is shown.
    """
    names = table.column_names()
    counts = [Count(_total(table, name), word, anchor) for name, word, anchor in COUNTS if name in names]
    return [count for count in counts if count.text != "0" or count.word in ALWAYS]


def _total(table: Table, name: str) -> str:
    at = table.index(name)
    return format_number(sum(cell for row in table.rows if isinstance(cell := row[at], int)), 0)


SIMULTANEOUS = "With all entrants tested simultaneously"


def leader_sentence(table: Table) -> str | None:
    """Say who may be the best by the confidence sets of all ranks at once, and which of these are flagged for what.

    None for a table without such sets.
    """
    if not {"rank", "may_be_first", "entrant"} <= set(table.column_names()):
        return None
    ranked = sorted((r for r in table.records() if r["rank"] is not None), key=lambda r: float(r["rank"] or 0))
    leading = [r for r in ranked if r["rank"] == 1 and r["may_be_first"] is not False]
    ahead = [r for r in ranked if r["rank"] == 1 and r["may_be_first"] is False]
    behind = [r for r in ranked if r["rank"] != 1 and r["may_be_first"]]
    if all(record["may_be_first"] is None for record in ranked):
        return None
    # Who may be first is asked of all at once, an interval of ranks of one entrant alone: the former can be the wider.
    flagged = _flagged([*ahead, *leading, *behind])
    lacking = f"{_lacking(ahead)} " if ahead else ""
    rivals = _named([str(record["entrant"]) for record in behind])
    if not leading:
        return f"{lacking}{SIMULTANEOUS}, these may be first: {rivals}.{flagged}"
    leader = _named([str(record["entrant"]) for record in leading])
    if unsure := [str(record["entrant"]) for record in leading if record["may_be_first"] is None]:
        leader += f" (how sure the score of {_named(unsure)} is, is not known)"
    if not behind:
        others = "No other is ranked" if len(ranked) == 1 else f"{SIMULTANEOUS}, no other may be first"
        return f"{lacking}First: {leader}. {others}.{flagged}"
    return f"{lacking}First: {leader}. {SIMULTANEOUS}, these may be first too: {rivals}.{flagged}"


def _lacking(ahead: Sequence[Mapping[str, Cell]]) -> str:
    """Return the sentence on who has the first rank and may not be first, because something of it is missing."""
    shown = first_few(ahead, NAMED, _with_gaps)
    return f"Ranked first by the rule for what is missing, but not with the worst in each gap: {shown}."


def _with_gaps(row: Mapping[str, Cell]) -> str:
    worst = row.get("rank_if_worst")
    known = [f"{row['covered']} included"] if row.get("covered") else []
    known += [f"then ranked {worst:,}"] if isinstance(worst, int) else []
    return in_words(str(row["entrant"])) + (f" ({', '.join(known)})" if known else "")


def _flagged(records: Sequence[Mapping[str, Cell]]) -> str:
    """Return the sentence of what was noticed about the evidence of some rows; empty where nothing was."""
    seen = [(str(row["entrant"]), str(flags)) for row in records if (flags := row.get("flags"))]
    shown = first_few(seen, NAMED, lambda each: f"{in_words(each[0])} ({_flags_in_words(each[1])})")
    return f" Flagged: {shown}." if seen else ""


def _flags_in_words(flags: str) -> str:
    words = [FLAGS.get(flag, flag) for flag in flags.split()]
    return "; ".join(text[0].lower() + text[1:] for text in words)


def _named(names: Sequence[str]) -> str:
    return first_few(names, NAMED, in_words)


def tier_starts(table: Table, rows: Sequence[Sequence[Cell]]) -> frozenset[int]:
    """Return the rows before which a group ends: all above are separable from all below.

    Empty unless the rows are in the order of their ranks: between rows sorted otherwise a line means nothing.
    """
    if not {"rank", "group"} <= set(table.column_names()):
        return frozenset()
    at = [table.index(name) for name in ("rank", "group")]
    start = first_unranked(table, rows)
    ranked = rows if start is None else rows[:start]
    places = [[cell for i in at if isinstance(cell := row[i], int)] for row in ranked]
    if any(len(place) < len(at) for place in places) or places != sorted(places, key=lambda place: place[0]):
        return frozenset()
    return frozenset(at for at in range(1, len(places)) if places[at][1] != places[at - 1][1])


@dataclass(frozen=True)
class Apart:
    """The heading over the rows without a rank: before which row it is, its words, and the columns it replaces."""

    start: int
    words: str
    shown_elsewhere: tuple[str, ...]


def first_unranked(table: Table, rows: Sequence[Sequence[Cell]]) -> int | None:
    """Return the first of the rows without a rank; None where there are none, or where ranked ones follow."""
    if "rank" not in table.column_names():
        return None
    at = table.index("rank")
    without = [row[at] is None for row in rows]
    start = without.index(True) if True in without else len(rows)
    return start if start < len(rows) and all(without[start:]) else None


def apart(table: Table, rows: Sequence[Sequence[Cell]]) -> Apart | None:
    """Return the heading over a board's rows without a rank; None where they are not together at its end.

    Where one word says of all of them why, it is in the heading instead of in a column.
    """
    start, names = first_unranked(table, rows), table.column_names()
    if start is None or "entrant" not in names:
        return None
    count = f"{len(rows) - start:,} entrant{'' if len(rows) - start == 1 else 's'}"
    for name in filter(names.__contains__, REASONS):
        reasons = {row[table.index(name)] for row in rows[start:]}
        others = {row[table.index(name)] for row in rows[:start]}
        if len(reasons) == 1 and None not in reasons and others <= {None}:
            return Apart(start, f"Without a rank ({reasons.pop()}): {count}", (name,))
    return Apart(start, f"Without a rank: {count}", ())


def legend(columns: Sequence[Column], table: Table | None = None) -> list[tuple[str, Entry]]:
    """Return the titles of the columns with the glossary entry that explains them, each entry once.

    Of the flags those are explained that are raised in the rows of the table.
    """
    known = {entry.anchor: entry for entry in glossary_entries()}
    titles: dict[str, str] = {}
    for column in columns:
        if column.glossary in known:
            titles.setdefault(column.glossary or "", column.title)
    return [(title, _as_raised(known[anchor], table)) for anchor, title in titles.items()]


def _as_raised(entry: Entry, table: Table | None) -> Entry:
    if entry.anchor != "flags" or table is None or "flags" not in table.column_names():
        return entry
    at = table.index("flags")
    raised = {flag for row in table.rows for flag in str(row[at] or "").split()}
    explained = "; ".join(f"{flag}: {_flags_in_words(flag)}" for flag in FLAGS if flag in raised)
    return replace(entry, text=f"What was noticed when the evidence arrived; here {explained}.") if explained else entry
