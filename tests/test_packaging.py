"""The lock files, the image and the compose file keep what they promise; no engine is needed to see that."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from compose_spec.compose_spec import PyCompose

from app.cli.supervisor import STOP_MARGIN_S
from app.config import SECRETS, variable_names
from app.db.embedded import MAJOR_VERSION
from bench.dependencies import TABLES, declared
from tests.cases.packaging import ROOT

pytestmark = [pytest.mark.heavy, pytest.mark.unmutated]


LOCKS = ("requirements.lock", "requirements-dev.lock")


def project() -> dict[str, object]:
    """Return the [project] table of pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def names_of(requirements: list[str]) -> set[str]:
    """Return the names of requirements without their versions."""
    return {normal(re.split(r"[\[>=<; ]", requirement)[0]) for requirement in requirements}


def normal(name: str) -> str:
    """Return a package's name as a lock writes it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def locked(lock: str) -> dict[str, list[str]]:
    """Return each package of a lock with the lines that belong to it."""
    packages: dict[str, list[str]] = {}
    for line in (ROOT / lock).read_text().splitlines():
        if line and not line.startswith((" ", "#")):
            packages[line.split("==")[0]] = lines = []
        if not line.lstrip().startswith("#"):
            lines.append(line.strip())
    return packages


def version_of(lines: list[str]) -> str:
    """Return the locked version, without the condition under which it is wanted."""
    return lines[0].partition(" ")[0]


@pytest.mark.parametrize("lock", LOCKS)
def test_every_locked_package_has_one_version_and_hashes(lock: str) -> None:
    """Nothing that was not seen when the lock was made can be installed from it."""
    loose = [
        name
        for name, lines in locked(lock).items()
        if not re.match(rf"{re.escape(name)}==[\w.]+", lines[0]) or not lines[1].startswith("--hash=sha256:")
    ]

    assert loose == []


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_place(lock: str) -> None:
    """A lock can be used with any mirror: it holds no address, no option and no path."""
    text = (ROOT / lock).read_text()

    assert not re.search(r"://|^-|index|find-links|(^|\s)/", text, re.MULTILINE)


def test_both_locks_agree() -> None:
    """What is tested is what runs, on every system on which either lock wants it."""
    run, develop = ({name: version_of(lines) for name, lines in locked(lock).items()} for lock in LOCKS)
    differing = [name for name, version in run.items() if develop.get(name) != version]

    assert differing == []


def test_the_runtime_lock_holds_what_the_project_needs() -> None:
    """Every dependency, and what builds the project, is locked."""
    wanted = names_of(project()["dependencies"]) | names_of(project()["optional-dependencies"]["build"])

    assert wanted <= set(locked("requirements.lock"))


def test_every_place_says_the_same_version() -> None:
    """Both distributions, the image's label, what compose and Kubernetes start, the changelog, what mends are for.

    Between two releases the number is the next one with `.dev0`, and the changelog begins with what is not released.
    """
    version = str(project()["version"])
    client = tomllib.loads((ROOT / "client" / "pyproject.toml").read_text())["project"]
    deployed = [ROOT / name for name in ("docker-compose.yml", "deploy/kubernetes.yaml")]

    assert client["version"] == version
    assert f"org.opencontainers.image.version={version} " in (ROOT / "Dockerfile").read_text()
    for path in deployed:
        assert set(re.findall(r"image: plumbline:(\S+)", path.read_text())) == {version}, path
    sections = re.findall(r"^## (\S+)(?: – \d{4}-\d\d-\d\d)?$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert sections[0] == ("Unreleased" if version.endswith(".dev0") else version)
    released = next(name for name in sections if name != "Unreleased")
    assert f"| {released.rpartition('.')[0]} | yes |" in (ROOT / "SECURITY.md").read_text()


def test_every_dependency_is_justified() -> None:
    """Each package that the project names has a remark, and docs/dependencies.md says it."""
    page = (ROOT / "docs/dependencies.md").read_text("utf-8")
    packages = [package for table in TABLES for package in declared(table)]

    assert {package.needs.name for package in packages} >= names_of(project()["dependencies"])
    assert [each.needs.name for each in packages if not each.reason or f"| {each.reason} |" not in page] == []


def imported_packages() -> Iterator[str]:
    """Yield the top-level packages that the app imports from elsewhere."""
    for path in (ROOT / "app").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                yield from (alias.name.split(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield (node.module or "").split(".")[0]


def test_every_imported_package_is_declared() -> None:
    """The app leans on no package that another one happens to bring."""
    foreign = set(imported_packages()) - set(sys.stdlib_module_names) - {"app", "plumbline"}
    distributions = packages_distributions()
    declared = names_of(project()["dependencies"])
    undeclared = [name for name in sorted(foreign) if not declared & {normal(d) for d in distributions.get(name, [])}]

    assert undeclared == []


def test_nothing_installs_us_by_name() -> None:
    """Neither name is registered on the public index, where `plumbline` is somebody else's: by path or digest only."""
    rooms = (".ci", "app", "client", "deploy", "docs", "integrations", "plumbline")
    files = [path for room in rooms for path in (ROOT / room).rglob("*") if path.is_file()]
    files += [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "Dockerfile", "Makefile")]
    texts = {path: path.read_bytes().decode("utf-8", "replace") for path in files}
    ours = re.compile(r"pip3? (?:install|download)[^\n`]*?[ '\"]plumbline(?:-client|-server)?(?![\w/.-])")

    assert ours.search("run pip install 'plumbline-client[pandas]'")
    assert not [(path, found[0]) for path, text in texts.items() if (found := ours.search(text))]


