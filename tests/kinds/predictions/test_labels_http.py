"""Labels over HTTP: put once by a steward, and given to nobody by any route."""

import logging
import re

import pytest

from tests.cases.labels import create
from tests.cases.predictions import BINARY, COLOURS, yaml
from tests.cases.stored_predictions import submit
from tests.fixtures import Site, SiteAfter

LABELS = "item,label\na,no\nb,yes\nc,yes\n"
GUESSES = "item,prediction\na,0.125\nb,0.75\nc,0.5\n"


def put(site: Site, content: str | bytes = LABELS, who: str | None = "steward", name: str = "labels.csv") -> dict:  # type: ignore[type-arg]
    """Put labels and return the answer with its HTTP status and headers."""
    headers = {} if who is None else site.auth(who)
    answer = site.http.put("/benchmarks/guess/labels", files={"file": (name, content)}, headers=headers)
    return {"http": answer.status_code, "headers": answer.headers, **answer.json()}


@pytest.fixture
def created(site_after: SiteAfter) -> Site:
    """The benchmark of guesses, made once for all of these."""
    return site_after(create)


def test_a_steward_puts_the_labels_once(created: Site) -> None:
    """201; the same bytes again 200; others 409, and the first ones stay."""
    first, again, other = put(created), put(created), put(created, LABELS.replace("b,yes", "b,no"))

    assert (first["http"], again["http"], other["http"]) == (201, 200, 409)
    assert first["tasks"][0]["n_items"] == 3
    assert again["sha256"] == first["sha256"]
    assert first["headers"]["cache-control"] == "no-store"
    assert "labels already" in other["detail"]


@pytest.mark.parametrize(("who", "status"), [(None, 401), ("alice", 403), ("steward", 201), ("admin", 201)])
def test_only_a_steward_may_put_labels(created: Site, who: str | None, status: int) -> None:
    """Whoever may submit must not choose what is right."""
    assert put(created, who=who)["http"] == status


def test_labels_are_of_a_benchmark_that_has_some(site: Site) -> None:
    """404 for an unknown one, as everywhere; where submitters bring them it takes none."""
    unknown = put(site)["http"]
    create(site, yaml(f"{BINARY}, labels: submitted"))

    assert (unknown, put(site)["http"]) == (404, 409)


def test_public_labels_are_put_and_stay_public(site: Site) -> None:
    """A steward puts them as private ones; another version cannot make a secret of what was none."""
    create(site, yaml(f"{BINARY}, labels: public"))

    assert put(site)["http"] == 201
    secret = site.http.put(
        "/benchmarks/guess", content=yaml(f"{BINARY}, labels: private"), headers=site.auth("steward")
    )
    assert secret.status_code == 409


def test_malformed_labels_are_refused_whole(created: Site) -> None:
    """Every problem with its place and without the label, and a body over the limit; nothing is stored, so nothing is
    scored yet: 409 says who must act.
    """
    answer = put(created, "item,label\na,perhaps\nb,yes,no\nc\u202e,yes\n")
    huge = {"file": ("labels.csv", b"x" * (2 << 20))}
    large = created.http.put("/benchmarks/guess/labels", files=huge, headers=created.auth("steward"))
    early = created.http.post(
        "/benchmarks/guess/submissions", files=[("files", ("p.csv", GUESSES))], headers=created.auth()
    )

    assert answer["http"] == 422
    assert [(p["row"], p["column"]) for p in answer["problems"]] == [(2, "label"), (3, None), (4, "item")]
    assert not any(word in str(answer["problems"]) for word in ("perhaps", "yes"))
    assert large.status_code == 413
    assert early.status_code == 409
    assert "its steward must put them first" in early.json()["detail"]
    assert put(created)["http"] == 201


