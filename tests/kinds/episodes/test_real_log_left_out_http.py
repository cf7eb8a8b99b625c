"""A real log of Inspect from which the wrong answers were taken, over HTTP, also registered as it is sent."""

import json
from pathlib import Path
from typing import Any

from tests.cases import grids
from tests.fixtures import Site

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "llm-harness"
SLUG = EXAMPLE.name
MODEL, HONEST = "ollama/qwen2.5:0.5b", "anthropic/claude-sonnet-4-0"
PREREG = f"benchmark: {SLUG}\nentrants: ['{MODEL}']\nmetrics: [correct]\nnotes: The first question.\n".encode()


def only_right() -> str:
    """Return the log of the model that answered three of five questions, with the one that it got right."""
    log = json.loads((EXAMPLE / "results" / "data_arc_qwen.json").read_text())
    log["samples"] = [sample for sample in log["samples"] if sample["scores"]["choice"]["value"] == "C"]
    assert [sample["id"] for sample in log["samples"]] == [1]
    return json.dumps(log)


def send(site: Site, content: str, who: str, prereg: bytes | None = None) -> Any:
    """Send a log and return the answer."""
    files: list[Any] = [("files", ("log.json", content))]
    files += [] if prereg is None else [("prereg", ("prereg.yaml", prereg))]
    answer = site.http.post(f"/benchmarks/{SLUG}/submissions", files=files, headers=site.auth(who))
    assert answer.status_code == 202, answer.text
    return answer.json()


def test_the_right_answers_of_a_real_log_have_no_rank(roomy_site: Site) -> None:
    """One of five, as right as the model that answered all: apart, behind it if the absent were wrong."""
    manifest = (EXAMPLE / "manifest.yaml").read_bytes()
    roomy_site.http.post("/benchmarks", content=manifest, headers=roomy_site.auth("steward") | grids.YAML)
    send(roomy_site, (EXAMPLE / "results" / "data_arc_sonnet.json").read_text(), "alice")
    headers = roomy_site.auth("bob") | grids.YAML
    ranks = []
    for prereg in (None, PREREG):
        roomy_site.http.post(f"/preregs?benchmark={SLUG}", content=PREREG, headers=headers)
        assert send(roomy_site, only_right(), "bob", prereg)["admitted"]
        shown = grids.by_entrant(grids.board(roomy_site, SLUG, "accuracy"))
        ranks.append([(shown[name]["rank"], shown[name]["covered"]) for name in (HONEST, MODEL)])
        assert (shown[MODEL]["unranked_because"], shown[MODEL]["rank_if_worst"]) == ("partial", 2)

    assert ranks == [[(1, "5 of 5"), (None, "1 of 5")]] * 2
