"""The configuration of an identity provider, and the roles of its groups. Read from the settings."""

import re
from dataclasses import dataclass

GROUP_ROLE = re.compile(r"\s*([^=,@]+?)\s*=\s*(submitter|steward|admin|reviewer)\s*(?:@\s*([a-z0-9][a-z0-9-]*)\s*)?")


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