def test_compose_has_no_default_password() -> None:
    """Compose refuses to start without a password, rather than starting with one that everybody knows."""
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    passwords = [
        value
        for service in services.values()
        for name, value in service.get("environment", {}).items()
        if "PASSWORD" in name
    ]

    assert passwords
    assert all(re.fullmatch(r"\$\{(POSTGRES|OWNER)_PASSWORD:\?.+\}", value) for value in passwords)


def test_only_the_migration_has_the_address_of_the_owner() -> None:
    """Compose and Kubernetes: what serves and works is another role, with another password."""
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    pods = {each["metadata"]["name"]: pod for each in kubernetes() if (pod := pod_of(each)) is not None}
    owned = [name for name, service in services.items() if "OWNER" in str(service.get("environment"))]

    assert owned == ["postgres", "migrate"]
    assert [name for name, pod in pods.items() if "owner" in str(pod)] == ["plumbline-migrate"]
    assert "OWNER" not in str(services["web"]["environment"]) + str(services["worker"]["environment"])


def test_compose_migrates_before_it_serves() -> None:
    """Neither the web process nor a worker meets a database of an older schema."""
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    waits = {name: services[name]["depends_on"]["migrate"]["condition"] for name in ("web", "worker")}

    assert waits == dict.fromkeys(("web", "worker"), "service_completed_successfully")


def test_compose_has_a_postgres_that_the_image_can_copy_and_that_has_room() -> None:
    """Programs of Postgres copy no server newer than themselves; two web processes and four workers take 130 places."""
    postgres = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]["postgres"]

    assert postgres["image"].partition("@")[0] == f"postgres:{MAJOR_VERSION}"
    assert "max_connections=200" in postgres["command"]


def test_the_image_runs_as_an_unprivileged_user_with_a_healthcheck() -> None:
    """What the image runs is not root, and Docker can see whether it works."""
    instructions = (ROOT / "Dockerfile").read_text().splitlines()
    users = [line.split()[1] for line in instructions if line.startswith("USER ")]

    assert users[-1] == "10001:10001"
    assert any(line.startswith("HEALTHCHECK ") for line in instructions)


def test_what_the_image_copies_is_there_and_not_ignored() -> None:
    """A folder that moves, or is ignored, is noticed here and not when the image is built."""
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    copies = [line for line in lines if line.startswith("COPY ") and "--from=" not in line]
    copied = [name for line in copies for name in line.split()[1:-1]]
    sent = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}

    assert [name for name in copied if name not in sent or not (ROOT / name).exists()] == []


def test_services_run_with_a_read_only_root() -> None:
    """Compose and Kubernetes: nothing can be written but what is mounted, as nobody who may do more."""
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    pods = [pod for pod in map(pod_of, kubernetes()) if pod is not None]

    assert all(services[name]["read_only"] and services[name]["tmpfs"] for name in ("migrate", "web", "worker"))
    assert len(pods) == 4
    for pod in pods:
        assert pod["securityContext"]["runAsNonRoot"]
        for container in pod["containers"]:
            held = container["securityContext"]
            assert held["readOnlyRootFilesystem"]
            assert not held["allowPrivilegeEscalation"]
            assert "memory" in container["resources"]["limits"]


