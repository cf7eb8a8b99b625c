"""Whose entrants are references, because who sent them can read the private labels.

That are admins, the stewards of the benchmark at any time between the upload of the labels and the close, and the
tokens that count as one owner with any of them. What they sent before they could read the labels counts as well:
who knows the labels can withdraw all but the best of it.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.db.models import Entrant, LabelAttempt, LabelSecret, RoleGrant, Submission, Token
from app.rights.tokens import owners
from app.store import disclosure
from app.store.benchmarks import Declared
from app.store.disclosed import newest_shown
from app.store.sql import one_of


def entrants_of_holders(session: Session, declared: Declared, stood: Mapping[str, Sequence[int]]) -> frozenset[str]:
    """Return the entrants with evidence from somebody who can read the labels; none where these are no secret.

    `stood` are the submissions that are the evidence of entrants. What is shown in place of a newer one that is held
    back counts like it.
    """
    if disclosure.scoring_of(declared.manifest) is None:
        return frozenset()
    tokens = label_holders(session, declared.benchmark.id)
    shown = newest_shown(session, declared.benchmark.id)
    numbered = select(Entrant.id, Entrant.name).where(one_of(Entrant.id, shown))
    evidence = {name: set(numbers) for name, numbers in stood.items()}
    for number, name in session.execute(numbered):
        if name in evidence:
            evidence[name].add(shown[number])
    numbers = {number for own in evidence.values() for number in own}
    sent = select(Submission.id).where(one_of(Submission.id, numbers), one_of(Submission.token_id, tokens))
    of_holders = frozenset(session.scalars(sent))
    return frozenset(name for name, own in evidence.items() if not of_holders.isdisjoint(own))


def label_holders(session: Session, benchmark_id: int) -> frozenset[int]:
    """Return the tokens of who could ever read the private labels of a benchmark while they decided something."""
    secret = session.get(LabelSecret, benchmark_id)
    if secret is None:
        return frozenset()
    closed = disclosure.find_close(session, benchmark_id)
    exempt = select(LabelAttempt.token_id).where(LabelAttempt.benchmark_id == benchmark_id, LabelAttempt.exempt)
    holders = {
        *session.scalars(select(Token.id).where(Token.role == "admin")),
        *session.scalars(exempt.distinct()),
        *_stewards(session, benchmark_id, secret.committed_at, None if closed is None else closed.at),
    }
    linked = owners(session, benchmark_id)
    owning = {linked.get(token, token) for token in holders}
    return frozenset({*holders, *owning, *(token for token, owner in linked.items() if owner in owning)})


def _stewards(session: Session, benchmark_id: int, since: datetime, until: datetime | None) -> Iterator[int]:
    """Yield who was steward at any time between two; None is no end."""
    query = select(RoleGrant).where(RoleGrant.benchmark_id == benchmark_id, RoleGrant.role == "steward")
    history: dict[int, list[RoleGrant]] = defaultdict(list)
    for each in session.scalars(query.order_by(RoleGrant.id)):
        history[each.token_id].append(each)
    for token, grants in history.items():
        for held, following in pairwise([*grants, None]):
            if held is None or not held.granted or (until is not None and held.at >= until):
                continue
            ends = [end for end in (held.until, None if following is None else following.at) if end is not None]
            if not ends or min(ends) > since:
                yield token
