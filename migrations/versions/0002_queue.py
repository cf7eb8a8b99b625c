"""The job queue: procrastinate's own SQL, in a schema of its own.

The SQL is the installed library's. A later release of it that changes its schema gets a revision here that
applies the library's own migration files.
"""

from alembic import op
from procrastinate.schema import SchemaManager

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Create the schema and run the library's SQL in it."""
    connection = op.get_bind().connection.driver_connection
    with connection.cursor() as cursor:
        cursor.execute("CREATE SCHEMA queue")
        cursor.execute("SET LOCAL search_path TO queue")
        cursor.execute(SchemaManager.get_schema())
        cursor.execute("SET LOCAL search_path TO public, queue")
