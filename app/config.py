"""Settings, read from PLUMBLINE_* once at start.

An unknown PLUMBLINE_* name is refused with the nearest known one: a misspelt limit must not pass silently.
"""

import difflib
import ipaddress
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from app.errors import SettingsError

PREFIX = "PLUMBLINE_"

MIB = 1024 * 1024

MAIL_SERVER = re.compile(r"(smtp|smtps|smtp\+plain)://([^/?#\s]+@)?([^][/?#\s@:]+|\[[\da-f:.]+\])(:\d{1,5})?", re.I)


def default_data_dir() -> Path:
    """Return where the embedded database is unless configured otherwise.

    As root the server runs as an unprivileged user, who can rarely enter root's own folders.
    """
    return Path("/var/lib/plumbline") if os.geteuid() == 0 else Path(".plumbline").absolute()


@dataclass(frozen=True)
class GroupRole:
    """What a group of the identity provider may do here: a role on the server, or in the benchmark of a slug."""

    group: str
    role: str
    benchmark: str | None = None


@dataclass(frozen=True)
class Oidc:
    """The identity provider of a server: its address, our client credentials, and the claims to use."""

    issuer: str
    client_id: str
    client_secret: str
    base_url: str
    name: str
    groups_claim: str
    roles: tuple[GroupRole, ...]
    domains: frozenset[str]
    days: int


LONGEST_DAYS = 36_500


