"""The example that `towpath up` begins with: whether it is there, and away with it."""

from __future__ import annotations

from fastapi import Request

from towpath.engine import example
from towpath.http.audit import audit
from towpath.http.policy import Admin, Reader
from towpath.http.routing import Router
from towpath.http.state import Engine
from towpath.server.schemas.example import Example, RemovedExample

router = Router(prefix="/api/example", tags=["example"])


@router.get("", operation_id="get_example")
async def get_example(_principal: Reader, app: Engine) -> Example:
    """Whether there are jobs or schedules of the example, which look like real work and are none; and whether the whole
    server is a demonstration."""
    return Example(present=await example.is_there(app), demonstration=example.is_demonstration(app))


@router.delete("", operation_id="remove_example")
async def remove_example(_principal: Admin, app: Engine, request: Request) -> RemovedExample:
    """Removes the jobs of the example, its schedules, its files and its part of the statistics. What runs is stopped first;
    while some of it still is, `left` says how many, and asking again removes them."""
    done = await example.remove(app)
    audit(request, "example.remove", None, jobs=done.jobs, schedules=done.schedules)
    return RemovedExample(jobs=done.jobs, schedules=done.schedules, left=done.left)
