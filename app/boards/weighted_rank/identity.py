"""The name of a metric together with its own nominal level, which is part of its identity: `coverage@0.95`.

Called by the modules beside it, `app.kinds.series` and `app.store`.
"""


def identity_of(metric: str, nominal: float | None) -> str:
    """Return a metric's name with its own level: `mae`, `coverage@0.95`."""
    return metric if nominal is None else f"{metric}@{nominal!r}"


def split_identity(identity: str) -> tuple[str, float | None]:
    """Return the metric and its own level, None where it has none; the reverse of `identity_of`."""
    metric, mark, text = identity.partition("@")
    try:
        level = float(text) if mark else None
    except ValueError:
        return identity, None
    return metric, level