class Settings(BaseModel):
    """Every setting of the server; the field name in capitals after PLUMBLINE_ is its variable."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str = Field("127.0.0.1", description="address to listen on")
    port: int = Field(8000, ge=0, le=65535, description="port to listen on; 0 takes a free one")
    data_dir: Path = Field(default_factory=default_data_dir, description="folder of the embedded database")
    database_url: str | None = Field(
        None, description="postgresql://… of your own Postgres 15 or newer; unset: embedded"
    )
    owner_database_url: str | None = Field(
        None,
        description="the same database for the role that owns its tables; only migrations, backups and restores use it",
    )
    admin_token: str | None = Field(
        None, description="first admin token, at least 32 random characters; unset: generated and printed once"
    )
    direct_database_url: str | None = Field(
        None, description="address of the Postgres itself, where PLUMBLINE_DATABASE_URL leads to a pooler (pgbouncer)"
    )
    log_format: Literal["text", "json"] = Field("text", description="form of the log: lines for people, or JSON")
    tracing: bool = Field(False, description="send traces by OpenTelemetry; needs the extra otel and OTEL_* settings")
    metrics_port: int | None = Field(
        None, ge=1, le=65535, description="port on which a separate `plumbline worker` answers /metrics; unset: none"
    )
    base_url: str | None = Field(None, description="public address behind a proxy")
    cors: bool = Field(
        True, description="let pages of other sites read what needs no token; false in a network that is itself private"
    )
    site_name: str = Field(
        "plumbline",
        min_length=1,
        max_length=60,
        description="name of your institution or server, on every page",
    )
    site_logo: Path | None = Field(
        None, description="its logo, a .png or .svg file of at most 256 KiB; an SVG is drawn here and served as PNG"
    )
    site_accent: str | None = Field(
        None, description="its colour, `#rrggbb`, told apart from the paper by 4.5:1; a second one is for dark pages"
    )
    site_about: Path | None = Field(None, description="Markdown file of who runs the server and what for, at /about")
    site_imprint: Path | None = Field(None, description="Markdown file of the imprint, at /about#imprint")
    site_contact: str | None = Field(None, description="e-mail or https address for questions, in the foot of pages")
    oidc_issuer: str | None = Field(
        None, description="address of your OpenID Connect provider; needs the three below and PLUMBLINE_BASE_URL"
    )
    oidc_client_id: str | None = Field(None, description="client ID of this server at the provider")
    oidc_client_secret: str | None = Field(None, description="client secret issued by the provider")
    oidc_roles: str | None = Field(
        None, description="roles for its groups: `ml=steward, guests=reviewer@a-benchmark, *=submitter`"
    )
    oidc_groups_claim: str = Field("groups", min_length=1, description="claim that lists a person's groups")
    oidc_domains: str = Field("", description="e-mail domains that may sign in, separated by commas; empty: all")
    oidc_days: int = Field(1, ge=1, le=90, description="how long roles granted at sign-in last, days")
    oidc_name: str = Field("your organisation", min_length=1, description="name of the provider on the sign-in button")
    demo: bool = Field(False, description="load the examples into an empty database at start")
    workers: int | None = Field(
        None, ge=0, le=64, description="worker processes beside `serve`; 1 embedded, 0 otherwise"
    )
    several_hosts: bool = Field(
        False,
        description="a load balancer can ask another host: refuse connections while a web process is started again",
    )
    web_patience_s: int = Field(
        15, ge=2, description="a web process without a heartbeat for this long is replaced, seconds"
    )
    worker_patience_s: int = Field(
        120, ge=2, description="a worker process without a heartbeat for this long is replaced, seconds"
    )
    stop_grace_s: int = Field(20, ge=0, description="how long running requests may take at a stop, seconds")
    max_body_mib: int = Field(512, ge=1, description="largest request body, MiB")
    max_unpacked_mib: int = Field(1024, ge=1, description="largest total size of an upload after unpacking, MiB")
    max_json_mib: int = Field(64, ge=1, description="largest single .json file, MiB (above that, use .jsonl or .csv)")
    max_files: int = Field(1000, ge=1, description="most files in one submission, zip members included")
    max_rows: int = Field(2_000_000, ge=1, description="most rows in one submission")
    max_entrants: int = Field(5000, ge=1, description="most entrants of a benchmark; boards compare every pair")
    max_entrants_of_submitter: int = Field(2500, ge=1, description="most entrants of one submitter in a benchmark")
    max_cells: int = Field(20_000_000, ge=1, description="most entrants times tasks of a benchmark with open tasks")
    max_requests_per_minute: int = Field(600, ge=1, description="writes per minute and token")
    max_reads_per_minute: int = Field(
        6000, ge=1, description="requests per minute of an address, reads of a token; see PLUMBLINE_FORWARDED_HOPS"
    )
    max_wrong_tokens_per_minute: int = Field(
        60, ge=1, description="wrong tokens and logins per minute and address, and as many writes without a token"
    )
    forwarded_hops: int = Field(
        0, ge=0, le=10, description="your proxies in front, which append to X-Forwarded-For; other entries are ignored"
    )
    audit_address_days: int = Field(
        90, ge=0, le=3650, description="how long the audit record keeps addresses, days; 0: never stored"
    )
    keep_snapshots_days: int | None = Field(
        None,
        ge=1,
        le=LONGEST_DAYS,
        description="how long every snapshot is kept, days; then the first and last of a day, and those cited or "
        "pinned; unset: for ever",
    )
    max_yaml_kib: int = Field(64, ge=1, le=64, description="largest preregistration, KiB")
    max_manifest_kib: int = Field(1024, ge=1, description="largest benchmark manifest, KiB")
    max_connections: int = Field(
        2000, ge=16, description="most connections at a time; deploy/nginx.conf bounds how slow and how large they are"
    )
    max_readings: int = Field(2, ge=1, le=64, description="uploads that are read at the same time")
    max_waiting_readings: int = Field(
        32, ge=0, description="uploads that may wait to be read; of more, the last of whoever has most is refused"
    )
    max_wait_s: float = Field(30, gt=0, description="longest that an upload may wait to be read, seconds")
    max_reading_mib: int = Field(3072, ge=256, description="memory for reading one upload, MiB")
    max_reading_cpu_s: int = Field(120, ge=1, description="processor time for reading one upload, seconds")
    max_reading_s: float = Field(180, gt=0, description="longest that reading one upload may take, seconds")
    max_cache_mib: int = Field(128, ge=1, description="memory for published pages, MiB")
    max_stale_s: int = Field(
        10,
        ge=0,
        le=3600,
        description="how long an old page is served while its new one is rendered, s; 0: readers wait",
    )

    smtp_url: str | None = Field(
        None, description="mail server, smtp://user:password@host:587 (smtps://, smtp+plain://); unset: no mail is sent"
    )
    mail_from: str | None = Field(None, description="address that mail is sent from")
    webhook_networks: tuple[str, ...] = Field(
        (), description="private networks that notifications may reach, separated by commas (10.1.0.0/16)"
    )

    @field_validator("webhook_networks", mode="before")
    @classmethod
    def _are_networks(cls, given: object) -> object:
        parts = [part.strip() for part in given.split(",") if part.strip()] if isinstance(given, str) else given
        for part in parts if isinstance(parts, (list, tuple)) else ():
            ipaddress.ip_network(part)
        return parts

    @field_validator("site_name")
    @classmethod
    def _is_one_line(cls, text: str) -> str:
        if not text.isprintable() or not text.strip():
            raise ValueError("expected one line of printable text")
        return text.strip()

    @field_validator("site_logo")
    @classmethod
    def _is_a_picture(cls, path: Path | None) -> Path | None:
        if path is not None:
            drawn_logo(read_at_most(path, MAX_LOGO_BYTES))
        return path

    @field_validator("site_about", "site_imprint")
    @classmethod
    def _is_a_text(cls, path: Path | None) -> Path | None:
        if path is not None:
            read_at_most(path, MAX_TEXT_BYTES).decode()
        return path

    @field_validator("site_accent")
    @classmethod
    def _is_legible(cls, text: str | None) -> str | None:
        if text is not None:
            accents_of(text)
        return text

    @field_validator("site_contact")
    @classmethod
    def _is_reached(cls, text: str | None) -> str | None:
        if text is not None and not re.fullmatch(r"[^\s@<>()\[\]]+@[^\s@<>()\[\]]+|https://[^\s<>()\[\]]+", text):
            raise ValueError("expected an e-mail address or an https address")
        return text

    @field_validator("smtp_url")
    @classmethod
    def _is_of_mail(cls, url: str | None) -> str | None:
        if url is not None and not MAIL_SERVER.fullmatch(url):
            raise ValueError("expected smtp://, smtps:// or smtp+plain://, then user:password@host:port")
        return url

    @field_validator("admin_token")
    @classmethod
    def _is_hard_to_guess(cls, text: str | None) -> str | None:
        if text is not None and not is_plausible_secret(text):
            raise ValueError(HARD_TO_GUESS)
        return text

    @field_validator("oidc_roles")
    @classmethod
    def _are_group_roles(cls, text: str | None) -> str | None:
        if text is not None:
            read_group_roles(text)
        return text

    @field_validator("oidc_issuer")
    @classmethod
    def _is_safe_address(cls, text: str | None) -> str | None:
        if text is not None and not re.match(r"https://|http://(localhost|127\.0\.0\.1|\[::1\])[:/]", text):
            raise ValueError("expected an https address, or an http one of this machine")
        return text

    @property
    def oidc(self) -> Oidc | None:
        """Return the identity provider; None without one. Raises SettingsError where half of it is given."""
        if self.oidc_issuer is None:
            return None
        given = (self.oidc_client_id, self.oidc_client_secret, self.oidc_roles, self.base_url)
        if not all(given):
            names = ("oidc_client_id", "oidc_client_secret", "oidc_roles", "base_url")
            missing = [PREFIX + name.upper() for name, value in zip(names, given, strict=True) if not value]
            raise SettingsError(f"{PREFIX}OIDC_ISSUER also needs {', '.join(missing)}")
        domains = frozenset(part.strip().lower() for part in self.oidc_domains.split(",") if part.strip())
        return Oidc(
            self.oidc_issuer,
            self.oidc_client_id or "",
            self.oidc_client_secret or "",
            (self.base_url or "").rstrip("/"),
            self.oidc_name,
            self.oidc_groups_claim,
            read_group_roles(self.oidc_roles or ""),
            domains,
            self.oidc_days,
        )

    @property
    def site_accents(self) -> tuple[str, str] | None:
        """Return the accent colour on light paper and on dark."""
        return None if self.site_accent is None else accents_of(self.site_accent)

    @property
    def own_address(self) -> str:
        """Return the address of this server for whoever is elsewhere: the public one, else that of this machine."""
        host = "localhost" if self.host in ("0.0.0.0", "::") else self.host  # noqa: S104 - it is compared, not bound
        return (self.base_url or f"http://{f'[{host}]' if ':' in host else host}:{self.port}").rstrip("/")

    @property
    def tells_addresses_apart(self) -> bool:
        """Say whether readers have addresses of their own here, not all that of a proxy."""
        return self.base_url is None or self.forwarded_hops > 0

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None) -> Self:
        """Read every PLUMBLINE_* variable. Raises SettingsError naming all that are wrong."""
        environ = os.environ if environ is None else environ
        given, complaints = with_secret_files(
            {name: text for name, text in environ.items() if name.startswith(PREFIX)}, PREFIX
        )
        complaints += [_unknown(name) for name in given if name not in variable_names()]
        # A script whose variable came out empty would else read and write the embedded database, and say nothing.
        complaints += [
            f"{name} is empty: unset it for the embedded database"
            for name in (f"{PREFIX}DATABASE_URL", f"{PREFIX}OWNER_DATABASE_URL", f"{PREFIX}DIRECT_DATABASE_URL")
            if given.get(name) == ""
        ]
        values = {name.removeprefix(PREFIX).lower(): text for name, text in given.items() if text != ""}
        try:
            settings = cls.model_validate({key: values[key] for key in values if key in cls.model_fields})
        except ValidationError as error:
            complaints += [_complaint(str(e["loc"][0]), e["input"], e["msg"]) for e in error.errors()]
        if complaints:
            raise SettingsError("; ".join(complaints))
        # What belongs together is looked at when every part of it is there.
        _ = settings.oidc
        return settings


IN_PROXY = "the proxy in front bounds that, as deploy/nginx.conf does"
GONE = {
    "PLUMBLINE_CONNECTIONS_PER_ADDRESS": f"{IN_PROXY} (limit_conn)",
    "PLUMBLINE_HEAD_TIMEOUT_S": f"{IN_PROXY} (client_header_timeout)",
    "PLUMBLINE_MIN_BODY_RATE": f"{IN_PROXY} (client_body_timeout)",
    "PLUMBLINE_STALL_TIMEOUT_S": f"{IN_PROXY} (send_timeout)",
    "PLUMBLINE_READ_DATABASE_URL": "exports are read from PLUMBLINE_DATABASE_URL, which may be a managed Postgres",
}
"""Settings that there were, and what to use instead of each."""

# Read by the test-suite and the benches, not by the server.
FOREIGN_NAMES = frozenset({"PLUMBLINE_TEST_DATABASE_URL", "PLUMBLINE_TOKEN", "PLUMBLINE_SERVER"})


def variable_names() -> frozenset[str]:
    """Return every PLUMBLINE_* name that means something to one of our commands."""
    return frozenset(PREFIX + name.upper() for name in Settings.model_fields) | FOREIGN_NAMES


def _complaint(field: str, value: object, message: str) -> str:
    shown = "" if field in SECRETS else f"={value!r}"
    return f"{PREFIX}{field.upper()}{shown}: {message}"


def _unknown(name: str) -> str:
    if (instead := GONE.get(name.removesuffix(FROM_FILE))) is not None:
        return f"{name} is not a setting any more: {instead}"
    near = difflib.get_close_matches(name, sorted(variable_names()), n=1, cutoff=0.0)
    return f"{name} is not a setting; did you mean {near[0]}?"


# What an institution sets of its pages: a logo that is only pixels, and colours that can be read.

MAX_LOGO_BYTES, MAX_TEXT_BYTES = 256 * 1024, 256 * 1024
LOGO_HEIGHT_PX = 96
PNG = b"\x89PNG\r\n\x1a\n"
PAPERS = ("#fdfdfc", "#14171a")
"""The paper of light and of dark pages, as static/plumbline.css has it."""
LEAST_CONTRAST = 4.5
"""Of text, by WCAG 2.2, 1.4.3."""


def read_at_most(path: Path, most: int) -> bytes:
    """Return a file. Raises ValueError where it cannot be read or is larger."""
    try:
        with path.open("rb") as opened:
            content = opened.read(most + 1)
    except OSError as error:
        raise ValueError(error.strerror) from None
    if len(content) > most:
        raise ValueError(f"the file has more than {most // 1024} KiB")
    return content


def drawn_logo(content: bytes) -> bytes:
    """Return a logo as PNG: one as it is, an SVG drawn here, so that no script or address in it reaches a browser.

    Raises ValueError for anything else.
    """
    if content.startswith(PNG):
        return content
    import resvg_py  # drawing is loaded only where there is a logo

    try:
        drawn = bytes(resvg_py.svg_to_bytes(svg_string=content.decode(), height=LOGO_HEIGHT_PX))
    except Exception as error:
        raise ValueError(f"neither a PNG nor an SVG that can be drawn: {error}") from None
    return drawn


def accents_of(text: str) -> tuple[str, str]:
    """Return a colour for light paper and one for dark; of one alone the second is it, made lighter until it is read.

    Raises ValueError where one is no colour, or is too near its paper.

    >>> accents_of("#a51c30")
    ('#a51c30', '#c26572')
    """
    colors = text.lower().split()
    if len(colors) not in (1, 2) or not all(re.fullmatch("#[0-9a-f]{6}", color) for color in colors):
        raise ValueError("expected a colour as #rrggbb, or two of them, for light and dark pages")
    light, *given = colors
    dark = given[0] if given else next(
        lighter
        for lighter in (_mixed(light, share / 100) for share in range(101))
        if contrast(lighter, PAPERS[1]) >= LEAST_CONTRAST
    )  # fmt: skip
    for color, paper in zip((light, dark), PAPERS, strict=True):
        if (found := contrast(color, paper)) < LEAST_CONTRAST:
            which = "light" if paper == PAPERS[0] else "dark"
            raise ValueError(f"{color} has a contrast of {found:.1f}:1 on {which} pages; text needs {LEAST_CONTRAST}:1")
    return light, dark


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, from 1 to 21 (WCAG 2.2, relative luminance).

    >>> contrast("#000000", "#ffffff")
    21.0
    """
    low, high = sorted(map(_luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(color: str) -> float:
    shares = [part / 255 for part in bytes.fromhex(color[1:])]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _mixed(color: str, share: float) -> str:
    return "#" + bytes(round(part + (255 - part) * share) for part in bytes.fromhex(color[1:])).hex()


# Secrets among the settings: which they are, how hard to guess they must be, and reading them from files.

# Their values are never shown: what is almost a token must not reach a log.
SECRETS = (
    "admin_token",
    "database_url",
    "owner_database_url",
    "direct_database_url",
    "oidc_client_secret",
    "smtp_url",
)

FROM_FILE = "_FILE"

MAX_SECRET_BYTES = 64 * 1024

HARD_TO_GUESS = (
    "expected at least 32 characters, drawn at random: letters, digits and signs without spaces, at least 8 different "
    "ones, none of them more than half of the text, and no repeated piece; openssl rand -hex 32 makes one"
)


def is_plausible_secret(text: str) -> bool:
    """Say whether a text may hold 128 random bits, as 32 hexadecimal digits do; what is only long does not.

    Of 32 random digits fewer than eight are different once in 20 million times.
    """
    is_sendable = re.fullmatch(r"[!-~]{32,}", text) is not None
    is_repeated = text in (text + text)[1:-1]
    return is_sendable and not is_repeated and len(set(text)) >= 8 and max(map(text.count, text)) <= len(text) / 2


def with_secret_files(given: Mapping[str, str], prefix: str) -> tuple[dict[str, str], list[str]]:
    """Return the variables with secrets in the place of the names of files that hold them; and what is wrong.

    `PLUMBLINE_ADMIN_TOKEN_FILE` names a file with the value of `PLUMBLINE_ADMIN_TOKEN`, as Docker and Kubernetes mount.
    """
    values, complaints = dict(given), []
    for secret in SECRETS:
        name = prefix + secret.upper()
        path = values.pop(name + FROM_FILE, "")
        if path and values.get(name):
            complaints.append(f"{name} and {name}{FROM_FILE} are both set: unset one")
        elif path:
            try:
                values[name] = _read_secret(Path(path))
            except (OSError, ValueError) as error:
                reason = error.strerror if isinstance(error, OSError) else error
                complaints.append(f"{name}{FROM_FILE}={path!r}: {reason}")
    return values, complaints


def _read_secret(path: Path) -> str:
    with path.open("rb") as opened:
        content = opened.read(MAX_SECRET_BYTES + 1)
    if len(content) > MAX_SECRET_BYTES:
        raise ValueError(f"the file has more than {MAX_SECRET_BYTES} bytes, so it is no secret")
    try:
        text = content.decode().strip()
    except UnicodeDecodeError:
        raise ValueError("the file is no text") from None
    if not text:
        raise ValueError("the file is empty")
    return text


# The configuration of an identity provider, and the roles of its groups. Read from the settings.

GROUP_ROLE = re.compile(r"\s*([^=,@]+?)\s*=\s*(submitter|steward|admin|reviewer)\s*(?:@\s*([a-z0-9][a-z0-9-]*)\s*)?")


def read_group_roles(text: str) -> tuple[GroupRole, ...]:
    """Return the roles of groups. Raises ValueError.

    >>> read_group_roles("ml=steward, *=submitter, guests=reviewer@vision")[2]
    GroupRole(group='guests', role='reviewer', benchmark='vision')
    """
    matches = [(part, GROUP_ROLE.fullmatch(part)) for part in text.split(",") if part.strip()]
    wrong = [part.strip() for part, match in matches if match is None or not _is_role_of(match[2], match[3])]
    if wrong or not matches:
        named = f", not {', '.join(map(repr, wrong))}" if wrong else ""
        raise ValueError(f"expected group=role or group=role@benchmark, * for everybody, separated by commas{named}")
    return tuple(GroupRole(match[1], match[2], match[3]) for _, match in matches if match is not None)


def _is_role_of(role: str, benchmark: str | None) -> bool:
    return role != "admin" if benchmark else role != "reviewer"
