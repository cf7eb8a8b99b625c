"""Every line of the log is one JSON object with the request it belongs to, and none holds a secret."""

import io
import json
import logging
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from app import telemetry
from app.cli.observing import configure_log
from app.config import Settings
from app.telemetry import bind, event
from tests.cases.offline import plumbline

ADMIN = "0123456789abcdef0123456789abcdef"


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """What is written to standard error as JSON; the loggers are as before afterwards."""
    stream, root = io.StringIO(), logging.getLogger()
    before = root.handlers[:], root.level
    monkeypatch.setattr(sys, "stderr", stream)
    for module in (sys, threading):
        monkeypatch.setattr(module, "excepthook", module.excepthook)
    for handler in before[0]:
        root.removeHandler(handler)
    telemetry.configure("json", "web", (ADMIN,))
    yield stream
    root.handlers[:], root.level = before[0], before[1]
    logging.captureWarnings(capture=False)


def lines(stream: io.StringIO) -> list[dict[str, object]]:
    """Return the lines of the log."""
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_has_its_time_level_process_and_request(written: io.StringIO) -> None:
    """Also a line of a library that knows nothing of any of them."""
    with bind(request_id="r1"):
        logging.getLogger("somebody.else").warning("it is %s", "late")

    (line,) = lines(written)
    assert line.pop("timestamp")
    assert line == {
        "event": "it is late",
        "level": "warning",
        "logger": "somebody.else",
        "process": "web",
        "request_id": "r1",
    }


def test_an_event_has_its_facts_as_fields(written: io.StringIO) -> None:
    """So that a query finds them without reading sentences."""
    event(logging.getLogger("app.jobs"), "submission published", submission=7, status="published")

    (line,) = lines(written)
    assert (line["event"], line["submission"], line["status"]) == ("submission published", 7, "published")


@pytest.mark.parametrize(
    ("reported", "secret"),
    [
        ("refused plb_MrbwbkIhtgWCOYi8b9vHLhyC2cNkNE5rmvE0UWiIA9s for fev", "MrbwbkIhtgWCO"),
        ("could not connect to postgresql://plumbline:s3cr3t@db/plumbline", "s3cr3t"),
        ("headers {'Authorization': 'Bearer abcdef123456'}", "abcdef123456"),
        ("cookie: __Host-plumbline=qwertz", "qwertz"),
        ("connection failed: password=hunter2 host=db", "hunter2"),
        (f"the token is {ADMIN}", ADMIN),
    ],
)
def test_no_secret_is_written(written: io.StringIO, reported: str, secret: str) -> None:
    """Not in the sentence, not in a field, not in a traceback."""
    logger = logging.getLogger("app.web")
    event(logger, reported, cause=reported, several=[reported])
    try:
        int(reported)
    except ValueError:
        logger.exception("it failed")

    assert len(lines(written)) == 2
    assert "ValueError" in written.getvalue()
    assert secret not in written.getvalue()


def test_the_text_form_is_the_sentence_with_its_facts(written: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a person at a terminal."""
    monkeypatch.setattr(sys, "stderr", written)
    telemetry.configure("text", "serve")
    event(logging.getLogger("app.jobs"), "benchmark published", benchmark="fev", snapshot=3)

    assert written.getvalue() == "benchmark published (benchmark=fev snapshot=3)\n"


@pytest.mark.usefixtures("written")
def test_every_secret_of_the_settings_is_hidden(capsys: pytest.CaptureFixture[str]) -> None:
    """Also by itself, as a library may quote it: what is known to be secret stands in no line."""
    known = ("database-pw", "direct-pw", "mail-pw", "of-the-provider", "QVt3x9zKq2LmW7bRf4NcH8sYd1JgP6aE")
    settings = Settings(
        log_format="json",
        database_url=f"postgresql://p:{known[0]}@pooler/p",
        direct_database_url=f"postgresql://p:{known[1]}@postgres/p",
        smtp_url=f"smtp://p:{known[2]}@mail:25",
        oidc_client_secret=known[3],
        admin_token=known[4],
    )
    configure_log(settings, "web")
    for secret in known:
        logging.getLogger("somebody.else").warning("said %s, which it should not", secret)

    message = [json.loads(line)["event"] for line in capsys.readouterr().err.splitlines()]
    assert message == ["said …, which it should not"] * len(known)


@pytest.mark.parametrize(
    ("command", "settings"),
    [
        ("worker", {"PLUMBLINE_DATABASE_URL": "postgresql://x:hidden@127.0.0.1:1/x"}),
        ("serve", {"PLUMBLINE_PORT": "-1"}),
    ],
)
def test_what_ends_a_process_is_a_line_of_json(command: str, settings: dict[str, str]) -> None:
    """Also where its settings are refused: a collector that reads lines would lose exactly that."""
    done = plumbline(command, PLUMBLINE_LOG_FORMAT="json", **settings)

    *_, last = [json.loads(line) for line in done.stderr.splitlines()]
    assert done.returncode != 0
    assert (last["level"], last["process"]) == ("error", command)
    assert "hidden" not in done.stderr


def test_what_nobody_caught_is_a_line_of_json() -> None:
    """With its traceback in a field, from a thread too."""
    fails = "import threading; from app.telemetry import configure; configure('json', 'web'); "
    fails += "t = threading.Thread(target=lambda: 1 / 0); t.start(); t.join(); {}['gone']"
    done = subprocess.run([sys.executable, "-c", fails], capture_output=True, text=True, check=False)

    lines = [json.loads(line) for line in done.stderr.splitlines()]
    ends = [line["exception"].splitlines()[-1] for line in lines]
    assert ends == ["ZeroDivisionError: division by zero", "KeyError: 'gone'"]
