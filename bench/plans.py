"""The plans of the hot queries of many benchmarks: `python -m bench.plans [benchmarks] [submissions each]`.

One benchmark is made as users make it; the database then copies its rows under new numbers. What is explained are the
very statements of the program, caught while it does what it does. Fails where one of them reads a large table whole.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, event, text
from sqlalchemy.orm import Session

from app.config import Settings
from app.db.embedded import running_server as embedded_server
from app.db.migrate import upgrade
from app.jobs.refresh import sweep
from app.store import current
from app.store.publication import read_inputs, read_provenance
from tests.cases.running_server import fresh_data_dir
from tests.cases.walkthrough import BASE, GOOD, declare, send
from tests.fixtures import Site, open_site

N_BENCHMARKS, N_SUBMISSIONS = 10_000, 1_000
LARGE = 5_000
"""A table with fewer rows may be read from end to end: there is nothing quicker."""
COUNTED = {"benchmark for the front page"}
"""How many benchmarks there are is a millisecond of ten thousand rows."""


class NoQueue:
    """Asked for work by the sweep, of which there is none to do here."""

    def defer_refresh(self, _session: Session, benchmark_id: int) -> None:
        """Refuse: all is published."""
        raise RuntimeError(f"benchmark {benchmark_id} is behind")


def copy_rows(connection: Connection, table: str, source: str, values: Mapping[str, str]) -> None:
    """Insert copies of one row (`was`) for every row of a source, with other values in some columns."""
    named = "SELECT attname FROM pg_attribute WHERE attrelid = CAST(:t AS regclass) AND attnum > 0 AND NOT attisdropped"
    result = connection.execute(text(f"{named} ORDER BY attnum"), {"t": table})
    columns = [f'"{name}"' for (name,) in result]
    chosen = [values.get(name.strip('"'), f"was.{name}") for name in columns]
    names, cells = ", ".join(columns), ", ".join(chosen)
    statement = f"INSERT INTO {table} ({names}) OVERRIDING SYSTEM VALUE SELECT {cells} FROM {source}"  # noqa: S608
    connection.execute(text(statement))


def fill(engine: Engine, n_benchmarks: int, n_each: int) -> None:
    """Copy the benchmark and one submission of it, with its entrant, entry and event, so many times."""
    b, at = f"generate_series(1001, {1000 + n_benchmarks}) b", f"generate_series(1, {n_each}) n"
    number = f"(b * {n_each}::bigint + n)"
    one = {"benchmark": "id = 1", "manifest_version": "id = 1", "snapshot": "id = 1",
           "submission": "id = 2", "entrant": "name = 'Good'", "entry": "submission_id = 2",
           "submission_event": "submission_id = 2 AND status = 'published'"}  # fmt: skip
    was = {name: f"(SELECT * FROM {name} WHERE {where} LIMIT 1)" for name, where in one.items()}  # noqa: S608
    source = {name: f"{row} was, {b}" for name, row in was.items()}
    each = {name: f"{source[name]}, {at}" for name in ("submission", "entrant", "entry", "submission_event")}
    with engine.begin() as connection:
        # The rows are copies of rows that met every key and trigger.
        connection.execute(text("SET LOCAL session_replication_role = replica"))
        copy_rows(connection, "benchmark", source["benchmark"], {"id": "b", "slug": "'tiny-' || b", "snapshot_id": "b"})
        copy_rows(connection, "manifest_version", source["manifest_version"], {"id": "b", "benchmark_id": "b"})
        copy_rows(connection, "snapshot", source["snapshot"],
                  {"id": "b", "benchmark_id": "b", "manifest_version_id": "b"})  # fmt: skip
        copy_rows(connection, "submission", each["submission"],
                  {"id": number, "benchmark_id": "b", "manifest_version_id": "b",
                   "digest": f"md5({number}::text)"})  # fmt: skip
        name = {"name": "'Good' || n", "name_key": "'good' || n"}
        copy_rows(connection, "entrant", each["entrant"], {"id": number, "benchmark_id": "b", **name})
        copy_rows(connection, "entry", each["entry"], {"submission_id": number, "entrant_id": number})
        copy_rows(connection, "submission_event", each["submission_event"],
                  {"id": number, "submission_id": number})  # fmt: skip
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM ANALYZE"))


@contextmanager
def caught() -> Iterator[list[tuple[str, Any]]]:
    """Yield the statements that any engine sends while the block runs, with their values; an app has its own engine."""
    result: list[tuple[str, Any]] = []

    def note(_c: Any, _cursor: Any, statement: str, values: Any, *_: Any) -> None:
        if statement.lstrip().upper().startswith(("SELECT", "UPDATE", "WITH")):
            result.append((statement, values))

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield result
    finally:
        event.remove(Engine, "before_cursor_execute", note)


@dataclass(frozen=True)
class Plan:
    """How one statement is answered: the nodes of its plan with their tables, and how long it took."""

    statement: str
    nodes: tuple[tuple[str, str], ...]
    ms: float

    def scanned(self) -> list[str]:
        """Return the tables that it reads from end to end."""
        return [table for node, table in self.nodes if node == "Seq Scan"]


def explain(engine: Engine, statement: str, values: Any) -> Plan:
    """Run a statement and roll it back."""
    with engine.connect() as connection:
        [(document,)] = connection.exec_driver_sql(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", values).all()
        connection.rollback()
    plan = document if isinstance(document, list) else json.loads(document)
    return Plan(statement, tuple(_nodes(plan[0]["Plan"])), plan[0]["Execution Time"])


def _nodes(plan: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the nodes that ran: what a choice left out read nothing."""
    if not plan.get("Actual Loops", 1):
        return
    yield plan["Node Type"], plan.get("Index Name") or plan.get("Relation Name", "")
    for below in plan.get("Plans", ()):
        yield from _nodes(below)


