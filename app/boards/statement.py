"""Who leads a board, and who else may be first, in sentences: the one place that words it.

They come from the rows, and these from one matrix of decisions, so that no page, feed, badge or export says more than
a row does. Pages, JSON, feeds and pictures show what stands in a board's `meta.statement`.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from app.boards.calibrated import MIN_DRAWN_UNITS
from app.names import count, first_few, in_words
from app.values.facts import FLAGS
from app.values.table import Cell, Table

NAMED = 4
"""Names that a sentence lists: it stands whole above a board, on a phone, too."""

FEW_UNITS = 5
"""With fewer a test rests on Student's quantile of hardly any degrees of freedom, which the sentence says."""

NUMBERS = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten")

BY_RULE = "by the rule for missing results"

FEW = "few_units"
"""In `meta` of a board: in words of how few units its numbers are, where so few say little about how much they vary."""

PART = "of_part"
"""In `meta` of a board: in words of which part of the items its scores are, where another part decides later."""

UNTESTED = "untested"
"""In `meta` of a board: why no differences are tested, where its method knows."""

Record = Mapping[str, Cell]


def with_statement(table: Table) -> Table:
    """Return a board with its statement in `meta.statement`, a list of sentences; other tables are unchanged.

    >>> from app.values.table import Column
    >>> columns = tuple(Column(name, name) for name in ("rank", "entrant", "may_be_first"))
    >>> rows = ((1, "A", True), (2, "B", True), (3, "C", False))
    >>> board = Table("leaderboard/b", "B", columns, rows, (), {"level": 0.95})
    >>> with_statement(board).meta["statement"]
    ['A leads.', 'One other may be first too: B.', 'The remaining one, C, is ruled out as first, at 95 %.']
    >>> with_statement(Table("leaderboard/b", "B", columns, rows, (), {"of_part": "one half"})).meta["statement"][0]
    'On one half: A leads.'
    """
    if not {"rank", "may_be_first", "entrant"} <= set(table.column_names()):
        return table
    rows = list(table.records())
    ranked = sorted((row for row in rows if row["rank"] is not None), key=lambda row: float(row["rank"] or 0))
    unranked = [row for row in rows if row["rank"] is None]
    said = _statement(ranked, unranked, table.meta, _above_first(table, ranked, unranked))
    if said and PART in table.meta:
        said = [f"On {table.meta[PART]}: {said[0]}", *said[1:]]
    # Who reads the statement alone reads whose board it is, too.
    said += _whose(table.meta) if said else []
    return replace(table, meta={**table.meta, "statement": said})


def beside_choice(meta: Mapping[str, Any]) -> list[str]:
    """Return the sentences of a board where a reader's choice is shown beside them: whose board it is, is said there.

    >>> choice = {"label": "Your selection", "is_made": True}
    >>> beside_choice({"statement": ["A leads.", "Your selection."], "choice": choice})
    ['A leads.']
    """
    said = list(meta.get("statement", ()))
    return said[:-1] if said and said[-1:] == _whose(meta) else said


def _whose(meta: Mapping[str, Any]) -> list[str]:
    choice = meta.get("choice")
    return [f"{choice['label']}."] if isinstance(choice, Mapping) and choice.get("is_made") else []


def _above_first(table: Table, ranked: Sequence[Record], unranked: Sequence[Record]) -> list[str]:
    """Say who lacks nothing but a rank, being shown for comparison, and has a better score than the first."""
    score = next((column for column in table.columns if column.name == table.meta.get("rank_by")), None)
    if not ranked or score is None or score.direction is None:
        return []
    way = 1.0 if score.direction == "maximize" else -1.0

    def points(row: Record) -> float:
        value = row.get(score.name)
        return way * value if isinstance(value, int | float) else -math.inf

    above = [row for row in unranked if row.get("unranked_because") is None and points(row) > points(ranked[0])]
    return [f"{_named(above)} {'has' if len(above) == 1 else 'have'} a better score, but no rank."] if above else []


