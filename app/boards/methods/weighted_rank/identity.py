"""Names of metrics with a nominal level, which is part of their identity: `coverage@0.95`.

Called by the modules beside it, `app.kinds.series` and `app.store`.
"""

from collections.abc import Sequence


def identity_of(metric: str, nominal: float | None) -> str:
    """Return a metric's name with its own level, None where it has none.

    >>> identity_of("mae", None), identity_of("coverage", 0.95)
    ('mae', 'coverage@0.95')
    """
    return metric if nominal is None else f"{metric}@{nominal!r}"


def split_identity(identity: str) -> tuple[str, float | None]:
    """Return the metric and its own level, None where it has none; the reverse of `identity_of`.

    >>> split_identity("coverage@0.95"), split_identity("mae")
    (('coverage', 0.95), ('mae', None))
    """
    metric, mark, text = identity.partition("@")
    try:
        level = float(text) if mark else None
    except ValueError:
        return identity, None
    return metric, level


def joined(identities: Sequence[str]) -> str:
    """Return the name of a component that is the mean over several levels of one metric.

    >>> joined(["coverage@0.5", "coverage@0.95"])
    'coverage@0.5@0.95'
    """
    metric = identities[0].partition("@")[0]
    return "@".join([metric, *(identity.removeprefix(f"{metric}@") for identity in identities)])


def levels_of(component: str) -> tuple[str, ...]:
    """Return the metrics, each with one level at most, whose mean a component is; the reverse of `joined`.

    >>> levels_of("coverage@0.5@0.95"), levels_of("mae")
    (('coverage@0.5', 'coverage@0.95'), ('mae',))
    """
    metric, *levels = component.split("@")
    return tuple(f"{metric}@{level}" for level in levels) if len(levels) > 1 else (component,)
