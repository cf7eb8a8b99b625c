"""What a web process has heard of changes, so that a test reads no page from before the change that it just made."""

import httpx2
from sqlalchemy import exists, select, text

from app.db.engine import SessionFactory
from app.db.models import Unshown
from app.store.benchmark_rows import CHANGE_COUNTERS
from app.web.page_cache import Freshness, part_of
from tests.cases.waiting import eventually

WAITED_FOR = select(exists(select(Unshown.submission_id)))


class Heard(Freshness):
    """Freshness that says whether every change which the database counts has been heard."""

    def __init__(self, sessions: SessionFactory) -> None:
        super().__init__()
        self._sessions = sessions
        self._heard: dict[str, tuple[int, int]] = {}

    def note(self, slug: str, anything: int, boards: int) -> bool:
        """Remember the highest counters, after they count as heard."""
        moved = super().note(slug, anything, boards)
        before = self._heard.get(slug, (-1, -1))
        self._heard[slug] = (max(anything, before[0]), max(boards, before[1]))
        return moved

    def catch_up(self, request: httpx2.Request) -> None:
        """Wait, before a page that may be kept is asked for, until all changes so far are heard."""
        if request.method not in ("GET", "HEAD"):
            return
        if part_of(request.url.path) is None:
            assert eventually(lambda: not self._waits()), "what was published is not shown"
            return
        with self._sessions() as session:
            counted = {slug: (anything, boards) for slug, anything, boards in session.execute(text(CHANGE_COUNTERS))}
        heard = eventually(lambda: all(self._covers(slug, *counters) for slug, counters in counted.items()))
        assert heard, f"the changes {counted} were not heard, only {self._heard}"

    def _waits(self) -> bool:
        """Say whether something published is not said to be, because it may not be shown yet."""
        with self._sessions() as session:
            return bool(session.scalar(WAITED_FOR))

    def _covers(self, slug: str, anything: int, boards: int) -> bool:
        heard = self._heard.get(slug, (-1, -1))
        return heard[0] >= anything and heard[1] >= boards
