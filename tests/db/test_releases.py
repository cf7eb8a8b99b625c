"""Every release's database comes up to this version, with the boards as they were published then."""

import json
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from app.db.dumps import restore_dump
from app.db.engine import make_engine
from app.db.migrate import check_schema, upgrade
from app.db.models import Base
from tests.cases.exports import all_exports, served
from tests.cases.release_database import ABOUT, RELEASES, board_digests, make, schema_digest
from tests.fixtures import new_database


@pytest.mark.parametrize("release", sorted(RELEASES.glob("*")), ids=lambda path: str(path.name))
def test_the_database_of_a_release_is_upgraded(release: Path, postgres_url: str) -> None:
    """Restored from the backup that it made of itself, it has this version's schema, and the same boards."""
    about = json.loads((release / ABOUT).read_text("utf-8"))
    if not about["is_released"] and about["schema"] != schema_digest():
        pytest.skip("the first revision was edited since, and is not released: make release-database NAME=unreleased")
    comes_up_with_its_boards(release, postgres_url)


@pytest.mark.slow
def test_a_database_that_is_kept_now_is_upgraded(tmp_path: Path, postgres_url: str) -> None:
    """What `make release-database` makes is what the test of releases takes, also before there is a first one."""
    make(tmp_path / "now", is_released=False)

    comes_up_with_its_boards(tmp_path / "now", postgres_url)


def comes_up_with_its_boards(release: Path, postgres_url: str) -> None:
    """Restore a release's backup, upgrade it, and compare its schema and its boards."""
    about = json.loads((release / ABOUT).read_text("utf-8"))
    with new_database(postgres_url) as url:
        restore_dump(release, url)
        upgrade(url)
        check_schema(url)
        with served(url) as http:
            result = board_digests(all_exports(http))

        assert differences(url) == []
    assert len(result) > 3
    assert result == about["boards"]


def is_ours(name: str | None, kind: str, _parents: object) -> bool:
    """Say whether a table is one of the models, not one of the queue's."""
    return kind != "table" or not (name or "").startswith("procrastinate_")


def differences(url: str) -> list[object]:
    """Return what a migration would still have to do, the queue's own tables aside."""
    engine = make_engine(url)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"include_name": is_ours})
        result = list(compare_metadata(context, Base.metadata))
    engine.dispose()
    return result


def test_a_released_first_revision_is_never_edited() -> None:
    """Once a database of a release is kept here, what made it stays as it was."""
    kept = [json.loads((path / ABOUT).read_text("utf-8")) for path in RELEASES.glob("*")]

    assert {about["schema"] for about in kept if about["is_released"]} <= {schema_digest()}
