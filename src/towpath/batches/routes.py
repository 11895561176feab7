"""The routes of batches. Fixed addresses come before those with an id in them."""

from __future__ import annotations

from towpath.batches import batch_routes, dataset_routes, input_routes, provider_routes, request_routes
from towpath.http.routing import Router

router = Router()
for _part in (provider_routes, input_routes, request_routes, dataset_routes, batch_routes):
    router.include_router(_part.router)
