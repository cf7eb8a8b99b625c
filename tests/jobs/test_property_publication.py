"""Whatever is admitted, every board is published: sequences of submissions of every kind, made up by hypothesis.

`make test` tries two of each kind; `make fuzz` tries for ten minutes.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from app.config import Settings
from tests.cases import publications as cases
from tests.cases.databases import as_runtime, new_database
from tests.fixtures import Site, open_site

FIXTURE = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]
# Nothing is shrunk: an example is a dozen requests, and shrinking one takes minutes.
PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
settings.register_profile(
    "bounded",
    max_examples=2,  # the first that it makes up is the smallest there is
    derandomize=True,
    database=None,
    deadline=None,
    phases=PHASES,
    suppress_health_check=FIXTURE,
)
settings.register_profile(
    "fuzz", max_examples=400, deadline=None, phases=PHASES, suppress_health_check=FIXTURE, print_blob=True
)
FUZZ_S = float(os.environ.get("FUZZ_S", "600"))
"""How long `make fuzz` looks for something, the same share of it in each test."""
N_TESTS = 6
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "bounded"))


@pytest.fixture(scope="module")
def tireless_site(postgres_url: str, migrated: str) -> Iterator[Site]:
    """A server that takes as many writes as come, each of a benchmark of its own."""
    settings = Settings(max_requests_per_minute=1_000_000)
    with new_database(postgres_url, migrated) as url, open_site(as_runtime(url), settings) as opened:
        yield opened


STARTED: dict[str, float] = {}


def is_over(test: str) -> bool:
    """Say whether a test has had its share of the time; a bounded run ends by its number of examples."""
    begun = STARTED.setdefault(test, time.monotonic())
    return time.monotonic() - begun > FUZZ_S / N_TESTS


def admitted(site: Site, slug: str, files: Sequence[tuple[str, str, str | None]]) -> list[int]:
    """Send files as alice, worked off one by one, and return the numbers of those that were not refused."""
    numbers = []
    for name, content, entrant in files:
        answer = cases.send(site, slug, name, content, entrant=entrant)
        assert answer.status_code in (200, 202, 409, 422), answer.text
        if answer.status_code in (200, 202):
            numbers.append(answer.json()["id"])
            site.work()
    return numbers


def sent(answer: object) -> int:
    """Return the number of an honest submission."""
    assert answer.status_code == 202, answer.text  # type: ignore[attr-defined]
    return int(answer.json()["id"])  # type: ignore[attr-defined]


@given(files=cases.summaries(), tasks=st.sampled_from((cases.DECLARED, cases.OPEN)), has_base=st.booleans())
def test_summaries_never_stop_a_board(tireless_site: Site, files: list[str], tasks: str, has_base: bool) -> None:
    """Zeros, denormals, 1e50, ties, failures and gaps: boards of skill and of means are published."""
    if is_over("summaries"):
        return
    site = tireless_site
    slug = cases.begin(site, cases.SUMMARY.replace("TASKS", tasks), base_of="bob" if has_base else "alice")
    names = ["Base", "Honest"] if has_base else ["Honest"]
    numbers = [sent(cases.send(site, slug, "g.csv", cases.good_summary(name), "bob")) for name in names]
    numbers += admitted(site, slug, [("r.csv", content, None) for content in files])
    last = sent(cases.send(site, slug, "n.csv", cases.good_summary("Next"), "bob"))

    cases.settle(site, slug, [*numbers, last], [*names, "Next"], has_base=has_base)


@given(files=cases.episode_files())
def test_episodes_never_stop_a_board(tireless_site: Site, files: list[str]) -> None:
    """Few seeds, constant forces, failures, a task left out: boards of estimates are published."""
    if is_over("episodes"):
        return
    site = tireless_site
    slug = cases.begin(site, cases.EPISODES)
    numbers = [sent(cases.send(site, slug, "g.csv", cases.good_episodes(), "bob", "Honest"))]
    numbers += admitted(site, slug, [("r.csv", content, f"E{at % 3}") for at, content in enumerate(files)])
    last = sent(cases.send(site, slug, "n.csv", cases.good_episodes(), "bob", "Next"))

    cases.settle(site, slug, [*numbers, last], ["Honest", "Next"])


@given(files=cases.runs())
def test_runs_never_stop_a_board(tireless_site: Site, files: list[str]) -> None:
    """Records left out, values of every size and none: boards of weighted ranks are published."""
    if is_over("runs"):
        return
    site = tireless_site
    slug = cases.begin(site, cases.SERIES)
    numbers = [sent(cases.send(site, slug, "metrics.csv", cases.good_run("Honest"), "bob"))]
    numbers += admitted(site, slug, [("metrics.csv", content, None) for content in files])
    last = sent(cases.send(site, slug, "metrics.csv", cases.good_run("Next"), "bob"))

    cases.settle(site, slug, [*numbers, last], ["Honest", "Next"])


PART = {
    "classes": (cases.CLASSES, ("0", "1", "0.5", "5e-324", "1e-400", "1e-50", "0.9999999999999999")),
    "values": (cases.VALUES, cases.SIGNED),
    "ranks": (cases.RANKS, cases.SIGNED),
}


def labels(part: str) -> st.SearchStrategy[str]:
    """Return labels of every item, with weights of every size."""
    n, weight = len(cases.ITEMS), st.sampled_from(("1", "1", "2", "1e-300", "5e-324", "1e50"))
    value = st.sampled_from([v for v in cases.SIGNED if v]) if part == "values" else st.sampled_from(("0", "1", "4"))
    label = st.lists(st.sampled_from(("no", "yes")) if part == "classes" else value, min_size=n, max_size=n)
    weights = st.one_of(st.just(["1"] * n), st.lists(weight, min_size=n, max_size=n))
    groups = ["g1", "g1", "g1", "g2", "g2", "g3", "g3", "g3"]

    def write(result: tuple[list[str], list[str]]) -> str:
        words = ["no", "yes", *result[0][2:]] if part == "classes" else result[0]
        rows = zip(cases.ITEMS, words, result[1], groups, strict=True)
        if part == "ranks":
            return cases.table(("item", "label", "group"), ((i, w, g) for i, w, _, g in rows))
        return cases.table(("item", "label", "weight"), ((i, w, x) for i, w, x, _ in rows))

    return st.tuples(label, weights).map(write)


def never_stops(part: str) -> Callable[..., None]:
    """Return the test of one kind of predictions."""
    (declared, metrics), allowed = PART[part]

    @given(files=cases.guesses(allowed), truth=labels(part))
    def test(tireless_site: Site, files: list[str], truth: str) -> None:
        if is_over(part):
            return
        site = tireless_site
        slug = cases.begin(site, cases.predictions(declared, metrics), truth)
        good = cases.table(("item", "prediction"), [(item, at / 10) for at, item in enumerate(cases.ITEMS)])
        numbers = [sent(cases.send(site, slug, "g.csv", good, "bob", "Honest"))]
        numbers += admitted(site, slug, [("p.csv", content, f"E{at % 3}") for at, content in enumerate(files)])
        last = sent(cases.send(site, slug, "n.csv", good, "bob", "Next"))

        cases.settle(site, slug, [*numbers, last], ["Honest", "Next"])

    return test


test_predicted_classes_never_stop_a_board = never_stops("classes")
test_predicted_values_never_stop_a_board = never_stops("values")
test_predicted_ranks_never_stop_a_board = never_stops("ranks")
