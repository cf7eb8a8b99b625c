"""No table changes: from here on a board may be stored as what differs from the one before, which 0.1.0 cannot read.

So the number alone is what is needed: it makes commands, workers and `serve` of a version that cannot read it refuse in
one sentence. A web process of 0.1.0 that still runs answers such a board with an error once this version has published
it; a worker of 0.1.0 is stopped before.

There is no statement that undoes it once something was published: only the backup from before the upgrade leads back.
"""

revision = "v0002"
down_revision = "v0001"


def upgrade() -> None:
    """Change nothing."""
