"""Refuses unknown parameters of a request: a misspelt one must not be ignored silently."""

from collections.abc import Collection, Iterable, Iterator
from urllib.parse import unquote_plus

from fastapi.dependencies.models import Dependant

from app.errors import FieldRejected, Problem
from app.names import clip_for_message
from app.prereg.fields import nearest

# The parameters of every table, see `app.render.table_page`.
OF_TABLES = frozenset({"sort", "order", "detail", "page", "picture", "column"})
# Other sites append these to shared links.
PASSED_OVER = ("utm_", "fbclid", "gclid", "msclkid", "mc_cid", "mc_eid")
MOST_NAMED = 20


def without_passed_over(query: bytes) -> bytes:
    """Return a query string without the parameters that every address passes over: no page depends on them."""
    if not query:
        return query
    return b"&".join(part for part in query.split(b"&") if not _name(part).startswith(PASSED_OVER))


def _name(part: bytes) -> str:
    return unquote_plus(part.partition(b"=")[0].decode("latin-1"))


def known_parameters(dependant: Dependant) -> frozenset[str]:
    """Return the query parameters that an endpoint and its dependencies read."""
    own = {parameter.alias for parameter in dependant.query_params}
    return frozenset(own.union(*map(known_parameters, dependant.dependencies)))


def refuse_unknown(given: Iterable[str], known: Collection[str], what: str) -> None:
    """Raise FieldRejected naming each of `given` that is not known, with what was meant, and the known ones."""
    unknown = [name for name in dict.fromkeys(given) if name not in known and not name.startswith(PASSED_OVER)]
    if unknown:
        raise FieldRejected(f"The request has an unknown {what}.",
                            list(_problems(unknown[:MOST_NAMED], known, what)), n_problems=len(unknown))  # fmt: skip


def _problems(unknown: Iterable[str], known: Collection[str], what: str) -> Iterator[Problem]:
    listed = f"known are {', '.join(sorted(known))}" if known else "none is known"
    for name in unknown:
        near = nearest(name, known)
        hint = f"; did you mean {near}?" if near else ";"
        yield Problem(f"unknown {what}{hint} {listed}", column=clip_for_message(name))
