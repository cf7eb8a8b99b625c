"""Count the changes of a benchmark's boards apart from those of its other pages."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Begin every benchmark's count at nothing: a page cache that starts has kept nothing either."""
    op.add_column("benchmark", sa.Column("boards_version", sa.BigInteger(), server_default="0", nullable=False))
