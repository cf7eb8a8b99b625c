"""What compose, Kubernetes and systemd start, as plain processes: without an engine, with their settings."""

import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
import yaml
from sqlalchemy import make_url

from app.db.embedded import Addresses, running_addresses
from tests.cases import patient
from tests.cases.packaging import ROOT
from tests.cases.processes import wait_until_settled
from tests.cases.proxy import free_port
from tests.cases.running_server import STOPS_WITHIN_S, RunningServer, environment, fresh_data_dir, running_server
from tests.cases.waiting import eventually
from tests.cases.walkthrough import BASE, MANIFEST, PREREG

pytestmark = pytest.mark.processes

TOKEN = "deployed-" + "0123456789abcdef" * 2
ADMIN = {"Authorization": f"Bearer {TOKEN}"}
HERE = {"PLUMBLINE_HOST": "127.0.0.1", "PLUMBLINE_PORT": "0", "PLUMBLINE_BASE_URL": ""}
"""What is of the machine and of who runs it, and of no deployment."""
SECRETS = "/run/secrets"


@dataclass(frozen=True)
class Started:
    """A process of a deployment: what follows `plumbline`, its settings, and how one asks whether it is well."""

    arguments: Sequence[str]
    settings: Mapping[str, str]
    well: Sequence[str] = ()
    """A command, or the paths that are asked for."""


Deployment = Callable[[Addresses, Path], dict[str, Started]]


def of_compose(addresses: Addresses, _folder: Path) -> dict[str, Started]:
    """Return the services of docker-compose.yml, each variable replaced as whoever starts it would."""
    owner, runtime = (make_url(each) for each in (addresses.owner, addresses.runtime))
    given = {"OWNER_PASSWORD": owner.password, "POSTGRES_PASSWORD": runtime.password, "PLUMBLINE_ADMIN_TOKEN": TOKEN}
    text = re.sub(
        r"\$\{(\w+):([-?])([^}]*)\}",
        lambda found: str(given.get(found[1], found[3] if found[2] == "-" else "")),
        (ROOT / "docker-compose.yml").read_text("utf-8"),
    )
    for role, url in (("plumbline_owner", owner), ("plumbline", runtime)):
        own = url.set(password=None).render_as_string(hide_password=False)
        text = text.replace(f"postgresql://{role}@postgres:5432/plumbline", own)
    services = yaml.safe_load(text)["services"]
    image = re.findall(r"HEALTHCHECK.*\\\n\s+CMD (\[.*\])", (ROOT / "Dockerfile").read_text("utf-8"))
    asked = {"web": yaml.safe_load(image[0]), "worker": services["worker"]["healthcheck"]["test"][1:], "migrate": ()}
    return {
        name: Started(
            services[name]["command"], {key: str(value) for key, value in services[name]["environment"].items()}, well
        )
        for name, well in asked.items()
    }


def of_kubernetes(addresses: Addresses, folder: Path) -> dict[str, Started]:
    """Return the containers of deploy/kubernetes.yaml, its secrets as files."""
    for name, content in (("plumbline/database-url", addresses.runtime), ("plumbline/admin-token", TOKEN),
                          ("plumbline-owner/database-url", addresses.owner)):  # fmt: skip
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content)
    documents = list(yaml.safe_load_all((ROOT / "deploy/kubernetes.yaml").read_text("utf-8")))
    common = next(each["data"] for each in documents if each["kind"] == "ConfigMap")
    return {
        container["name"]: Started(
            container["args"],
            {
                name: value.replace(SECRETS, str(folder))
                for name, value in {**common, **{each["name"]: each["value"] for each in container["env"]}}.items()
            },
            [probe["httpGet"]["path"] for name, probe in container.items() if name.endswith("Probe")],
        )
        for each in documents
        if each["kind"] in ("Job", "Deployment")
        for container in each["spec"]["template"]["spec"]["containers"]
    }


