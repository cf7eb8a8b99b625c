"""A commented manifest of a benchmark that a table of results could be evidence of.

Called by `plumbline benchmark init`. What the table does not say is asked, or stays as TODO, which no check passes.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from app.cli.drafting.metrics import MetricGuess, guess_metric
from app.cli.drafting.roles import Roles, guess_roles
from app.cli.drafting.sheet import Sheet
from app.cli.drafting.words import LONG_NAME, LONG_VALUE, plain
from app.cli.drafting.writers import writer_of
from app.cli.drafting.written import such_as
from app.errors import EvidenceRejected, Problem
from app.manifest.written import SCHEMA, TODO
from app.names import SLUG_PATTERN

Ask = Callable[[str, Sequence[str]], str | None]
"""Asks a question with its possible answers; None where nobody can answer."""

NO_COLUMN = "(none)"


@dataclass(frozen=True)
class Wishes:
    """What the person drafting has stated already: columns by role, and the direction of metrics by their columns.

    `schema` is the address at which a server of theirs serves the schema, for their editor.
    """

    slug: str | None = None
    title: str | None = None
    roles: Roles = field(default_factory=Roles)
    directions: Mapping[str, str] | None = None
    schema: str = SCHEMA


@dataclass(frozen=True)
class Draft:
    """A manifest as text, what it takes columns to be, and how many answers are missing."""

    text: str
    roles: Roles
    n_missing: int


def draft_manifest(sheet: Sheet, stem: str, wishes: Wishes, ask: Ask) -> Draft:
    """Return the manifest of a sheet. Raises EvidenceRejected for a table that no kind of evidence is."""
    _refuse_long_form(sheet)
    roles = _asked(sheet, guess_roles(sheet, _given(sheet, wishes)), ask)
    if not roles.metrics:
        listed = ", ".join(list(sheet.columns)[:20])
        problem = Problem(f"no column holds numbers that could be a metric; the file has {listed}", column="metrics")
        raise EvidenceRejected("No metric to rank by.", [problem])
    metrics = _metrics(sheet, roles, wishes, ask)
    writer = writer_of(roles)(sheet, roles, metrics, _slug(wishes, stem), wishes.title or _title(stem), wishes.schema)
    text = "\n".join([*writer.lines(), ""])
    n_missing = sum(TODO in line.partition("#")[0] for line in text.splitlines())
    return Draft(text, roles, n_missing)


def _given(sheet: Sheet, wishes: Wishes) -> Roles:
    fixed = {name: value for name, value in sheet.roles.items() if name in Roles.__dataclass_fields__ and value}
    wished = {name: value for name, value in vars(wishes.roles).items() if value}
    unknown = [name for role in wished.values() for name in (role if isinstance(role, tuple) else (role,))
               if name not in sheet.columns]  # fmt: skip
    if unknown:
        listed = ", ".join(list(sheet.columns)[:20])
        problems = [Problem(f"no column of this name; the file has {listed}", column=name) for name in unknown]
        raise EvidenceRejected("The file lacks a column that you named.", problems)
    return Roles(**{**fixed, **wished})


def _refuse_long_form(sheet: Sheet) -> None:
    names = {plain(name): name for name in sheet.columns}
    name = next((names[each] for each in names if each in LONG_NAME), None)
    value = next((names[each] for each in names if each in LONG_VALUE), None)
    if name is not None and value is not None and sheet.columns[name].numbers is None:
        message = (
            f"a row holds one metric ({such_as(sheet.columns[name].words)}), and its value is in {value}; plumbline "
            "reads a column for each metric: pivot the table, in pandas "
            f"df.pivot_table(index=…, columns='{name}', values='{value}')"
        )
        raise EvidenceRejected("The table is in the long form.", [Problem(message, sheet.files[0], column=name)])


def _asked(sheet: Sheet, roles: Roles, ask: Ask) -> Roles:
    """Return the roles with answers in place of what could not be guessed."""
    names = [name for name in sheet.columns if name not in roles.metrics]
    if roles.entrant is None and "entrant" not in sheet.roles:
        answer = ask("Which column names the entrant (the model, the system)?", [*names, NO_COLUMN])
        roles = _again(sheet, roles, entrant=answer)
    if roles.task is None and "task" not in sheet.roles:
        answer = ask("Which column names the task (the data set, the workload)?", [*names, NO_COLUMN])
        roles = _again(sheet, roles, task=answer)
    if roles.n_repeated:
        question = f"{roles.n_repeated:,} rows repeat {', '.join(roles.names)}. Which column distinguishes them?"
        answer = ask(question, [name for name in sheet.columns if name not in roles.names])
        roles = _again(sheet, roles, item=None if answer is None else (*roles.item, answer))
    return roles


def _again(sheet: Sheet, roles: Roles, **answer: object) -> Roles:
    answers = {name: value for name, value in answer.items() if value is not None and value != NO_COLUMN}
    kept = replace(roles, metrics=(), groups=(), recorded=(), **answers)  # type: ignore[arg-type]
    return guess_roles(sheet, kept) if answers else roles


def _metrics(sheet: Sheet, roles: Roles, wishes: Wishes, ask: Ask) -> list[MetricGuess]:
    guesses: list[MetricGuess] = []
    for name in roles.metrics:
        stated = {**sheet.roles.get("directions", {}), **(wishes.directions or {})}.get(name)
        guess = guess_metric(sheet.columns[name], {each.name for each in guesses}, stated)
        if guess.direction is None:
            low, high = guess.observed
            question = f"Which way is {name} better (it goes from {low:g} to {high:g})?"
            guess = replace(guess, direction=ask(question, ["maximize", "minimize"]))
        guesses.append(guess)
    return guesses


def _slug(wishes: Wishes, stem: str) -> str:
    name = re.sub(r"[^a-z0-9]+", "-", (wishes.slug or stem).lower()).strip("-")[:63].strip("-")
    return name if re.fullmatch(SLUG_PATTERN, name) else "my-benchmark"


def _title(stem: str) -> str:
    return re.sub(r"[_-]+", " ", stem).strip()[:200] or "My benchmark"
