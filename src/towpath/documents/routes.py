"""The routes of documents. Fixed addresses come before those with an id in them."""

from __future__ import annotations

from towpath.documents import document_routes, item_routes, known_routes, run_routes
from towpath.http.routing import Router

router = Router()
for _part in (run_routes.router, item_routes.router, item_routes.by_id, known_routes.router, document_routes.router):
    router.include_router(_part)