def kubernetes() -> list[dict[str, Any]]:
    """Return the documents of the Kubernetes example."""
    return list(yaml.safe_load_all((ROOT / "deploy/kubernetes.yaml").read_text()))


def pod_of(document: dict[str, Any]) -> dict[str, Any] | None:
    """Return the pod that a document describes, if it describes one."""
    spec = document.get("spec", {})
    template = spec.get("jobTemplate", {}).get("spec", {}).get("template") or spec.get("template")
    return None if template is None else template["spec"]


KUBERNETES = ("1.31", "1.37")
"""An old release that many clusters still have, and the newest that the schemas are there for."""


@pytest.mark.parametrize("release", KUBERNETES)
def test_kubernetes_knows_every_key(release: str) -> None:
    """Each document of the example as the release's own schema says, which knows no other key."""
    for document in kubernetes():
        kubernetes_validate.validate(document, release, strict=True)

    unknown = {**kubernetes()[0], "dats": {}}
    with pytest.raises(kubernetes_validate.ValidationError, match="dats"):
        kubernetes_validate.validate(unknown, release, strict=True)


def test_compose_knows_every_key() -> None:
    """With each variable replaced as compose does: by its default, or by what whoever starts it sets."""
    text = re.sub(r"\$\{\w+:([-?])([^}]*)\}", lambda found: found[2] if found[1] == "-" else "x",
                  (ROOT / "docker-compose.yml").read_text())  # fmt: skip

    assert PyCompose.from_dict(yaml.safe_load(text)).service_names
    with pytest.raises(ValueError, match="restrat"):
        PyCompose.from_dict(yaml.safe_load(text.replace("restart:", "restrat:", 1)))


def test_kubernetes_waits_longer_than_the_server_itself() -> None:
    """The pod is given the grace that its settings promise, and is asked whether it is alive without the database."""
    documents = {(each["kind"], each["metadata"]["name"]): each for each in kubernetes()}
    settings = documents["ConfigMap", "plumbline"]["data"]
    web = documents["Deployment", "plumbline-web"]["spec"]["template"]["spec"]
    (container,) = web["containers"]

    assert web["terminationGracePeriodSeconds"] >= int(settings["PLUMBLINE_STOP_GRACE_S"]) + STOP_MARGIN_S + 5
    assert container["livenessProbe"]["httpGet"]["path"] == "/healthz"
    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"


def test_the_examples_of_deployment_use_settings_that_there_are() -> None:
    """A misspelt one would be refused at start."""
    known = variable_names() | {f"PLUMBLINE_{secret.upper()}_FILE" for secret in SECRETS}
    files = [ROOT / "docker-compose.yml", ROOT / "Dockerfile", *(ROOT / "deploy").iterdir()]
    named = {name for path in files for name in re.findall(r"PLUMBLINE_[A-Z_]+[A-Z]", path.read_text())}

    assert named - known == set()


def test_make_says_which_python_it_needs(tmp_path: Path) -> None:
    """Without a Python that serves, `make run` names the versions that would and how to point at one."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in ("requirements.lock", "pyproject.toml"):
        (tmp_path / name).touch()
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    created = subprocess.run(
        ["make", "run", "PYTHON=/nowhere/python"],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )

    assert created.returncode == 2
    assert "plumbline needs Python 3.11 (from 3.11.7), 3.12 or 3.13; /nowhere/python is none of them." in created.stderr
    assert not (tmp_path / ".venv").exists()


@pytest.mark.parametrize("unit", ["plumbline.service", "plumbline-worker@.service"])
def test_systemd_takes_the_units(unit: str, tmp_path: Path) -> None:
    """As its own tool reads them, with a program that is there, and started again when they fail."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    shipped = (ROOT / "deploy" / unit).read_text("utf-8")
    known = shipped.replace("/opt/plumbline/bin/plumbline", sys.executable).replace("User=plumbline", "User=daemon")
    here = tmp_path / unit.replace("@.", "@1.")
    here.write_text(known)
    done = subprocess.run(["systemd-analyze", "verify", str(here)], capture_output=True, text=True, check=False)

    assert "Restart=on-failure" in shipped
    assert (done.returncode, [line for line in done.stderr.splitlines() if here.name in line]) == (0, [])