def of_systemd(addresses: Addresses, _folder: Path) -> dict[str, Started]:
    """Return what the units start, with what the operator writes into /etc/plumbline.env."""
    told = {"PLUMBLINE_DATABASE_URL": addresses.runtime, "PLUMBLINE_ADMIN_TOKEN": TOKEN}
    upgraded = {"PLUMBLINE_DATABASE_URL": addresses.runtime, "PLUMBLINE_OWNER_DATABASE_URL": addresses.owner}
    units = {"web": "plumbline.service", "worker": "plumbline-worker@.service"}
    found = {"migrate": Started(["db", "upgrade"], upgraded)}
    for name, unit in units.items():
        command = re.findall("(?m)^ExecStart=(.*)$", (ROOT / "deploy" / unit).read_text("utf-8"))[0]
        found[name] = Started(shlex.split(command)[1:], told)
    return found


@contextmanager
def worker_of(started: Started, settings: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """Start a worker as a process of its own, which ends with this."""
    process = subprocess.Popen([sys.executable, "-m", "app.cli", *started.arguments], env=dict(settings))
    try:
        yield process
    finally:
        process.kill()
        process.wait(STOPS_WITHIN_S)


def is_well(well: Sequence[str], settings: Mapping[str, str], address: str) -> bool:
    """Say whether each path answers, or the command that an engine would run succeeds."""
    if all(each.startswith("/") for each in well):
        try:
            return all(patient.get(f"{address}{path}", headers=ADMIN).is_success for path in well)
        except httpx2.TransportError:  # it does not listen yet
            return False
    command = [each.replace("http://127.0.0.1:8000", address) for each in well]
    program = [sys.executable, "-m", "app.cli"] if command[0] == "plumbline" else [sys.executable]
    return subprocess.run([*program, *command[1:]], env=dict(settings), check=False).returncode == 0


def publish(server: RunningServer) -> None:
    """Submit rows and wait until they are on the board, which only the worker can do."""
    yaml_type = {"Content-Type": "application/yaml"}
    made = [patient.post(f"{server.address}/{path}", content=content, headers=ADMIN | yaml_type)
            for path, content in (("benchmarks", MANIFEST), ("preregs", PREREG))]  # fmt: skip
    files = [("files", ("r.csv", BASE)), ("prereg", ("p.yaml", PREREG))]
    sent = patient.post(f"{server.address}/benchmarks/tiny/submissions", files=files, headers=ADMIN)
    assert [each.status_code for each in (*made, sent)] == [201, 201, 202]
    wait_until_settled(server, sent.json()["id"])
    assert "Base" in patient.get(f"{server.address}/benchmarks/tiny/leaderboards/average.csv").text


@pytest.mark.parametrize(
    "deployment", [of_compose, of_kubernetes, of_systemd], ids=["compose", "kubernetes", "systemd"]
)
def test_what_is_deployed_migrates_serves_works_and_stops(deployment: Deployment, tmp_path: Path) -> None:
    """With its own arguments, settings and questions whether it is well: one publication, and a stop with status 0."""
    with fresh_data_dir() as data_dir, running_addresses(data_dir) as addresses:
        each = deployment(addresses, tmp_path)
        nowhere, metrics = data_dir.parent / "nowhere", str(free_port())
        migrate, web, worker = (
            environment(nowhere, **{**each[name].settings, **HERE}) for name in ("migrate", "web", "worker")
        )
        upgrade = [sys.executable, "-m", "app.cli", *each["migrate"].arguments]
        assert subprocess.run(upgrade, env=migrate, check=False).returncode == 0
        assert each["web"].arguments == ["serve"]
        if "PLUMBLINE_METRICS_PORT" in worker:
            worker |= {"PLUMBLINE_METRICS_PORT": metrics}
        with running_server(nowhere, **web) as server, worker_of(each["worker"], worker) as process:
            assert eventually(lambda: is_well(each["web"].well, web, server.address))
            assert eventually(lambda: is_well(each["worker"].well, worker, f"http://127.0.0.1:{metrics}"))
            publish(server)
            process.send_signal(signal.SIGTERM)
            assert process.wait(STOPS_WITHIN_S) == 0
            assert server.stop(signal.SIGTERM) == 0
        assert not (nowhere / "cluster").exists()
