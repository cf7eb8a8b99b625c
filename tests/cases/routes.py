"""Every route of the app, also those that its description leaves out."""

from collections.abc import Iterator
from typing import Any

from fastapi.routing import APIRoute

from app.config import Settings
from app.main import _render_app


def all_routes(database_url: str) -> list[APIRoute]:
    """Return the routes of the app on a database."""
    return list(_routes_of(_render_app(Settings(), database_url)))


def _routes_of(owner: Any) -> Iterator[APIRoute]:
    for route in owner.routes:
        if isinstance(route, APIRoute):
            yield route
        elif hasattr(route, "original_router"):
            yield from _routes_of(route.original_router)
