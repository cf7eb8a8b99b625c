"""The proxies of `deploy/`, started in front of servers with ports and folders of their own."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
SHIPPED = DEPLOY / "nginx.conf"
NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
CADDY = shutil.which("caddy")
SKIPPED = "nginx is not installed (apt-get install nginx-light), so nothing is said of attacks on connections"
TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
STARTS_WITHIN_S = 10


@contextmanager
def nginx_before(*servers: str, **others: str) -> Iterator[str]:
    """Start nginx before servers, given as host:port; yield its host:port. `others` are values of the shipped file."""
    with tempfile.TemporaryDirectory(prefix="plumbline-nginx-") as name:
        folder, place = Path(name), f"127.0.0.1:{free_port()}"
        # Workers that are not root put bodies into these folders.
        folder.chmod(0o777)
        folders = "".join(f"{each}_temp_path {folder / each};\n" for each in TEMPORARY)
        changed = {
            "/run/nginx.pid": str(folder / "pid"),
            "http {\n": "http {\n" + folders,
            "    server 127.0.0.1:8000 max_fails=0;": "\n".join(f"server {server} max_fails=0;" for server in servers),
            "listen 80;": f"listen {place};",
            **others,
        }
        configuration = folder / "nginx.conf"
        configuration.write_text(with_values(SHIPPED.read_text(), changed))
        with running([NGINX or "nginx", "-c", str(configuration), "-e", "stderr", "-g", "daemon off;"], place, folder):
            yield place


@contextmanager
def caddy_before(*servers: str) -> Iterator[str]:
    """Start Caddy before servers, given as host:port; yield its host:port. It has no certificate to fetch here."""
    with tempfile.TemporaryDirectory(prefix="plumbline-caddy-") as name:
        folder, place = Path(name), f"127.0.0.1:{free_port()}"
        changed = {
            "plumbline.example {": f"http://{place} {{",
            "\tservers {": "\tadmin off\n\tauto_https off\n\tservers {",
            "reverse_proxy 127.0.0.1:8000 {": f"reverse_proxy {' '.join(servers)} {{",
        }
        configuration = folder / "Caddyfile"
        configuration.write_text(with_values((DEPLOY / "Caddyfile").read_text(), changed))
        command = [CADDY or "caddy", "run", "--adapter", "caddyfile", "--config", str(configuration)]
        with running(command, place, folder, XDG_DATA_HOME=name, XDG_CONFIG_HOME=name):
            yield place


@contextmanager
def running(command: Sequence[str], place: str, folder: Path, **environ: str) -> Iterator[None]:
    """Run what listens at host:port, which is ready when one enters; its words are in the folder."""
    with (
        (folder / "log").open("w+") as log,
        subprocess.Popen(command, stdout=log, stderr=log, env=os.environ | environ) as process,
    ):
        try:
            _wait_for(place, process, log.name)
            yield
        finally:
            process.terminate()


def with_values(text: str, changed: Mapping[str, str]) -> str:
    """Return a configuration with other values. Raises ValueError for one that is not in it exactly once."""
    for before, after in changed.items():
        if text.count(before) != 1:
            raise ValueError(f"{before!r} is {text.count(before)} times in the configuration")
        text = text.replace(before, after)
    return text


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def _wait_for(place: str, process: "subprocess.Popen[bytes]", log: str) -> None:
    host, _, port = place.partition(":")
    give_up_at = time.monotonic() + STARTS_WITHIN_S
    while not _listens(host, int(port)):
        if process.poll() is not None or time.monotonic() > give_up_at:
            raise AssertionError(f"it did not start: {Path(log).read_text()}")
        time.sleep(0.05)


def _listens(host: str, port: int) -> bool:
    with socket.socket() as connection:
        return connection.connect_ex((host, port)) == 0