def test_predictions_may_be_json(created: Site) -> None:
    """The answer counts one row for the entrant and task, and the file's own rows."""
    put(created)
    rows = '[{"item":"a","prediction":0.5},{"item":"b","prediction":[0.5,0.5]},{"item":"c","prediction":1}]'
    answer = created.http.post(
        "/benchmarks/guess/submissions",
        files=[("files", ("p.json", rows))],
        data={"entrant": "A"},
        headers=created.auth(),
    )

    # One scalar and one list in a column contradict each other.
    assert answer.status_code == 422
    answer = created.http.post(
        "/benchmarks/guess/submissions",
        files=[("files", ("p.json", rows.replace("[0.5,0.5]", "0.5")))],
        data={"entrant": "A"},
        headers=created.auth(),
    )
    entrant = {"name": "A", "n_rows": 1, "state": "pending", "tasks": None, "superseded_by": None}
    assert answer.json()["entrants"] == [entrant]
    assert answer.json()["files"][0]["n_rows"] == 3


def test_a_preregistered_metric_of_predictions_counts_as_delivered(created: Site) -> None:
    """Whoever delivers predictions delivers every metric of the benchmark."""
    put(created)
    prereg = b"benchmark: guess\nmetrics: [accuracy]\ntasks: all\n"
    created.http.post("/preregs", content=prereg, headers=created.auth())
    answer = created.http.post(
        "/benchmarks/guess/submissions",
        files=[("files", ("p.csv", GUESSES)), ("prereg", ("prereg.yaml", prereg))],
        data={"entrant": "A"},
        headers=created.auth(),
    ).json()

    assert {c["rule"]: c["outcome"] for c in answer["checks"]}["metrics"] == "passed"
    table = created.http.get(f"/submissions/{answer['id']}/tables/deviations.json").json()
    assert {row["what"]: row["agrees"] for row in table["rows"]}["metrics"] is True


@pytest.mark.parametrize(
    ("changed", "status", "named"),
    [
        (yaml("kind: classification, classes: ['yes', 'no']"), 409, ""),
        (yaml(tasks="[{id: t}, {id: u}]"), 409, "(u)"),
        (yaml(tasks="[{id: u}]"), 409, "(t, u)"),
        (yaml(tasks="[{id: t, title: Task}]"), 200, ""),
    ],
    ids=["classes turned", "a task more", "another task", "another title"],
)
def test_a_manifest_cannot_turn_labels_over_or_ask_for_more(
    created: Site, changed: str, status: int, named: str
) -> None:
    """They were put once, for every task; classes in another order would turn every label over."""
    put(created)
    answer = created.http.put("/benchmarks/guess", content=changed, headers=created.auth("steward"))

    assert (answer.status_code, named in answer.text) == (status, True)


def test_only_a_steward_learns_which_tasks_have_labels(created: Site) -> None:
    """And no more than that; the answer is never kept, so nobody else gets it from the cache. Labels have no other
    address, nor another format.
    """
    put(created)
    address = "/benchmarks/guess/labels"
    mine = created.http.get(address, headers=created.auth("steward"))

    assert set(mine.json()) == {"benchmark", "sha256", "tasks"}
    assert set(mine.json()["tasks"][0]) == {"task", "n_items", "put_at"}
    assert mine.headers["cache-control"] == "no-store"
    assert created.http.get(address).status_code == 401
    assert created.http.get(address, headers=created.auth()).status_code == 403
    for tail in (".csv", ".json", ".yaml", "/t", "/t.csv", "?snapshot=1", "/../labels.csv"):
        answer = created.http.get(f"{address}{tail}", headers=created.auth())
        assert answer.status_code in (401, 403, 404, 422)
        assert "yes" not in answer.text


# Names that occur nowhere else, so that they are found wherever they appear.
CLASSES = ("zebra", "gnu", "okapi")
SECRET_LABELS = "item,label\nfrog-1,zebra\nfrog-2,gnu\nfrog-3,zebra\nfrog-4,okapi\n"
SECRET_PART = "kind: classification, classes: [gnu, okapi, zebra], missing: failure"