def _statement(
    ranked: Sequence[Record], unranked: Sequence[Record], meta: Mapping[str, Any], above_first: Sequence[str]
) -> list[str]:
    """Return the sentences on the ranked rows, best first, and on who has no rank; none where nobody is ranked."""
    if meta.get("provisional"):
        return ["Provisional.", "Nobody has declared what an entrant is asked for, so nobody is said to be first."]
    if len(ranked) == 1:
        alone = f"{_named(ranked)} alone has a rank here, so there is nobody to compare it with."
        return [alone, *above_first]
    first = [row for row in ranked if row["may_be_first"]]
    if not first:
        return [*_untested(ranked, meta), *above_first]
    leading, others = ([row for row in first if (row["rank"] == 1) == leads] for leads in (True, False))
    lacking = [row for row in ranked if row["rank"] == 1 and row["may_be_first"] is False]
    unsure = [row for row in ranked if row["rank"] == 1 and row["may_be_first"] is None]
    stability = meta.get("stability")
    said = [_lacking(lacking)] if lacking else []
    if unsure:
        have = "has" if len(unsure) == 1 else "have"
        said.append(f"{_named(unsure)} {have} the best score; how sure that is, is not known.")
    if leading:
        by_tie_break = [row for row in ranked if row["rank"] != 1 and _has_same_score(row, leading[0], meta)]
        how = f", ahead of {_named(by_tie_break)} with the same score by the tie-break" if by_tie_break else ""
        said.append(f"{_named(leading)} {f'leads{how}' if len(leading) == 1 else 'lead with the same score'}.")
    if len(leading) + len(unsure) == 1 and isinstance(stability, Mapping):
        said.append(f"It {stability['clause']}.")
    if others:
        whom = f"other{'' if len(others) == 1 else 's'} may be first too" if leading else "may be first"
        # Where not all are named, who is flagged may be among the rest: how many are is said before the names.
        n_flagged = sum(bool(row.get("flags")) for row in others) if len(others) > NAMED else 0
        whom += f" ({_number(n_flagged).lower()} flagged)" if n_flagged else ""
        said.append(f"{_number(len(others))} {whom}: {_named(others)}.")
    if surely_first := [row for row in unranked if row.get("rank_if_worst") == 1]:
        have, their = ("has", "its") if len(surely_first) == 1 else ("have", "their")
        said.append(f"{_named(surely_first)} {have} no rank, and would lead whatever {their} missing results were.")
    said += above_first
    n_unsaid = len(unranked) + sum(row["may_be_first"] is None for row in ranked) - len(unsure)
    said += [_rest(ranked, n_unsaid, meta), *_alike(meta)]
    flagged = [row for row in (*lacking, *unsure, *first) if row.get("flags")]
    return [*said, _flagged(flagged)] if flagged else said


def _untested(ranked: Sequence[Record], meta: Mapping[str, Any]) -> Iterator[str]:
    """Yield who has the best score where nothing is tested, and why it is not."""
    if best := [row for row in ranked if row["rank"] == 1]:
        yield f"{_named(best)} {'has' if len(best) == 1 else 'have'} the best score."
        yield f"No differences are tested: {_why_untested(meta)}."


def _why_untested(meta: Mapping[str, Any]) -> str:
    if meta.get("interval_reason") == "not_asked_for":
        return "the board draws no resamples"
    units, n_units, n_effective = _units(meta)
    if n_effective < MIN_DRAWN_UNITS:
        return f"{units} {'is' if n_units == 1 else 'of unequal size are'} too few to tell a difference from chance"
    return str(meta.get(UNTESTED, "how far the score of an entrant may be off by chance is not known"))


def _units(meta: Mapping[str, Any]) -> tuple[str, int, float]:
    """Return the units of a board in words, how many they are and what they are worth; infinite where unknown."""
    depends = meta.get("dependence")
    if not isinstance(depends, Mapping) or "n_effective" not in depends:
        return "", 0, math.inf
    n_units = int(depends["n_units"])
    units = count(n_units, "family") + " of tasks" if depends.get("unit") == "family" else count(n_units, "task")
    return units, n_units, float(depends["n_effective"])


def _has_same_score(row: Record, first: Record, meta: Mapping[str, Any]) -> bool:
    score = row.get(str(meta.get("rank_by")))
    return score is not None and score == first.get(str(meta.get("rank_by")))


