"""A reference entrant is the stewards' from the manifest on: nobody else takes its name, or one that looks like it."""

from typing import Any

import pytest

from app.kinds.parse import parse_manifest
from app.store import benchmarks, entrants
from tests.cases.walkthrough import BASE, GOOD, MANIFEST, PREREG, give
from tests.fixtures import Site

OPEN = MANIFEST.replace("prereg: required", "prereg: optional")
UNNAMED = OPEN.replace("  - {name: skill, method: skill_score, metric: MASE, baseline: Base, missing: impute}\n", "")
ZERO = "model,task,MASE\n{0},t1,0\n{0},t2,0\n{0},t3,0\n"


def declare(site: Site, manifest: str = OPEN) -> None:
    """Make the benchmark as its steward."""
    assert site.http.post("/benchmarks", content=manifest, headers=site.auth("steward")).status_code == 201


def send(site: Site, rows: bytes | str, who: str = "bob", query: str = "") -> Any:
    """Submit a file without a registration."""
    files = {"files": ("r.csv", rows)}
    return site.http.post(f"/benchmarks/tiny/submissions{query}", files=files, headers=site.auth(who))


def register(site: Site, entrant: str, who: str = "bob") -> Any:
    """Register an entrant for the benchmark."""
    return site.http.post("/preregs", content=PREREG + f"entrants: [{entrant}]\n".encode(), headers=site.auth(who))


def test_a_stranger_takes_no_name_of_a_reference(site: Site) -> None:
    """Neither dry, nor in earnest, nor by a registration, in whatever spelling; nothing is stored of it.

    The refusal names the stewards, and the address by which they give the name.
    """
    declare(site)
    for name in ("Base", "base", "B\u0430se", "\uff22ase", "Base."):
        refused = [send(site, ZERO.format(name), query="?dry_run=true"), send(site, ZERO.format(name)),
                   register(site, name)]  # fmt: skip
        assert [answer.status_code for answer in refused] == [409, 409, 409], name
        for word in ("a reference entrant", "belongs to the stewards of tiny (steward)", "entrants/NAME/owner"):
            assert word in refused[1].json()["detail"]
    first = send(site, BASE, "steward")

    assert (first.status_code, first.json()["id"]) == (202, 1)


def test_whom_a_steward_names_submits_the_reference(site: Site) -> None:
    """Before there is any evidence; other entrants are anybody's as ever."""
    declare(site)
    give(site, "tiny", "Base", "bob")

    assert (send(site, BASE).status_code, send(site, GOOD, "alice").status_code) == (202, 202)
    assert send(site, BASE, "alice").status_code == 409


def test_a_registration_from_before_the_benchmark_keeps_no_reference_from_stewards(site: Site) -> None:
    """Anybody may register for a benchmark that is yet to be made."""
    assert register(site, "Base").status_code == 201
    declare(site)

    assert (send(site, BASE).status_code, send(site, BASE, "steward").status_code) == (409, 202)


def test_a_manifest_makes_no_strangers_entrant_a_reference(site: Site) -> None:
    """It is refused with whose it is; once a steward has moved the name, with or without a way back, it counts."""
    declare(site, UNNAMED)
    assert send(site, BASE).status_code == 202
    put = [site.http.put("/benchmarks/tiny", content=OPEN, headers=site.auth("steward"))]
    for to in ("steward", "bob"):
        give(site, "tiny", "Base", to)
    put.append(site.http.put("/benchmarks/tiny", content=OPEN, headers=site.auth("steward")))

    assert [answer.status_code for answer in put] == [409, 200]
    assert "Base of bob. Move it to a steward first" in put[0].json()["detail"]
    assert send(site, BASE.replace(b"1.0", b"1.5")).status_code == 202


def test_who_owned_a_name_that_looks_like_a_new_reference_goes_on(site: Site) -> None:
    """It is another entrant, and was there first."""
    declare(site, UNNAMED)
    statuses = [
        send(site, ZERO.format("Base.")).status_code,
        site.http.put("/benchmarks/tiny", content=OPEN, headers=site.auth("steward")).status_code,
        send(site, ZERO.format("Base.").replace(",0", ",1")).status_code,
    ]

    assert statuses == [202, 200, 202]


def test_a_manifest_that_comes_between_check_and_storing_lets_no_stranger_in(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The submission, checked when nobody was scored relative to its entrant, is refused and stored nowhere."""
    declare(site, UNNAMED)
    steward = site.http.get("/whoami", headers=site.auth("steward")).json()["id"]
    set_first_owner = entrants.set_first_owner

    def set_late(*arguments: Any) -> None:
        with site.sessions.begin() as other:
            benchmarks.update_benchmark(other, "tiny", parse_manifest(OPEN.encode()), OPEN.encode(), steward)
        set_first_owner(*arguments)

    with monkeypatch.context() as late:
        late.setattr(entrants, "set_first_owner", set_late)
        refused = send(site, BASE)

    assert (refused.status_code, "the name belongs to the stewards of tiny" in refused.text) == (409, True)
    assert send(site, BASE, "steward").json()["id"] == 2
    assert site.http.get("/submissions/1.json").status_code == 404
