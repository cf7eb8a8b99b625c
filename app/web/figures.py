"""`/metrics`: figures in Prometheus' text form, fewer of them while the database does not answer."""

from fastapi import APIRouter, Request
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from app.db.transactions import is_transient
from app.telemetry.metrics import Gauges, render
from app.web.checked_first import CheckedFirst, Handler
from app.web.endpoint_answers import described
from app.web.observed import gauges, gauges_of_process, look_soon
from app.web.state import SessionDep, StateDep, get_state


class AlsoWithoutDatabase(CheckedFirst):
    """A route of figures: were it to fail with the database, no alert could tell that from a server that is down."""

    def get_route_handler(self) -> Handler:
        """Return the route's handler, with the figures of the process alone where the database does not answer."""
        handle = super().get_route_handler()

        async def answering(request: Request) -> Response:
            state = get_state(request)
            try:
                if (await run_in_threadpool(look_soon, state)).database_up:
                    return await handle(request)
            except (DBAPIError, PoolTimeout) as error:
                if not is_transient(error):
                    raise
            return await run_in_threadpool(_answer, gauges_of_process(state, database_up=False))

        return answering


router = APIRouter(route_class=AlsoWithoutDatabase, tags=["operations"])


@router.get(
    "/metrics", summary="Figures of the server, in Prometheus' text format", responses=described(also=("text",))
)
def metrics(session: SessionDep, state: StateDep) -> Response:
    """Return what is under way, done and refused. Private benchmarks are counted only for callers who may read them."""
    return _answer(gauges(state, session))


def _answer(observed: Gauges) -> Response:
    return Response(render(observed), media_type="text/plain; version=0.0.4; charset=utf-8")