def _rest(ranked: Sequence[Record], n_unsaid: int, meta: Mapping[str, Any]) -> str:
    """Say that none of the rest may be first, and of how many that is not known; or that nobody is worse."""
    level = meta.get("level")
    surely = f", at {100 * level:g} %" if isinstance(level, float) else ""
    surely += " over all snapshots" if surely and meta.get("over_snapshots") else ""
    units, n_units, n_effective = _units(meta)
    unequal = " of unequal size" if n_units >= FEW_UNITS else ""
    few = f"{units}{unequal}" if n_effective < FEW_UNITS else meta.get(FEW)
    surely += f", from {few} alone" if surely and few else ""
    unsaid = f"; {n_unsaid:,} {'has' if n_unsaid == 1 else 'have'} none" if n_unsaid else ""
    of_whom = " with a rank interval" if unsaid else ""
    rest = [row for row in ranked if row["may_be_first"] is False]
    n_by_rule = sum("first_p" in row and row["first_p"] is None for row in rest)
    n_rest = len(rest)
    n_compared = sum(row["may_be_first"] is not None for row in ranked)
    lows = [row.get("rank_high", n_compared) for row in ranked if row["may_be_first"]]
    # Who is ruled out by the rule may be shown to be worse, too: then the rank of the first does not reach so far down.
    if n_rest == n_by_rule and all(low == n_compared for low in lows):
        ruled = f"; {n_rest:,} {'is' if n_rest == 1 else 'are'} ruled out {BY_RULE}" if n_rest else ""
        power = meta.get("power")
        if isinstance(power, Mapping) and power.get("possible") is False:
            whatever = f", whatever the results{f' of {units}' if units and n_effective >= FEW_UNITS else ''}"
            return f"Nobody{of_whom} could be shown to be worse than the first{surely}{whatever}{ruled}{unsaid}."
        return f"Nobody{of_whom} is shown to be worse than the first{surely}{ruled}{unsaid}."
    whom = f"All others{of_whom} are"
    if n_rest == 1:
        # Those who may be first too were just called others.
        which = "only other" if len(ranked) == 2 else "remaining"
        whom = f"The {which} one{of_whom}, {_named(rest)}, is"
    if n_rest == n_by_rule:
        surely = f" {BY_RULE}"
    elif n_by_rule:
        surely = f": {n_rest - n_by_rule:,}{surely.removeprefix(',')}, {n_by_rule:,} {BY_RULE}"
    return f"{whom} ruled out as first{surely}{unsaid}."


def _alike(meta: Mapping[str, Any]) -> Iterator[str]:
    """Yield who is as good as the first, for all that matters, where the manifest says which difference does.

    Some of these may be shown to be worse, though by too little to matter.
    """
    if isinstance(found := meta.get("equivalence"), Mapping):
        alike, worse = found["to_first"], found.get("worse_by_less", ())
        least = f"{float(found['smallest_difference']):g}"
        if alike or not worse:
            yield f"{_who_are(alike)} shown to be within {least} of the first, too little to matter here."
        if worse:
            by_less = f"but by less than {least}, too little to matter here"
            yield f"{_who_are(worse)} shown to be worse than the first, {by_less}."


def _who_are(names: Sequence[str]) -> str:
    return f"{first_few(names, NAMED, in_words)} {'is' if len(names) == 1 else 'are'}" if names else "Nobody is"


def _number(n: int) -> str:
    return NUMBERS[n] if n < len(NUMBERS) else f"{n:,}"


def _named(rows: Sequence[Record]) -> str:
    return first_few(rows, NAMED, lambda row: in_words(str(row["entrant"])))


def _lacking(rows: Sequence[Record]) -> str:
    shown = first_few(rows, NAMED, _with_gaps)
    return f"First by the rule for missing results, but not if each of these were the worst possible: {shown}."


def _with_gaps(row: Record) -> str:
    worst = row.get("rank_if_worst")
    facts = [f"{row['covered']} included"] if row.get("covered") else []
    facts += [f"then rank {worst:,}"] if isinstance(worst, int) else []
    return in_words(str(row["entrant"])) + (f" ({', '.join(facts)})" if facts else "")


def _flagged(rows: Sequence[Record]) -> str:
    """Say who is flagged for what, those of whom the same is said together."""
    by_words: dict[str, list[str]] = {}
    for row in rows:
        by_words.setdefault(flags_in_words(str(row["flags"])), []).append(in_words(str(row["entrant"])))
    alike = [f"{first_few(names, NAMED)} ({words})" for words, names in by_words.items()]
    return f"Flagged: {first_few(alike, NAMED, between='; ')}."


def flags_in_words(flags: str) -> str:
    """Return what the flags of a row mean, as part of a sentence.

    >>> flags_in_words("same_rows")
    'rows with the same digits under two entrants'
    """
    words = [FLAGS.get(flag, flag) for flag in flags.split()]
    return "; ".join(text[0].lower() + text[1:] for text in words)