def hot(site: Site, benchmark_id: int, n_each: int) -> Mapping[str, Callable[[], object]]:
    """Return what a server does most, by name."""
    slug = f"/benchmarks/tiny-{benchmark_id}"

    def inputs(session: Session) -> None:
        read_provenance(session, read_inputs(session, benchmark_id))

    def within(work: Callable[[Session], object]) -> Callable[[], object]:
        def run() -> object:
            with site.sessions() as session:
                return work(session)

        return run

    def page(address: str) -> Callable[[], object]:
        def read() -> None:
            if (answer := site.http.get(address)).status_code != 200:
                raise RuntimeError(f"{address}: {answer.status_code}")

        return read

    return {
        "sweep": lambda: sweep(site.sessions, NoQueue()),
        "benchmarks that wait": within(lambda s: current.benchmarks_waiting(s, 5.0)),
        "next to evaluate": within(lambda s: current.next_together(s, benchmark_id)),
        "is behind": within(lambda s: current.is_behind(s, benchmark_id)),
        "inputs of a publication": within(inputs),
        "a benchmark's page": page(f"{slug}.json"),
        "a board": page(f"{slug}/leaderboards/skill.json"),
        "its registrations": page(f"{slug}/registrations.json"),
        "its submitters": page(f"{slug}/submitters.json"),
        "its snapshots": page(f"{slug}/snapshots.json"),
        "its tasks": page(f"{slug}/tasks.json"),
        "the front page": page("/"),
        "one submission": page(f"/submissions/{benchmark_id * n_each + 1}.json"),
        "an entrant": page(f"{slug}/entrants/Good1.json"),
    }


def report(n_benchmarks: int = N_BENCHMARKS, n_each: int = N_SUBMISSIONS) -> None:
    """Print the plan of each statement. Raises where one reads a large table from end to end."""
    # Of ten million submissions there is more than a folder in memory holds.
    with fresh_data_dir(on_disk=True) as data_dir, embedded_server(data_dir) as url:
        upgrade(url)
        with open_site(url, Settings()) as site:
            declare(site)
            send(site, BASE, "bob")
            send(site, GOOD)
            site.work()
            # The copies are told to nobody, so there is nothing that a page has to wait for.
            site.http.event_hooks["request"] = []
            engine = site.sessions.kw["bind"]
            began = time.perf_counter()
            fill(engine, n_benchmarks, n_each)
            print(
                f"{n_benchmarks:,} benchmarks of {n_each:,} submissions, made in {time.perf_counter() - began:.0f} s.\n"
            )
            _print(engine, hot(site, 1000 + n_benchmarks // 2, n_each))


def _print(engine: Engine, doings: Mapping[str, Callable[[], object]]) -> None:
    with engine.connect() as connection:
        sizes = dict(connection.execute(text("SELECT relname, reltuples FROM pg_class WHERE relkind = 'r'")).all())
    print("| what | statements | slowest, ms | looked up by | read from end to end |\n|---|---|---|---|---|")
    scanned: set[str] = set()
    for name, work in doings.items():
        with caught() as result:
            work()
        plans = [explain(engine, *each) for each in result]
        used = sorted({table for plan in plans for node, table in plan.nodes if "Index" in node and table})
        whole = sorted({table for plan in plans for table in plan.scanned()})
        scanned |= {f"{table} for {name}" for table in whole if sizes.get(table, 0) > LARGE} - COUNTED
        slowest = max((plan.ms for plan in plans), default=0.0)
        print(f"| {name} | {len(plans)} | {slowest:.1f} | {', '.join(used)} | {', '.join(whole)} |", flush=True)
    if scanned:
        raise RuntimeError(f"large tables are read from end to end: {', '.join(sorted(scanned))}")


if __name__ == "__main__":
    report(*map(int, sys.argv[1:3]))
