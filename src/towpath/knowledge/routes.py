"""The routes of knowledge."""

from __future__ import annotations

from towpath.http.routing import Router
from towpath.knowledge import ask_routes, search_routes

router = Router()
for _part in (search_routes, ask_routes):
    router.include_router(_part.router)
