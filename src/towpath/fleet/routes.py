"""All routes of the fleet."""

from __future__ import annotations

from towpath.fleet import event_routes, object_routes, report_routes, task_routes, worker_routes
from towpath.http.routing import Router

router = Router()
for part in (task_routes, worker_routes, report_routes, event_routes, object_routes):
    router.include_router(part.router)