def test_a_submitter_learns_no_label_by_any_route(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    """Pages, exports, checks, errors, the description of the API and the log: nothing names an item with a class."""
    create(site, yaml(SECRET_PART))
    assert put(site, SECRET_LABELS)["http"] == 201
    with caplog.at_level(logging.DEBUG):
        message = [*_sent(site), *_read(site)]
    reported = [part for text in message for part in re.split(r"[{}\n]", text) if names_both(part)]

    assert len(message) > 40
    assert reported == []
    assert not any(name in caplog.text for name in CLASSES)


def names_both(text: str) -> bool:
    """Say whether a record or a line has both an item and a class."""
    return "frog-" in text and any(re.search(rf"\b{name}\b", text) for name in CLASSES)


def _sent(site: Site) -> list[str]:
    """Return what the server answers to uploads, good and bad, and to labels of others."""
    rows = "item,p_gnu,p_okapi,p_zebra\nfrog-1,1,0,0\nfrog-2,1,0,0\nfrog-3,1,0,0\n"
    bad = ["frog-9,1,0,0", "frog-1,0,0,1", "frog-4,x,0,1", "frog-4,0.5,0.1,0.1", "frog-4,1", "frog-4,,0,1", ",1,0,0"]
    contents = [f"{rows}{row}\n" for row in bad] + ["item\nfrog-1\n", "item,label\nfrog-1,gnu\n", rows]
    url, stated = "/benchmarks/guess/submissions", []
    for content in contents:
        for query in ("?dry_run=true", ""):
            files = [("files", ("p.csv", content))]
            answer = site.http.post(url + query, files=files, data={"entrant": "A"}, headers=site.auth())
            stated.append(answer.text)
    site.work()
    others = ["item,label\nfrog-1,gnu\nfrog-2,okapi\n", "item,label\nfrog-1,wolf\n"]
    refused = [put(site, content, who) for content in others for who in ("alice", "steward")]
    return [*stated, *(str(answer) for answer in refused)]


def _read(site: Site) -> list[str]:
    """Return everything that a submitter may try to read."""
    home = "/benchmarks/guess"
    pages = ["/", "/benchmarks.json", home, f"{home}.json", f"{home}.yaml", f"{home}/labels", f"{home}/tasks"]
    pages += [f"{home}/leaderboards/board{tail}" for tail in ("", ".csv", ".json", "/pairwise.json", "/labels.csv")]
    pages += [f"{home}/entrants/A{tail}" for tail in ("", ".csv", ".json")]
    pages += [f"{home}/tasks/t{tail}" for tail in ("", ".csv", ".json")]
    pages += [f"{home}/tables/{name}" for name in ("labels.csv", "label_set.csv", "labels.json")]
    pages += [f"{home}/snapshots.json", f"{home}/tables.zip", f"{home}/raw/metrics.csv", "/openapi.json", "/metrics"]
    pages += [f"/submissions/1{tail}" for tail in ("", ".json", "/scores.csv", "/tables/labels.csv", "/labels")]
    answers = [site.http.get(page, headers=site.auth()) for page in pages]
    return [answer.text for answer in answers]


def test_the_rows_of_a_submission_show_no_prediction_and_no_label(created: Site) -> None:
    """Only that there are some for the entrant and the task."""
    put(created)
    number = submit(created, GUESSES)

    rows = created.http.get(f"/submissions/{number}/scores.csv").text

    assert rows == "entrant,task,leaked,file,row,reason\nA,t,False,0,2,\n"


def test_own_labels_of_submissions_are_no_part_of_their_answer(site: Site) -> None:
    """They are marked as such, and not shown."""
    create(site, yaml(f"{COLOURS}, labels: submitted"))
    rows = 'item,prediction,label\na,"[1,0,0]",green\n'
    answer = site.http.post(
        "/benchmarks/guess/submissions",
        files=[("files", ("p.csv", rows))],
        data={"entrant": "A"},
        headers=site.auth(),
    )

    assert answer.status_code == 202
    assert "green" not in answer.text.replace("an AUC", "")
    assert ("labels", "warned") in {(check["rule"], check["outcome"]) for check in answer.json()["checks"]}
    site.work()
    number = answer.json()["id"]
    unchecked = {
        "/benchmarks/guess": "Every submission brings its own labels",
        "/benchmarks/guess/entrants/A": "Predictions and their labels are",
        f"/submissions/{number}": "brought their own labels; nobody has checked",
        f"/submissions/{number}/reports/t": "which nobody has checked",
    }
    assert [path for path, words in unchecked.items() if words not in site.http.get(path).text] == []
